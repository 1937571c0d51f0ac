//! The request that `--dry-run` shows instead of sending.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::json::{Document, parsed, plain};
use crate::secrets::redact;
use crate::service::client::{Call, redacted, shown_headers, shown_path};
use crate::service::mapping::Mapping;
use crate::terminal::output::{Draw, Page};

#[derive(Serialize)]
pub(crate) struct RequestView {
    method: String,
    path: String,
    headers: Map<String, Value>,
    body: Option<Document>,
}

impl RequestView {
    pub(crate) fn new(call: Call, headers: Vec<(String, String)>) -> Self {
        let headers = headers.into_iter();
        RequestView {
            method: call.method.as_str().to_owned(),
            path: call.path,
            headers: headers.map(|(name, it)| (name, it.into())).collect(),
            body: call.body,
        }
    }

    /// A call as it would be sent, with its secrets masked, below the path of the base URL.
    pub(crate) fn masked(
        mut call: Call,
        mapping: &Mapping,
        has_key: bool,
        base_path: &str,
    ) -> Self {
        let headers = shown_headers(mapping, has_key, &call);
        call.path = format!("{base_path}{}", shown_path(mapping, has_key, &call));
        // By name, and by value where an expression of the profile gave it another name.
        call.body = call.body.map(|body| {
            let displayed = redacted(&body, &mapping.dialect);
            match redact(displayed.text()) {
                Cow::Borrowed(_) => displayed,
                Cow::Owned(masked) => parsed(&masked).unwrap_or_default().into(),
            }
        });
        RequestView::new(call, headers)
    }
}

impl Draw for RequestView {
    fn draw(&self, page: &mut Page) {
        page.line(format!("{} {}", self.method, self.path));
        for (name, value) in &self.headers {
            page.line(format!("{name}: {}", plain(value)));
        }
        if let Some(body) = &self.body {
            page.line(body.text());
        }
    }
}
