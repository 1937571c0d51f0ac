//! A JSON document as it was received: its text for `--json`, its value for reading.

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::{Map, Value};

use super::lenient::to_strict;

/// A document of the service. Unknown fields, the order of keys and the spelling of numbers are kept. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Document(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    text: OnceLock<String>,
    value: Value,
}

impl Document {
    /// Parses a JSON text of another program, as [`lenient`](super::lenient) reads it. Drops a byte order mark.
    pub(crate) fn parse(mut text: String) -> Result<Self, serde_json::Error> {
        if let Some(unmarked) = text.strip_prefix('\u{feff}') {
            text = unmarked.to_owned();
        }
        let value = parsed(&text)?;
        Ok(Document::of(text, value))
    }

    fn of(text: String, value: Value) -> Self {
        let text = OnceLock::from(text);
        Document(Arc::new(Parts { text, value }))
    }

    /// The JSON of a value of ours.
    pub(crate) fn serialized(value: &impl Serialize) -> Self {
        serde_json::to_value(value).unwrap_or_default().into()
    }

    /// The text as received.
    pub(crate) fn text(&self) -> &str {
        self.0.text.get_or_init(|| self.0.value.to_string())
    }

    pub(crate) fn value(&self) -> &Value {
        &self.0.value
    }

    /// Several documents as one array, each unchanged.
    pub(crate) fn array<'a>(documents: impl Iterator<Item = &'a Document>) -> Self {
        let both = documents.map(|document| (document.text(), document.value().clone()));
        let (texts, values): (Vec<&str>, Vec<Value>) = both.unzip();
        Document::of(format!("[{}]", texts.join(",")), Value::Array(values))
    }

    /// Documents as the members of an object, each unchanged.
    pub(crate) fn object(members: &[(&str, &Document)]) -> Self {
        let (mut texts, mut values) = (Vec::new(), Map::new());
        for (name, document) in members {
            texts.push(format!("{}:{}", Value::from(*name), document.text()));
            values.insert((*name).to_owned(), document.value().clone());
        }
        Document::of(format!("{{{}}}", texts.join(",")), Value::Object(values))
    }

    /// A string field of the top-level object.
    pub(crate) fn str(&self, key: &str) -> Option<&str> {
        self.0.value.get(key).and_then(Value::as_str)
    }
}

/// The value of a JSON text of another program, as [`Document::parse`] reads it.
pub(crate) fn parsed(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&to_strict(text))
}

impl From<Value> for Document {
    fn from(value: Value) -> Self {
        let text = OnceLock::new();
        Document(Arc::new(Parts { text, value }))
    }
}

/// A scalar for a person: a string without quotes, anything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
