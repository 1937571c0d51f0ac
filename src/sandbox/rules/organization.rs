//! Organizations and their settings.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::api_error::ApiError;
use super::fields::{FieldErrors, Fields};
use crate::sandbox::seed::Provider;

/// Whether the service can make a check that a request depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckStatus {
    Ok,
    Unavailable,
}

impl CheckStatus {
    fn read(fields: Fields<'_>, name: &str, errors: &mut FieldErrors) -> Result<Self, ApiError> {
        match fields.text(name)? {
            Some("ok") => return Ok(Self::Ok),
            Some("unavailable") => {}
            _ => errors.add(name, "must be ok or unavailable"),
        }
        Ok(Self::Unavailable)
    }
}

/// An organization and its settings, in the order of the JSON document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    pub(crate) search_providers: Vec<String>,
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
            search_providers: Provider::ALL.iter().map(|it| it.id().to_owned()).collect(),
        }
    }

    /// The settings with those of the body replaced. `null` clears an optional one. A URL stays only if the body that sets it
    /// says so.
    pub(crate) fn merge(&self, body: &Map<String, Value>) -> Result<Self, ApiError> {
        let mut merged = self.clone();
        let fields = Fields::of(body);
        let mut errors = FieldErrors::default();
        if body.contains_key("webhook_url") {
            merged.webhook_url_stays = false;
        }
        for name in body.keys() {
            match name.as_str() {
                "webhook_url_stays" => {
                    merged.webhook_url_stays = fields.flag(name)?.unwrap_or(false);
                }
                "id" => {
                    if fields.text(name)? != Some(&self.id) {
                        errors.add(name, "cannot be changed");
                    }
                }
                "name" => merged.name = fields.text(name)?.map(str::to_owned),
                "webhook_url" => {
                    merged.webhook_url = match fields.text(name)? {
                        None | Some("") => None,
                        Some(url) => {
                            if !is_web_address(url) {
                                errors.add(name, "must be an http or https URL");
                            }
                            Some(url.to_owned())
                        }
                    }
                }
                "webhook_secret" => match fields.text(name)? {
                    Some(secret) if !secret.is_empty() => {
                        secret.clone_into(&mut merged.webhook_secret)
                    }
                    _ => errors.add(name, "must not be empty"),
                },
                "suspension_reason" => {
                    merged.suspension_reason = fields.text(name)?.map(str::to_owned);
                }
                "billing" => merged.billing = fields.flag(name)?.unwrap_or(self.billing),
                "suspended" => merged.suspended = fields.flag(name)?.unwrap_or(self.suspended),
                "vendor_payments" => {
                    merged.vendor_payments = fields.flag(name)?.unwrap_or(self.vendor_payments);
                }
                "billing_check" => {
                    merged.billing_check = CheckStatus::read(fields, name, &mut errors)?;
                }
                "entitlement_check" => {
                    merged.entitlement_check = CheckStatus::read(fields, name, &mut errors)?;
                }
                "search_providers" => {
                    let named = fields.texts(name)?.unwrap_or_default();
                    if named.iter().any(|it| Provider::parse(it).is_none()) {
                        errors.add(name, "names a provider that does not exist");
                    }
                    merged.search_providers = named.into_iter().map(str::to_owned).collect();
                }
                unknown => errors.add(unknown, "is no setting"),
            }
        }
        errors.finish(Some(merged))
    }

    pub(crate) fn searches_with(&self, provider: Provider) -> bool {
        self.search_providers.iter().any(|it| it == provider.id())
    }
}

fn is_web_address(text: &str) -> bool {
    reqwest::Url::parse(text)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
