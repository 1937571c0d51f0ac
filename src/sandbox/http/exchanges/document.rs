//! An exchange as `/sandbox/requests` shows it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::exchange::{Exchange, Message, fields, text};
use super::secrets::Secrets;
use crate::sandbox::rules::access;
use crate::sandbox::rules::no_key::masked;
use crate::sandbox::wire::id::IdKind;
use crate::sandbox::wire::moment::Moment;

impl Exchange {
    /// The whole exchange, with keys masked.
    pub(crate) fn document(&self) -> Value {
        let mut document = json!({
            "id": IdKind::Request.id(self.number),
            "at": Moment(self.at),
            "duration_ms": self.milliseconds(),
            "method": self.method(),
            "path": self.path(),
        });
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                document[name] = value;
            }
        };
        add("query", self.query().map(Value::String));
        add("status", Some(json!(self.status)));
        add("organization", self.organization().map(|it| json!(it)));
        add("key", self.key().map(|it| json!(masked(&it))));
        add(
            "idempotency_key",
            self.request_header("idempotency-key").map(Value::String),
        );
        add("booking_id", self.booking().map(Value::String));
        add("session_id", self.session().map(Value::String));
        let secrets = self.secrets();
        let [asked, answered] = self.shown_headers(&secrets);
        add("request", Some(message(&asked, &self.request, &secrets)));
        add(
            "response",
            Some(message(&answered, &self.response, &secrets)),
        );
        add("reason", self.reason().map(Value::String));
        add("notes", Some(json!(self.notes())));
        add("fault", self.fault_kind().map(|it| json!(it)));
        document
    }

    /// How long the answer took.
    pub(crate) fn milliseconds(&self) -> f64 {
        (self.duration.as_secs_f64() * 1e6).round() / 1e3
    }

    /// The method.
    pub(crate) fn method(&self) -> &str {
        self.method.as_str()
    }

    /// The path without the query.
    pub(crate) fn path(&self) -> &str {
        self.target
            .split_once('?')
            .map_or(self.target.as_str(), |(path, _)| path)
    }

    /// The key, masked.
    pub(crate) fn masked_key(&self) -> Option<String> {
        self.key().map(|it| masked(&it))
    }

    /// The name of the fault that it met.
    pub(crate) fn fault_kind(&self) -> Option<&'static str> {
        self.fault.as_ref().map(|it| it.kind.as_str())
    }

    /// What the fault did, and which rule refused the request: a fault may meet a request that is refused anyway.
    pub(crate) fn reason(&self) -> Option<String> {
        let rule = self.refusal.clone();
        let said: Vec<String> = self.fault_in_words().into_iter().chain(rule).collect();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// The body of the request, with keys masked.
    pub(crate) fn request_body(&self) -> String {
        self.request.text(&self.secrets()).0
    }

    /// The body of the answer, with keys masked.
    pub(crate) fn response_body(&self) -> String {
        self.response.text(&self.secrets()).0
    }

    pub(super) fn query(&self) -> Option<String> {
        let (_, query) = self.target.split_once('?')?;
        Some(self.secrets().hide(query))
    }

    /// The organization of its key.
    pub(super) fn organization(&self) -> Option<String> {
        if self.status == 401 {
            return None;
        }
        access::key(&self.key()?).map(|it| it.organization.into_owned())
    }

    /// The booking in its path, or the one that it made.
    pub(super) fn booking(&self) -> Option<String> {
        self.subject_id(IdKind::Booking, "/v1/bookings")
    }

    fn session(&self) -> Option<String> {
        self.subject_id(IdKind::Session, "/v1/sessions")
    }

    fn subject_id(&self, kind: IdKind, under: &str) -> Option<String> {
        let rest = self.path().strip_prefix(under)?;
        let in_path = rest.trim_start_matches('/').split('/').next()?;
        if kind.number(in_path).is_some() {
            return Some(in_path.to_owned());
        }
        #[derive(serde::Deserialize)]
        struct Made {
            id: String,
        }
        let made: Made = serde_json::from_slice(self.service_answer()).ok()?;
        kind.number(&made.id).map(|_| made.id)
    }

    /// What was sent as the key.
    fn key(&self) -> Option<String> {
        let value = self.request_header("authorization")?;
        let key = value.split_whitespace().last().map(str::to_owned);
        key.filter(|it| !is_scheme(it))
    }

    /// A header of the request, as text.
    pub(super) fn request_header(&self, name: &str) -> Option<String> {
        let found = fields(&self.request_headers)
            .find(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes()));
        found.map(|(_, value)| text(value))
    }

    /// The headers of the request and of the answer, with secrets masked.
    pub(super) fn shown_headers(&self, secrets: &Secrets) -> [Map<String, Value>; 2] {
        [&self.request_headers, &self.response_headers].map(|lines| headers(lines, secrets))
    }

    pub(super) fn secrets(&self) -> Secrets {
        Secrets::of(self)
    }
}

/// Whether a word is the one that stands before a key.
fn is_scheme(word: &str) -> bool {
    word.eq_ignore_ascii_case("Bearer")
}

/// Headers, a line each, as names and values; several of one name are joined.
fn headers(lines: &[u8], secrets: &Secrets) -> Map<String, Value> {
    let mut headers = Map::new();
    for (name, value) in fields(lines) {
        let name = text(name);
        let value = secrets.header(&name, &text(value));
        match headers.entry(name) {
            serde_json::map::Entry::Vacant(entry) => {
                entry.insert(Value::String(value));
            }
            serde_json::map::Entry::Occupied(mut entry) => {
                if let Value::String(before) = entry.get_mut() {
                    before.push_str(", ");
                    before.push_str(&value);
                }
            }
        }
    }
    headers
}

fn message(headers: &Map<String, Value>, message: &Message, secrets: &Secrets) -> Value {
    let (body, encoding) = message.text(secrets);
    let mut document = json!({"headers": headers, "body": body, "truncated": message.truncated});
    if let Some(encoding) = encoding {
        document["encoding"] = json!(encoding);
    }
    document
}

impl Message {
    /// The body as text, with keys masked; bytes that are no text as Base64, and the word for that.
    pub(super) fn text(&self, secrets: &Secrets) -> (String, Option<&'static str>) {
        let whole = match std::str::from_utf8(&self.body) {
            Ok(text) => Some(text),
            // A body that is cut may end in the middle of a character.
            Err(error) if self.truncated && error.error_len().is_none() => {
                std::str::from_utf8(&self.body[..error.valid_up_to()]).ok()
            }
            Err(_) => None,
        };
        match whole {
            Some(text) => (secrets.hide(text), None),
            None => (STANDARD.encode(&self.body), Some("base64")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes;

    #[test]
    fn bytes_that_are_no_text_are_shown_as_base64_and_a_cut_character_is_left_out() {
        let message = |body: &'static [u8], truncated| Message {
            body: Bytes::from_static(body),
            truncated,
        };
        assert_eq!(
            message(b"\xff\x00", false).text(&Secrets::none()),
            ("/wA=".to_owned(), Some("base64"))
        );
        assert_eq!(
            message(b"a\xc3", true).text(&Secrets::none()),
            ("a".to_owned(), None)
        );
    }
}
