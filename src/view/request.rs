//! The request that `--dry-run` shows and does not send.

use serde_json::{Map, Value, json};

use crate::api::Call;
use crate::model::document::Document;
use crate::output::{Page, View};

pub(crate) struct RequestView<'a> {
    pub(crate) call: &'a Call,
    pub(crate) headers: Vec<(String, String)>,
}

impl RequestView<'_> {
    fn value(&self) -> Value {
        let headers: Map<String, Value> = self
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        json!({
            "method": self.call.method.as_str(),
            "path": self.call.path,
            "headers": headers,
            "body": self.call.body,
        })
    }
}

impl View for RequestView<'_> {
    fn json(&self) -> Document {
        self.value().into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.line(self.call.name());
        for (name, value) in &self.headers {
            page.line(format!("{name}: {value}"));
        }
        if let Some(body) = &self.call.body {
            page.line(body.to_string());
        }
        page
    }
}
