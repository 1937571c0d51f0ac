//! What `--verbose` shows of the wire: requests and answers, their secrets left out.

use serde_json::Value;

use super::client::Call;
use super::dialect::Dialect;
use super::failure::Failure;

/// Request fields that are secrets whatever the dialect: payment answers.
const SECRET_FIELDS: &[&str] = &["psp_response"];

pub(super) struct WireTrace<'a> {
    sink: Option<&'a dyn Fn(&str)>,
    dialect: &'a Dialect,
}

impl<'a> WireTrace<'a> {
    pub(super) fn new(sink: Option<&'a dyn Fn(&str)>, dialect: &'a Dialect) -> Self {
        WireTrace { sink, dialect }
    }

    pub(super) fn request(&self, call: &Call, headers: &[(String, String)]) {
        let Some(sink) = self.sink else { return };
        sink(&format!("> {}", call.name()));
        for (name, value) in headers {
            sink(&format!("> {name}: {value}"));
        }
        if let Some(body) = &call.body {
            sink(&format!("> {}", redacted(body, self.dialect)));
        }
    }

    pub(super) fn answer(&self, status: u16, body: &[u8]) {
        let Some(sink) = self.sink else { return };
        sink(&format!("< {status}"));
        sink(&format!("< {}", String::from_utf8_lossy(body)));
    }

    pub(super) fn failure(&self, failure: &Failure) {
        if let Some(sink) = self.sink {
            sink(&format!("< no answer: {failure}"));
        }
    }
}

/// The body as it may be shown: one-time codes and payment answers are masked.
pub(crate) fn redacted(body: &Value, dialect: &Dialect) -> Value {
    let mut body = body.clone();
    if let Some(object) = body.as_object_mut() {
        for (key, value) in object.iter_mut() {
            let one_time_code = [&dialect.otp_field, &dialect.session_code_field].contains(&key);
            if one_time_code || SECRET_FIELDS.contains(&key.as_str()) {
                *value = Value::from("***");
            }
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_time_codes_and_payment_answers_are_masked_by_the_dialects_names() {
        let dialect = Dialect {
            otp_field: "pin".to_owned(),
            ..Dialect::default()
        };
        let body = json!({"pin": "123456", "code": "654321", "psp_response": {"card": "4242"}, "note": "x"});
        assert_eq!(
            redacted(&body, &dialect),
            json!({"pin": "***", "code": "***", "psp_response": "***", "note": "x"})
        );
    }
}
