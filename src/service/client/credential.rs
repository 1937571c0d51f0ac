//! How a request carries the API key, and how that is shown.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::call::{Call, with_parameter};
use crate::platform::shell;
use crate::secrets::{Secret, register_secret};
use crate::service::mapping::Mapping;

const MASK: &str = "***";

/// The header with the key: its name and its value. `None` where the query carries the key.
pub(crate) fn header<'a>(mapping: &'a Mapping, key: &Secret) -> Option<(&'a str, String)> {
    if mapping.transport.auth_query.is_some() {
        return None;
    }
    let dialect = &mapping.dialect;
    let mut value = key.expose().to_owned();
    if is_basic(mapping) {
        // The key is the user, without a password, unless the profile names a user (RFC 7617).
        value = STANDARD.encode(match &mapping.transport.auth_user {
            Some(user) => format!("{user}:{value}"),
            None => format!("{value}:"),
        });
        register_secret(&value);
    }
    Some((&dialect.auth_header, with_scheme(mapping, &value)))
}

/// The path of a call, with the key where the query carries it.
pub(crate) fn path(mapping: &Mapping, key: Option<&str>, path: &str) -> String {
    match mapping.transport.auth_query.as_deref().zip(key) {
        Some((name, key)) => {
            let value = Call::query_value(key);
            register_secret(&value);
            with_parameter(path, name, &value)
        }
        None => path.to_owned(),
    }
}

/// How the key is sent, with the key masked: `Authorization: Bearer ***`.
pub(crate) fn key_sent_as(mapping: &Mapping) -> String {
    let header = &mapping.dialect.auth_header;
    match (&mapping.transport.auth_query, &mapping.transport.auth_user) {
        (Some(name), _) => format!("?{name}={MASK}"),
        (None, Some(user)) if is_basic(mapping) => {
            format!("{header}: Basic {user}:{MASK}, in base64")
        }
        _ => format!("{header}: {}", with_scheme(mapping, MASK)),
    }
}

/// How a refused key was sent, and what finds out how the service wants it.
pub(crate) fn described(mapping: &Mapping) -> String {
    let sent_as = format!("sent as: {}", key_sent_as(mapping));
    let Some(name) = mapping.profile.as_deref().map(shell::word) else {
        return sent_as;
    };
    format!("{sent_as}; if the key is right: bookctl profile learn {name}")
}

/// The path of a call as `--dry-run` and `--verbose` show it, with a key in the query masked.
pub(crate) fn shown_path(mapping: &Mapping, has_key: bool, call: &Call) -> String {
    path(mapping, has_key.then_some(MASK), &call.path)
}

pub(crate) fn shown_headers(
    mapping: &Mapping,
    has_key: bool,
    call: &Call,
) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    if has_key && mapping.transport.auth_query.is_none() {
        headers.push((mapping.dialect.auth_header.clone(), with_scheme(mapping, MASK)));
    }
    if has_key {
        headers.extend(mapping.transport.headers.clone());
    }
    let mut names = headers.iter().map(|it| &it.0).chain(call.headers.iter().map(|it| &it.0));
    let has_type = names.any(|name| name.eq_ignore_ascii_case("content-type"));
    if call.body.is_some() && !has_type {
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
    }
    if let Some(key) = &call.idempotency_key {
        headers.push(("Idempotency-Key".to_owned(), key.clone()));
    }
    // Added headers may be secrets too.
    headers.extend(call.headers.iter().map(|(name, _)| (name.clone(), MASK.to_owned())));
    headers
}

fn is_basic(mapping: &Mapping) -> bool {
    mapping.dialect.auth_scheme.eq_ignore_ascii_case("basic")
}

fn with_scheme(mapping: &Mapping, value: &str) -> String {
    match mapping.dialect.auth_scheme.as_str() {
        "" => value.to_owned(),
        scheme => format!("{scheme} {value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_is_user_of_basic_or_stands_in_query_and_is_never_shown() {
        let key = Secret::new("sk_test_credential_0817".to_owned());
        let mut mapping = Mapping::default();
        mapping.dialect.rename("auth_scheme", "Basic").unwrap();
        let basic = "Basic c2tfdGVzdF9jcmVkZW50aWFsXzA4MTc6".to_owned();
        assert_eq!(header(&mapping, &key), Some(("Authorization", basic)));
        assert_eq!(key_sent_as(&mapping), "Authorization: Basic ***");
        mapping.transport.set_auth_user("api").unwrap();
        assert_eq!(header(&mapping, &key).unwrap().1, "Basic YXBpOnNrX3Rlc3RfY3JlZGVudGlhbF8wODE3");
        assert_eq!(key_sent_as(&mapping), "Authorization: Basic api:***, in base64");
        mapping.transport.set_auth_query("api_key").unwrap();
        mapping.transport.add_header("X-Org", "7").unwrap();
        assert_eq!(header(&mapping, &key), None);
        assert_eq!(
            path(&mapping, Some(key.expose()), "/v1/sessions?state=active"),
            "/v1/sessions?state=active&api_key=sk_test_credential_0817"
        );
        let call = Call::post("/v1/x", json!({}));
        assert_eq!(shown_path(&mapping, true, &call), "/v1/x?api_key=***");
        assert_eq!(shown_headers(&mapping, true, &call)[0], ("X-Org".to_owned(), "7".to_owned()));
        assert_eq!(key_sent_as(&mapping), "?api_key=***");
    }
}
