//! A JSON document exactly as it came: its text for `--json`, its value for reading.

use serde_json::Value;

/// What the service sent, never narrowed: unknown fields, key order and number spellings are kept.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    text: String,
    value: Value,
}

impl Document {
    /// Reads a JSON text.
    pub(crate) fn parse(text: String) -> Result<Self, serde_json::Error> {
        let value = serde_json::from_str(&text)?;
        Ok(Document { text, value })
    }

    /// The text as it came.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// Several documents as one array, each exactly as it came.
    pub(crate) fn array<'a>(documents: impl Iterator<Item = &'a Document>) -> Self {
        let (texts, values): (Vec<&str>, Vec<Value>) = documents
            .map(|document| (document.text(), document.value().clone()))
            .unzip();
        Document {
            text: format!("[{}]", texts.join(",")),
            value: Value::Array(values),
        }
    }

    /// A string field of the top-level object.
    pub(crate) fn str(&self, key: &str) -> Option<&str> {
        self.value.get(key).and_then(Value::as_str)
    }
}

impl From<Value> for Document {
    fn from(value: Value) -> Self {
        Document {
            text: value.to_string(),
            value,
        }
    }
}

/// A scalar as a person reads it: a string without quotes, anything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
