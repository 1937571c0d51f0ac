//! How requests carry the API key where a header of the dialect is not enough, and the fixed
//! headers of a service.

use std::collections::BTreeMap;

use reqwest::header::{HeaderName, HeaderValue};
use serde::Serialize;

use super::names::is_one_of;

/// Headers that every request sets itself: no fixed header and no key can be one of them.
pub(crate) const OWN: &str = "accept-encoding connection content-length content-type host idempotency-key te \
    transfer-encoding upgrade user-agent";

const SECRET: &str =
    "apikey auth authorization cookie credential credentials key password secret token";

/// Query parameters that bookctl sends itself. A key under one of these names would take its place.
const OWN_PARAMETERS: &str = "cursor end_user limit page provider state";

/// How the API keys of the service begin (spec, Authentication).
const KEY_PREFIXES: &[&str] = &["sk_live_", "sk_test_", "sk_v3_"];

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Transport {
    /// The query parameter that carries the key; no header carries it then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) auth_query: Option<String>,
    /// The user of Basic authentication, with the key as password; else the key is the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) auth_user: Option<String>,
    /// The fixed headers, such as one with an organization or the version of the interface.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
}

impl Transport {
    pub(crate) fn set_auth_query(&mut self, name: &str) -> Result<(), String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '~');
        let why = if name.is_empty() || !name.chars().all(fits) {
            "it is not a plain name of a query parameter"
        } else if is_one_of(OWN_PARAMETERS, name) {
            "bookctl sends that parameter for something else"
        } else {
            self.auth_query = Some(name.to_owned());
            return Ok(());
        };
        Err(format!("cannot be {name:?}: {why}"))
    }

    pub(crate) fn set_auth_user(&mut self, name: &str) -> Result<(), String> {
        if name.contains(':') || name.chars().any(char::is_control) {
            return Err(format!(
                "cannot be {name:?}: a user of Basic authentication has no colon and no control character"
            ));
        }
        self.auth_user = Some(name.to_owned());
        Ok(())
    }

    pub(crate) fn add_header(&mut self, name: &str, value: &str) -> Result<(), String> {
        let lower = value.to_ascii_lowercase();
        let why = if HeaderName::try_from(name).is_err() {
            "is not a valid header name"
        } else if value.trim().is_empty() || HeaderValue::try_from(value).is_err() {
            "has a value that is not valid in a header"
        } else if is_one_of(OWN, name) {
            "is set by bookctl itself"
        } else if self.headers.keys().any(|it| it.eq_ignore_ascii_case(name)) {
            "is set twice"
        } else if name.split(['-', '_']).any(|word| is_one_of(SECRET, word)) {
            "may carry a secret, which this file must not contain: store the key with `bookctl auth login`, and name its \
             header with dialect.auth_header"
        } else if KEY_PREFIXES.iter().any(|it| lower.contains(it)) {
            "looks like an API key, which this file must not contain: store the key with `bookctl auth login`"
        } else {
            self.headers.insert(name.to_owned(), value.to_owned());
            return Ok(());
        };
        Err(why.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_header_carries_no_secret_and_replaces_none_of_our_own() {
        let mut transport = Transport::default();
        let secret = "may carry a secret";
        for (names, why) in [
            ("Authorization|X-Api-Key|Cookie|X-Auth-Token", secret),
            ("content-type|Idempotency-Key", "set by bookctl"),
            ("X Org", "not a valid header name"),
        ] {
            for name in names.split('|') {
                let refused = transport.add_header(name, "x").unwrap_err();
                assert!(refused.contains(why), "{name}: {refused}");
            }
        }
        assert!(transport.add_header("X-Org", "a\nb").is_err());
        let key = transport.add_header("X-Org", "sk_live_4eC39HqLyjWD").unwrap_err();
        assert!(key.contains("looks like an API key"), "{key}");
        assert_eq!(transport.add_header("X-Organization-Id", "20417"), Ok(()));
        assert!(transport.add_header("x-organization-id", "1").is_err());
        assert_eq!(transport.headers.len(), 1);
    }

    #[test]
    fn a_query_parameter_has_a_plain_name() {
        let mut transport = Transport::default();
        for name in "|a b|a&b|a=b|ä|cursor|page|end_user|Provider".split('|') {
            assert!(transport.set_auth_query(name).is_err(), "{name:?}");
        }
        assert_eq!(transport.set_auth_query("api_key"), Ok(()));
        assert_eq!(transport.auth_query.as_deref(), Some("api_key"));
    }
}
