//! How requests carry the API key where a header of the dialect is not enough, and the fixed headers of a service.

use reqwest::header::{HeaderName, HeaderValue};

/// Headers that every request sets itself: no fixed header and no key can be one of them.
pub(crate) const OWN: &str = "accept-encoding connection content-length content-type host idempotency-key te \
    transfer-encoding upgrade user-agent";

const SECRET: &str =
    "apikey auth authorization cookie credential credentials key password secret token";

/// Query parameters that bookctl sends itself. A key under one of these names would take its place.
const OWN_PARAMETERS: &str = "cursor end_user limit page provider state";

/// How the API keys of the service begin (spec, Authentication).
const KEY_PREFIXES: &[&str] = &["sk_live_", "sk_test_", "sk_v3_"];

pub(crate) fn names(list: &str, name: &str) -> bool {
    list.split(' ').any(|it| it.eq_ignore_ascii_case(name))
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Transport {
    /// The query parameter that carries the key; no header carries it then.
    pub(crate) auth_query: Option<String>,
    /// The user of Basic authentication, where the key is the password; otherwise the key is the user.
    pub(crate) auth_user: Option<String>,
    /// The fixed headers, such as one with an organization or the version of the interface.
    pub(crate) headers: Vec<(String, String)>,
}

impl Transport {
    /// Sends the key as this query parameter. The error is the predicate of a sentence.
    pub(crate) fn set_auth_query(&mut self, name: &str) -> Result<(), String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '~');
        if name.is_empty() || !name.chars().all(fits) {
            return Err(format!(
                "cannot be {name:?}: it is not a plain name of a query parameter"
            ));
        }
        if names(OWN_PARAMETERS, name) {
            return Err(format!(
                "cannot be {name:?}: bookctl sends that parameter for something else"
            ));
        }
        self.auth_query = Some(name.to_owned());
        Ok(())
    }

    /// Sends the key as the password of this user. The error is the predicate of a sentence.
    pub(crate) fn set_auth_user(&mut self, name: &str) -> Result<(), String> {
        if name.contains(':') || name.chars().any(char::is_control) {
            return Err(format!(
                "cannot be {name:?}: a user of Basic authentication has no colon and no control character"
            ));
        }
        self.auth_user = Some(name.to_owned());
        Ok(())
    }

    /// Adds a fixed header. The error is the predicate of a sentence.
    pub(crate) fn add_header(&mut self, name: &str, value: &str) -> Result<(), String> {
        if HeaderName::try_from(name).is_err() {
            return Err("is not a valid header name".to_owned());
        }
        if value.trim().is_empty() || HeaderValue::try_from(value).is_err() {
            return Err("has a value that is not valid in a header".to_owned());
        }
        if names(OWN, name) {
            return Err("is set by bookctl itself".to_owned());
        }
        if name.split(['-', '_']).any(|word| names(SECRET, word)) {
            return Err(
                "may carry a secret, which this file must not contain: store the key with `bookctl auth login`, and \
                 name its header with dialect.auth_header"
                    .to_owned(),
            );
        }
        let lower = value.to_ascii_lowercase();
        if KEY_PREFIXES.iter().any(|it| lower.contains(it)) {
            return Err(
                "looks like an API key, which this file must not contain: store the key with `bookctl auth login`"
                    .to_owned(),
            );
        }
        let mut known = self.headers.iter();
        if known.any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            return Err("is set twice".to_owned());
        }
        self.headers.push((name.to_owned(), value.to_owned()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_header_carries_no_secret_and_replaces_none_of_our_own() {
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
        let key = transport
            .add_header("X-Org", "sk_live_4eC39HqLyjWD")
            .unwrap_err();
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
