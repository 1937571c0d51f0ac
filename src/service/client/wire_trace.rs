//! The trace of `--verbose`: requests and answers with secrets masked.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::call::Call;
use crate::json::Document;
use crate::secrets::{register_secret, register_secrets_in};
use crate::service::mapping::Dialect;

const MASK: &str = "***";
/// Parts of the names of headers whose values are not shown.
const SECRET_HEADERS: &str = "cookie authoriz authentic token secret api-key apikey password";

pub(crate) struct WireTrace<'a> {
    pub(crate) sink: Option<&'a dyn Fn(&str)>,
    pub(crate) dialect: &'a Dialect,
}

impl WireTrace<'_> {
    /// `name` is the method and the path, without a key.
    pub(crate) fn request(&self, name: &str, call: &Call, headers: &[(String, String)]) {
        if let Some(body) = &call.body {
            // Nothing in the answer repeats them to a person.
            let fields = body.value().as_object().into_iter().flatten();
            for (_, value) in fields.filter(|(key, _)| is_secret(key, self.dialect)) {
                match value {
                    Value::String(code) => register_secret(code),
                    other => register_secrets_in(other),
                }
            }
        }
        let Some(sink) = self.sink else { return };
        sink(&format!("> {name}"));
        for (name, value) in headers {
            sink(&format!("> {name}: {value}"));
        }
        if let Some(body) = &call.body {
            sink(&format!("> {}", redacted(body, self.dialect).text()));
        }
    }

    pub(crate) fn answer(&self, status: u16, headers: &HeaderMap, body: &[u8], took: Duration) {
        let Some(sink) = self.sink else { return };
        sink(&format!("< {status} ({} ms)", took.as_millis()));
        for (name, value) in headers {
            let is_secret = SECRET_HEADERS.split(' ').any(|part| name.as_str().contains(part));
            let value = String::from_utf8_lossy(value.as_bytes());
            sink(&format!("< {name}: {}", if is_secret { MASK.into() } else { value }));
        }
        sink(&format!("< {}", without_webhook_secret(body)));
    }
}

fn is_secret(field: &str, dialect: &Dialect) -> bool {
    field == dialect.otp_field || field == dialect.session_code_field || field == "psp_response"
}

fn without_webhook_secret(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str(&text) {
        Ok(Value::Object(mut object)) if object.contains_key("webhook_secret") => {
            object.insert("webhook_secret".to_owned(), Value::from("***"));
            Value::Object(object).to_string()
        }
        _ => text.into_owned(),
    }
}

/// A body with one-time codes and payment answers masked at every depth.
pub(crate) fn redacted(body: &Document, dialect: &Dialect) -> Document {
    let masked = masked(body.value(), dialect);
    if masked == *body.value() { body.clone() } else { masked.into() }
}

fn masked(body: &Value, dialect: &Dialect) -> Value {
    let mask = |(key, value): (&String, &Value)| {
        let displayed =
            if is_secret(key, dialect) { Value::from("***") } else { masked(value, dialect) };
        (key.clone(), displayed)
    };
    match body {
        Value::Object(object) => Value::Object(object.iter().map(mask).collect()),
        Value::Array(items) => items.iter().map(|item| masked(item, dialect)).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn trace_masks_codes_and_payment_answers_by_dialect_names() {
        let dialect = Dialect { otp_field: "pin".to_owned(), ..Dialect::default() };
        let body = json!({"pin": "123456", "code": "654321", "psp_response": {"card": "4242"}, "note": "x"});
        assert_eq!(
            masked(&body, &dialect),
            json!({"pin": "***", "code": "***", "psp_response": "***", "note": "x"})
        );
        let nested = json!({"x": [{"pin": 123456}]});
        assert_eq!(masked(&nested, &dialect), json!({"x": [{"pin": "***"}]}));
    }
}
