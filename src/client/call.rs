//! One request of the service, before it is sent.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, Url};
use serde_json::Value;

use super::written_names::WrittenNames;

/// Everything but the unreserved characters (RFC 3986).
const NOT_UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// The path below the base URL, with its segments encoded.
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
    pub(crate) idempotency_key: Option<String>,
    /// Further headers, from `bookctl api -H`.
    pub(crate) headers: Vec<(String, String)>,
    /// The names with which the body was written, for the errors that a name can cause.
    pub(crate) written: Option<WrittenNames>,
    /// Whether the call is one of a sandbox's own, which books nothing. Only set if the service is a sandbox.
    pub(crate) is_control: bool,
}

impl Call {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Call {
            path: path.into(),
            ..Call::default()
        }
    }

    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        Call {
            method: Method::POST,
            path: path.into(),
            body: Some(body),
            ..Call::default()
        }
    }

    pub(crate) fn put(path: impl Into<String>, body: Value) -> Self {
        Call {
            method: Method::PUT,
            ..Call::post(path, body)
        }
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Call {
            method: Method::DELETE,
            ..Call::get(path)
        }
    }

    /// Whether the call may change something at the service: it is not one of the documented reads.
    pub(crate) fn is_write(&self) -> bool {
        let path = self.path.split(['?', '#']).next().unwrap_or_default();
        let is_search = matches!(path, "/v1/venues/search" | "/v1/availability/search");
        let is_read = self.method == Method::GET || self.method == Method::POST && is_search;
        !is_read && !self.is_control
    }

    /// Whether the call needs a new connection. On a used connection, a surplus answer to an earlier request would be
    /// taken for the answer to this booking request.
    pub(super) fn wants_fresh_connection(&self) -> bool {
        self.method == Method::POST && self.path == "/v1/bookings"
    }

    /// Whether the call goes to a sandbox's control endpoints, which need no key.
    pub(crate) fn is_of_a_sandbox(&self) -> bool {
        self.path.starts_with("/sandbox/")
    }

    /// Encodes an id as exactly one path segment, whatever it contains.
    pub(crate) fn segment(id: &str) -> String {
        // `.` and `..` would change the path even when encoded, and an empty segment is another path. None of them is
        // an id.
        match id {
            "" | "." | ".." => "%20".to_owned(),
            _ => utf8_percent_encode(id, NOT_UNRESERVED).to_string(),
        }
    }

    /// Encodes a text as the value of a query parameter.
    pub(crate) fn query_value(text: &str) -> String {
        let url = Url::parse_with_params("http://x", [("", text)]).ok();
        let query = url.as_ref().and_then(Url::query).unwrap_or_default();
        query.trim_start_matches('=').to_owned()
    }

    /// `METHOD /path`, as errors show it.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}
