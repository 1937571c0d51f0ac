//! Organizations and their settings.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::api_error::ApiError;
use super::fields::typed;
use crate::sandbox::seed::Provider;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckStatus {
    Ok,
    Unavailable,
}

/// An organization and its settings, in the order of the JSON document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Organization {
    pub(crate) id: String,
    /// What a person calls one that was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) webhook_url: Option<String>,
    /// Whether the URL outlasts a reset: it is that of a listener that runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) webhook_url_stays: bool,
    pub(crate) webhook_secret: String,
    pub(crate) billing: bool,
    pub(crate) suspended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suspension_reason: Option<String>,
    pub(crate) vendor_payments: bool,
    pub(crate) billing_check: CheckStatus,
    pub(crate) entitlement_check: CheckStatus,
    pub(crate) search_providers: Vec<Provider>,
}

impl Organization {
    /// The organization of the default keys.
    pub(crate) const MAIN: &'static str = "org_sandbox";
    pub(crate) const WITHOUT_BILLING: &'static str = "org_nobilling";
    pub(crate) const SUSPENDED: &'static str = "org_suspended";
    pub(crate) const OTHER: &'static str = "org_other";

    pub(crate) const BUILT_IN: [&'static str; 4] = [
        Self::MAIN,
        Self::WITHOUT_BILLING,
        Self::SUSPENDED,
        Self::OTHER,
    ];

    pub(crate) fn is_built_in(id: &str) -> bool {
        Self::BUILT_IN.contains(&id)
    }

    pub(crate) fn fresh(id: &str) -> Self {
        let suspended = id == Self::SUSPENDED;
        Self {
            id: id.to_owned(),
            name: None,
            webhook_url: None,
            webhook_url_stays: false,
            webhook_secret: format!("whsec_{}", id.strip_prefix("org_").unwrap_or(id)),
            billing: id != Self::WITHOUT_BILLING,
            suspended,
            suspension_reason: suspended.then(|| "unpaid invoices".to_owned()),
            vendor_payments: true,
            billing_check: CheckStatus::Ok,
            entitlement_check: CheckStatus::Ok,
            search_providers: Provider::ALL.to_vec(),
        }
    }

    /// The settings with those of the body replaced. `null` clears an optional one. A URL stays only if the body that sets it
    /// says so.
    pub(crate) fn merge(&self, body: &Map<String, Value>) -> Result<Self, ApiError> {
        let mut whole = json!(self);
        if body.contains_key("webhook_url") {
            whole["webhook_url_stays"] = json!(false);
        }
        for (name, value) in body {
            whole[name] = value.clone();
        }
        let mut merged: Self = typed(&whole)?;
        merged.webhook_url.take_if(|it| it.is_empty());
        let is_web = |url: &str| {
            reqwest::Url::parse(url)
                .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        };
        let is_wrong_url = merged.webhook_url.as_deref().is_some_and(|it| !is_web(it));
        for (is_wrong, field, why) in [
            (merged.id != self.id, "id", "cannot be changed"),
            (is_wrong_url, "webhook_url", "must be an http or https URL"),
            (
                merged.webhook_secret.is_empty(),
                "webhook_secret",
                "must not be empty",
            ),
        ] {
            if is_wrong {
                return Err(ApiError::invalid(field, why));
            }
        }
        Ok(merged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_changes_what_it_names_and_refuses_what_it_does_not_know() {
        let fresh = Organization::fresh(Organization::MAIN);
        let put = |body: Value| fresh.merge(body.as_object().unwrap());
        let merged =
            put(json!({"webhook_url": "http://127.0.0.1:9/hook", "billing": false})).unwrap();
        assert_eq!(
            merged.webhook_url.as_deref(),
            Some("http://127.0.0.1:9/hook")
        );
        assert!(!merged.billing && merged.vendor_payments);
        let cleared = merged
            .merge(json!({"webhook_url": null}).as_object().unwrap())
            .unwrap();
        assert_eq!(cleared.webhook_url, None);
        let staying = json!({"webhook_url": "http://127.0.0.1:9/", "webhook_url_stays": true});
        let staying = put(staying).unwrap();
        assert!(staying.webhook_url_stays);
        let other = json!({"webhook_url": "http://127.0.0.1:8/"});
        let other = staying.merge(other.as_object().unwrap()).unwrap();
        assert!(!other.webhook_url_stays);
        for body in [
            json!({"webhook_url": "not a url"}),
            json!({"webhok_url": "http://127.0.0.1/"}),
            json!({"search_providers": ["provider_z"]}),
            json!({"billing_check": "maybe"}),
            json!({"id": "org_other"}),
        ] {
            assert!(
                matches!(put(body.clone()), Err(ApiError::Invalid(_))),
                "{body}"
            );
        }
        assert_eq!(fresh.merge(&whole(&fresh)), Ok(fresh.clone()));
    }

    fn whole(organization: &Organization) -> Map<String, Value> {
        serde_json::to_value(organization)
            .unwrap()
            .as_object()
            .unwrap()
            .clone()
    }
}
