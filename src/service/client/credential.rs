//! How a request carries the API key, and how that is shown.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::call::{Call, with_parameter};
use crate::platform::shell;
use crate::secrets::{Secret, register_secret};
use crate::service::mapping::Adapter;

const MASK: &str = "***";

/// The header with the key: its name and its value. `None` where the query carries the key.
pub(crate) fn header<'a>(adapter: &'a Adapter, key: &Secret) -> Option<(&'a str, String)> {
    if adapter.transport.auth_query.is_some() {
        return None;
    }
    let dialect = &adapter.dialect;
    let mut value = key.expose().to_owned();
    if is_basic(adapter) {
        // The key is the user, without a password, unless the profile names a user (RFC 7617).
        value = STANDARD.encode(match &adapter.transport.auth_user {
            Some(user) => format!("{user}:{value}"),
            None => format!("{value}:"),
        });
        register_secret(&value);
    }
    Some((&dialect.auth_header, with_scheme(adapter, &value)))
}

pub(crate) fn path(adapter: &Adapter, key: &Secret, path: &str) -> String {
    match &adapter.transport.auth_query {
        Some(name) => {
            let value = Call::query_value(key.expose());
            register_secret(&value);
            with_parameter(path, name, &value)
        }
        None => path.to_owned(),
    }
}

/// How the key is sent, with the key masked: `Authorization: Bearer ***`.
pub(crate) fn key_sent_as(adapter: &Adapter) -> String {
    let header = &adapter.dialect.auth_header;
    match (&adapter.transport.auth_query, &adapter.transport.auth_user) {
        (Some(name), _) => format!("?{name}={MASK}"),
        (None, Some(user)) if is_basic(adapter) => {
            format!("{header}: Basic {user}:{MASK}, in base64")
        }
        _ => format!("{header}: {}", with_scheme(adapter, MASK)),
    }
}

/// How a refused key was sent, and what finds out how the service wants it.
pub(crate) fn described(adapter: &Adapter) -> String {
    let sent_as = format!("sent as: {}", key_sent_as(adapter));
    let Some(name) = adapter.profile.as_deref().map(shell::word) else {
        return sent_as;
    };
    format!("{sent_as}; if the key is right: bookctl profile learn {name}")
}

/// The path of a call as `--dry-run` and `--verbose` show it, with a key in the query masked.
pub(crate) fn shown_path(adapter: &Adapter, has_key: bool, call: &Call) -> String {
    match adapter.transport.auth_query.as_deref().filter(|_| has_key) {
        Some(name) => with_parameter(&call.path, name, MASK),
        None => call.path.clone(),
    }
}

pub(crate) fn shown_headers(
    adapter: &Adapter,
    has_key: bool,
    call: &Call,
) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    if has_key && adapter.transport.auth_query.is_none() {
        headers.push((adapter.dialect.auth_header.clone(), with_scheme(adapter, MASK)));
    }
    if has_key {
        headers.extend(adapter.transport.headers.clone());
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

fn is_basic(adapter: &Adapter) -> bool {
    adapter.dialect.auth_scheme.eq_ignore_ascii_case("basic")
}

fn with_scheme(adapter: &Adapter, value: &str) -> String {
    match adapter.dialect.auth_scheme.as_str() {
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
        let mut adapter = Adapter::default();
        adapter.dialect.rename("auth_scheme", "Basic").unwrap();
        let basic = "Basic c2tfdGVzdF9jcmVkZW50aWFsXzA4MTc6".to_owned();
        assert_eq!(header(&adapter, &key), Some(("Authorization", basic)));
        assert_eq!(key_sent_as(&adapter), "Authorization: Basic ***");
        adapter.transport.set_auth_user("api").unwrap();
        assert_eq!(header(&adapter, &key).unwrap().1, "Basic YXBpOnNrX3Rlc3RfY3JlZGVudGlhbF8wODE3");
        assert_eq!(key_sent_as(&adapter), "Authorization: Basic api:***, in base64");
        adapter.transport.set_auth_query("api_key").unwrap();
        adapter.transport.add_header("X-Org", "7").unwrap();
        assert_eq!(header(&adapter, &key), None);
        assert_eq!(
            path(&adapter, &key, "/v1/sessions?state=active"),
            "/v1/sessions?state=active&api_key=sk_test_credential_0817"
        );
        let call = Call::post("/v1/x", json!({}));
        assert_eq!(shown_path(&adapter, true, &call), "/v1/x?api_key=***");
        assert_eq!(shown_headers(&adapter, true, &call)[0], ("X-Org".to_owned(), "7".to_owned()));
        assert_eq!(key_sent_as(&adapter), "?api_key=***");
    }
}
