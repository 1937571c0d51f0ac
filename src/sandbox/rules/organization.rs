//! Organizations and their settings.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::api_error::{ApiError, Result};
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
    /// Whether the URL outlasts a reset, because a listener runs there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) webhook_url_stays: bool,
    /// The URL that a listener's took the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) webhook_url_before: Option<String>,
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
    pub(crate) const MAIN: &'static str = "org_sandbox";
    pub(crate) const WITHOUT_BILLING: &'static str = "org_nobilling";
    pub(crate) const SUSPENDED: &'static str = "org_suspended";
    pub(crate) const OTHER: &'static str = "org_other";

    pub(crate) const BUILT_IN: [&'static str; 4] =
        [Self::MAIN, Self::WITHOUT_BILLING, Self::SUSPENDED, Self::OTHER];

    /// The id that a name means, which may lack its prefix.
    pub(crate) fn id_of(name: &str) -> String {
        format!("org_{}", name.strip_prefix("org_").unwrap_or(name))
    }

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
            webhook_url_before: None,
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

    /// The settings with those of the body replaced. `null` clears an optional one. A URL stays
    /// only if the body that sets it says so.
    pub(crate) fn merge(&self, body: &Map<String, Value>) -> Result<Self> {
        let mut whole = json!(self);
        if body.contains_key("webhook_url") {
            whole["webhook_url_stays"] = json!(false);
        }
        for (name, value) in body {
            whole[name] = value.clone();
        }
        let mut merged: Self = typed(&whole)?;
        if body.contains_key("webhook_url") {
            // Listeners may end in any order or be killed, and replace none of the others.
            let own =
                if self.webhook_url_stays { &self.webhook_url_before } else { &self.webhook_url };
            merged.webhook_url_before = own.clone().filter(|_| merged.webhook_url_stays);
        }
        merged.webhook_url.take_if(|it| it.is_empty());
        let is_web = |url: &str| {
            reqwest::Url::parse(url)
                .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        };
        let secret = merged.webhook_secret.as_bytes();
        let is_secret = !secret.is_empty() && secret.iter().all(u8::is_ascii_graphic);
        let is_wrong_url = merged.webhook_url.as_deref().is_some_and(|it| !is_web(it));
        if body.contains_key("webhook_url_before") {
            Err(ApiError::invalid("webhook_url_before", "is kept by the sandbox"))
        } else if merged.id != self.id {
            Err(ApiError::invalid("id", "cannot be changed"))
        } else if is_wrong_url {
            Err(ApiError::invalid("webhook_url", "must be an http or https URL"))
        } else if !is_secret {
            Err(ApiError::invalid("webhook_secret", "must be ASCII characters without spaces"))
        } else {
            Ok(merged)
        }
    }
}
