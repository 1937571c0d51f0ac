//! One request of the service, before it is sent.

use reqwest::{Method, Url};
use serde_json::Value;

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// Path under the base address; its segments are encoded already.
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
    pub(crate) idempotency_key: Option<String>,
    /// Further headers, as `bookctl api -H` gives them.
    pub(crate) headers: Vec<(String, String)>,
}

impl Call {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Call {
            method: Method::GET,
            path: path.into(),
            body: None,
            idempotency_key: None,
            headers: Vec::new(),
        }
    }

    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        Call {
            method: Method::POST,
            path: path.into(),
            body: Some(body),
            idempotency_key: None,
            headers: Vec::new(),
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

    /// Whether the service may have done something when no answer came.
    pub(crate) fn is_write(&self) -> bool {
        // The two searches are reads that travel as POST; a sandbox's own controls book nothing.
        let path = self.path.split(['?', '#']).next().unwrap_or_default();
        self.method != Method::GET && !path.ends_with("/search") && !self.is_of_a_sandbox()
    }

    /// Whether it goes over a connection that carried nothing before. On one that did, an answer that the service sent
    /// once too often would be taken for the answer to this booking request.
    pub(super) fn wants_fresh_connection(&self) -> bool {
        self.method == Method::POST && self.path == "/v1/bookings"
    }

    /// Whether it goes to a sandbox's own surface, which needs no key.
    pub(super) fn is_of_a_sandbox(&self) -> bool {
        self.path.starts_with("/sandbox/")
    }

    /// An id as exactly one path segment, whatever is in it: it can neither climb nor ask.
    pub(crate) fn segment(id: &str) -> String {
        let mut encoded = String::new();
        for byte in id.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    encoded.push(char::from(byte))
                }
                _ => encoded.push_str(&format!("%{byte:02X}")),
            }
        }
        // A lone dot climbs even where it is encoded, and nothing is another path: neither is an id.
        match encoded.as_str() {
            "" | "." | ".." => "%20".to_owned(),
            _ => encoded,
        }
    }

    /// A text as the value of a query: it can neither end it nor start another.
    pub(crate) fn query_value(text: &str) -> String {
        let url = Url::parse_with_params("http://x", [("", text)]).ok();
        let query = url.as_ref().and_then(Url::query).unwrap_or_default();
        query.trim_start_matches('=').to_owned()
    }

    /// `METHOD /path`, as errors name it.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}
