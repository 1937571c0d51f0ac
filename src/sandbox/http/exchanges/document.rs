//! An exchange as `/sandbox/requests`, the log of `sandbox serve` and HAR files show it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value};

use super::exchange::{Exchange, Message, fields, text};
use super::secrets::Secrets;
use crate::sandbox::rules::access;
use crate::sandbox::rules::no_key::masked;
use crate::sandbox::wire::id::IdKind;
use crate::sandbox::wire::moment::Moment;

/// An exchange, with keys masked.
#[derive(Serialize)]
pub(crate) struct ExchangeDocument {
    id: String,
    at: Moment,
    pub(crate) duration_ms: f64,
    pub(crate) method: String,
    pub(crate) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) query: Option<String>,
    /// 0 if a fault closed the connection before anything was sent.
    pub(crate) status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    organization: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    booking_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    pub(crate) request: MessageDocument,
    pub(crate) response: MessageDocument,
    /// What the fault did, and which rule refused the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    pub(crate) notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<&'static str>,
}

#[derive(Serialize)]
pub(crate) struct MessageDocument {
    pub(super) headers: Map<String, Value>,
    pub(crate) body: String,
    pub(super) truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encoding: Option<&'static str>,
    /// How many bytes of the body are kept.
    #[serde(skip)]
    pub(super) length: usize,
}

impl Exchange {
    pub(crate) fn document(&self) -> ExchangeDocument {
        let secrets = Secrets::of(self);
        // A fault may meet a request that is refused anyway.
        let said: Vec<String> = self
            .fault_in_words()
            .into_iter()
            .chain(self.refusal.clone())
            .collect();
        let query = self.target.split_once('?').map(|(_, query)| query);
        ExchangeDocument {
            id: IdKind::Request.id(self.number),
            at: Moment(self.at),
            duration_ms: (self.duration.as_secs_f64() * 1e6).round() / 1e3,
            method: self.method.to_string(),
            path: self.path().to_owned(),
            query: query.map(|it| secrets.hide(it)),
            status: self.status,
            organization: self.organization(),
            key: self.key().map(|it| masked(&it)),
            idempotency_key: self.request_header("idempotency-key"),
            booking_id: self.booking(),
            session_id: self.subject_id(IdKind::Session, "/v1/sessions"),
            request: self.request.document(&self.request_headers, &secrets),
            response: self.response.document(&self.response_headers, &secrets),
            reason: (!said.is_empty()).then(|| said.join(" ")),
            notes: self.notes(),
            fault: self.fault.as_ref().map(|it| it.kind.as_str()),
        }
    }

    /// The path without the query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
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
        let key = value.split_whitespace().last()?;
        (!key.eq_ignore_ascii_case("Bearer")).then(|| key.to_owned())
    }

    pub(super) fn request_header(&self, name: &str) -> Option<String> {
        let found = fields(&self.request_headers)
            .find(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes()));
        found.map(|(_, value)| text(value))
    }
}

/// Headers, a line each, as names and values; several of one name are joined.
fn headers(lines: &[u8], secrets: &Secrets) -> Map<String, Value> {
    let mut headers = Map::new();
    for (name, value) in fields(lines) {
        let name = text(name);
        let value = secrets.header(&name, &text(value));
        let value = match headers.get(&name).and_then(Value::as_str) {
            Some(before) => format!("{before}, {value}"),
            None => value,
        };
        headers.insert(name, Value::String(value));
    }
    headers
}

impl Message {
    fn document(&self, header_lines: &[u8], secrets: &Secrets) -> MessageDocument {
        let (body, encoding) = self.text(secrets);
        MessageDocument {
            headers: headers(header_lines, secrets),
            body,
            truncated: self.truncated,
            encoding,
            length: self.body.len(),
        }
    }

    /// The body as text, with keys masked; bytes that are no text as Base64, and the word for that.
    fn text(&self, secrets: &Secrets) -> (String, Option<&'static str>) {
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
