//! An answer of the service, and what tests ask of one.

use serde_json::Value;

use crate::http::Message;

/// What the service answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) asked: String,
    pub(crate) status: u16,
    pub(crate) message: Message,
    pub(crate) text: String,
    /// The JSON of the text; null where it is none.
    pub(crate) body: Value,
}

impl Answer {
    /// The body, of an answer with this status.
    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> &Value {
        assert_eq!(self.status, status, "{}: {}", self.asked, self.text);
        &self.body
    }

    /// The body, of a refusal with this status and `error_code`.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> &Value {
        let body = self.is(status);
        assert!(body["error"].is_string(), "no error in {body}");
        assert_eq!(body["error_code"], code, "{}: {body}", self.asked);
        body
    }

    /// The body, of a refusal with this status and no code.
    #[track_caller]
    pub(crate) fn refused_plainly(&self, status: u16) -> &Value {
        let body = self.is(status);
        assert!(body["error"].is_string(), "no error in {body}");
        assert_eq!(body.get("error_code"), None, "{}: {body}", self.asked);
        body
    }

    /// The complaint of a "validation failed" about a field.
    #[track_caller]
    pub(crate) fn invalid(&self, field: &str) -> &Value {
        let body = self.refused_plainly(400);
        assert_eq!(body["error"], "validation failed", "{body}");
        assert!(body["fields"][field].is_string(), "no {field} in {body}");
        body
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.message.header(name)
    }

    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> i64 {
        let value = self.header(name);
        let value = value.unwrap_or_else(|| panic!("{}: no header {name}", self.asked));
        value.parse().unwrap()
    }
}
