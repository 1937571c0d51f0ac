//! One request and its answer.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, request, response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::secrets::Secrets;
use crate::sandbox::http::endpoints::Endpoint;
use crate::sandbox::http::reply::{RefusalReason, Situations};
use crate::sandbox::rules::access::{self, BOOKINGS_CREATE, masked};
use crate::sandbox::rules::fault::{Fault, FaultKind};
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::wire::{IdKind, WireTime, without_nulls};

const MOST_OF_BODY: usize = 64 * 1024;

/// A booking request without a key: a finding, which outlives the request in the log.
pub(in super::super) const NO_KEY: &str = "no_idempotency_key";
/// A key that was used before, with another booking request: a finding.
pub(in super::super) const OTHER_BOOKING: &str = "key_for_another_booking";

#[derive(Default)]
pub(crate) struct Exchange {
    pub(crate) number: i64,
    /// Whether it is a call of the service, not of the sandbox's own surface. Its bodies are kept.
    pub(crate) is_service: bool,
    /// When it was answered, by the sandbox's clock.
    pub(crate) at: Timestamp,
    /// When it came, in real time.
    pub(in super::super) came: Timestamp,
    pub(in super::super) duration: Duration,
    /// How often the controls had changed something for its organization before it: what a test
    /// does then is no retry.
    pub(in super::super) changes: u32,
    pub(crate) method: Method,
    /// Path and query.
    pub(super) target: String,
    /// 0 if a fault closed the connection before anything was sent.
    pub(crate) status: u16,
    pub(crate) request: HttpMessage,
    pub(crate) response: HttpMessage,
    /// The organization of its key; `None` if the key was refused.
    pub(in super::super) organization: Option<String>,
    /// `None` if no endpoint got it.
    pub(in super::super) endpoint: Option<&'static Endpoint>,
    /// The codes of what it shows of the report's situations. An endpoint's is its summary.
    pub(in super::super) situations: Vec<String>,
    refusal: Option<String>,
    fault: Option<Fault>,
}

#[derive(Default)]
pub(crate) struct HttpMessage {
    /// A line for each: `name: value`.
    headers: String,
    /// Whether a value is not UTF-8, so that each byte of all of them became one character.
    pub(super) is_latin: bool,
    /// The first 64 KB.
    pub(in super::super) body: Bytes,
    /// How many bytes the whole body has.
    pub(super) length: usize,
}

impl HttpMessage {
    fn from_headers(headers: &HeaderMap) -> Self {
        let is_latin = headers.values().any(|it| std::str::from_utf8(it.as_bytes()).is_err());
        let mut lines = String::with_capacity(256);
        for (name, value) in headers {
            let latin = || value.as_bytes().iter().copied().map(char::from).collect::<String>();
            let text = std::str::from_utf8(value.as_bytes());
            let text = text.ok().filter(|_| !is_latin).map_or_else(|| latin().into(), Cow::from);
            lines.extend([name.as_str(), ": ", &text, "\n"]);
        }
        Self { headers: lines, is_latin, ..Self::default() }
    }

    /// Whether only the beginning of the body is kept.
    pub(super) fn is_cut(&self) -> bool {
        self.length > self.body.len()
    }

    /// Copies the beginning of a body of this length: a body belongs to its connection's buffer.
    pub(in super::super) fn keep(&mut self, body: &Bytes, length: usize) {
        self.body = Bytes::copy_from_slice(body.get(..MOST_OF_BODY).unwrap_or(body));
        self.length = length;
    }

    pub(in super::super) fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers().find(|(known, _)| *known == name)?;
        Some(value)
    }

    pub(super) fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.lines().filter_map(|line| line.split_once(": "))
    }

    fn document(&self, secrets: &Secrets) -> Value {
        let mut headers = Map::new();
        for (name, value) in self.headers() {
            let value = secrets.header(name, value);
            let value = match headers.get(name).and_then(Value::as_str) {
                Some(before) => format!("{before}, {value}"),
                None => value,
            };
            headers.insert(name.to_owned(), value.into());
        }
        let truncated = self.is_cut();
        let text = std::str::from_utf8(&self.body).or_else(|error| match error.error_len() {
            // A body that is cut may end in the middle of a character.
            None if truncated => std::str::from_utf8(&self.body[..error.valid_up_to()]),
            _ => Err(error),
        });
        let (body, encoding) = match text {
            Ok(text) => (secrets.hide(text), None),
            Err(_) => (STANDARD.encode(&self.body), Some("base64")),
        };
        without_nulls(json!({
            "headers": headers,
            "body": body,
            "truncated": truncated,
            "encoding": encoding,
        }))
    }
}

impl Exchange {
    pub(in super::super) fn from_request(request: &request::Parts) -> Self {
        let path = request.uri.path();
        let target = request.uri.path_and_query();
        let mut exchange = Self {
            is_service: !path.starts_with("/sandbox") && !["/", "/openapi.json"].contains(&path),
            came: Timestamp::now(),
            method: request.method.clone(),
            target: target.map_or("/", |it| it.as_str()).to_owned(),
            request: HttpMessage::from_headers(&request.headers),
            ..Self::default()
        };
        exchange.organization = exchange.key().and_then(access::key).map(|it| it.organization);
        exchange
    }

    pub(in super::super) fn answered(&mut self, head: &mut response::Parts) {
        self.response.headers = HttpMessage::from_headers(&head.headers).headers;
        self.refusal = head.extensions.remove().map(|RefusalReason(why)| why);
        self.fault = head.extensions.remove();
        self.endpoint = head.extensions.remove();
        self.duration = Timestamp::now().duration_since(self.came).unsigned_abs() + self.delay();
        if self.fault_kind() != Some(FaultKind::DropBefore) {
            self.status = head.status.as_u16();
        }
        self.organization = self.organization.take().filter(|_| self.status != 401);
        let displayed = head.extensions.remove().map(|Situations(codes)| codes);
        self.find_situations(displayed.unwrap_or_default());
    }

    /// `displayed` is what the response shows.
    fn find_situations(&mut self, displayed: Vec<String>) {
        let is_lost = self.is_in_doubt() && self.status < 500;
        let is_done = matches!(self.status, 200..=299) && !self.service_answer().is_empty();
        if is_done && !is_lost {
            self.situations.extend(self.endpoint.map(|it| it.summary.into()));
        }
        if self.is_create() && self.idempotency_key().is_none() {
            self.situations.push(NO_KEY.into());
        }
        let of_fault = self.fault_kind().and_then(|kind| match kind {
            FaultKind::Delay => Some("slow_response"),
            FaultKind::DropBefore | FaultKind::DropAfter => Some("lost_response"),
            FaultKind::Truncate => Some("cut_response"),
            FaultKind::Garbage => Some("garbage"),
            _ => None,
        });
        self.situations.extend(of_fault.map(str::to_owned));
        if is_lost {
            return;
        }
        if self.is_create() && is_done && self.status == 200 {
            let is_other = !self.differing().is_empty();
            self.situations.push(if is_other { OTHER_BOOKING } else { "repeated_create" }.into());
        }
        if self.status >= 500 {
            self.situations.push("server_error".into());
        }
        self.situations.extend(displayed);
    }

    /// Whether it asked for a booking, with a key that the sandbox knows.
    pub(in super::super) fn is_create(&self) -> bool {
        let scope = self.endpoint.and_then(|it| it.scope);
        self.status != 401 && scope == Some(BOOKINGS_CREATE)
    }

    pub(in super::super) fn idempotency_key(&self) -> Option<&str> {
        Some(self.request.header("idempotency-key")?.trim()).filter(|it| !it.is_empty())
    }

    /// Whether its client cannot know what became of it.
    pub(in super::super) fn is_in_doubt(&self) -> bool {
        use FaultKind::{DropAfter, DropBefore, Garbage, Truncate};
        let fault = self.fault_kind();
        let is_lost = matches!(fault, Some(DropAfter | DropBefore | Garbage | Truncate));
        is_lost || self.status >= 500
    }

    pub(in super::super) fn shows(&self, situation: &str) -> bool {
        self.situations.iter().any(|it| it == situation)
    }

    /// How long a fault delays its response, logged before: its client may not wait for it.
    pub(in super::super) fn delay(&self) -> Duration {
        self.fault.as_ref().and_then(|it| it.delay_ms).map_or(Duration::ZERO, Duration::from_millis)
    }

    /// The organization whose next request is no retry after this control; `Some(None)` is any. The
    /// clock, a new organization and a resent webhook concern none.
    pub(super) fn changes_for(&self) -> Option<Option<String>> {
        let mut queries = self.query().unwrap_or_default().split('&');
        let requested = queries.find_map(|it| it.strip_prefix("organization="));
        let body = self.request_json();
        let name = match self.path().split('/').nth(2)? {
            "organization" | "fixtures" => Some(requested.unwrap_or(Organization::MAIN)),
            "faults" => requested.or(body["organization"].as_str()),
            "reset" => requested,
            _ => return None,
        };
        Some(name.map(Organization::id_of))
    }

    pub(super) fn size(&self) -> usize {
        let size = |it: &HttpMessage| it.headers.capacity() + it.body.len();
        size_of::<Self>() + self.target.len() + size(&self.request) + size(&self.response)
    }

    pub(crate) fn fault_kind(&self) -> Option<FaultKind> {
        self.fault.as_ref().map(|it| it.kind)
    }

    /// The bodies as JSON; null if they are none.
    pub(in super::super) fn request_json(&self) -> Value {
        serde_json::from_slice(&self.request.body).unwrap_or_default()
    }

    pub(in super::super) fn answer_json(&self) -> Value {
        serde_json::from_slice(self.service_answer()).unwrap_or_default()
    }

    /// The body of the service's own answer: empty if a fault answered instead.
    pub(super) fn service_answer(&self) -> &[u8] {
        if self.fault_kind() == Some(FaultKind::Status) { &[] } else { &self.response.body }
    }

    pub(in super::super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The path, with secrets masked.
    pub(crate) fn shown_path(&self) -> String {
        self.secrets().hide(self.path())
    }

    /// The fields in which a booking request differs from the booking that its key stands for,
    /// before that was modified.
    pub(super) fn differing(&self) -> Vec<&'static str> {
        const FIELDS: [&str; 9] = [
            "venue_id",
            "provider",
            "datetime",
            "party_size",
            "customer.name",
            "customer.email",
            "customer.phone",
            "end_user",
            "payment_collection",
        ];
        let field = |of: &Value, name: &str| {
            of.pointer(&format!("/{}", name.replace('.', "/"))).cloned().unwrap_or_default()
        };
        let (sent, booking) = (self.request_json(), self.answer_json());
        let changes = &booking["last_modification"]["changes"];
        let moment = |it: &Value| it.as_str().and_then(|it| it.parse::<Timestamp>().ok());
        let is_other = |name: &&str| {
            let was = changes[*name].get("from").cloned().unwrap_or_else(|| field(&booking, name));
            let wanted = field(&sent, name);
            let is_same =
                wanted == was || moment(&wanted).is_some_and(|it| moment(&was) == Some(it));
            let is_open = wanted.is_null() && *name == "provider";
            !is_same && !is_open && !booking.is_null()
        };
        FIELDS.into_iter().filter(is_other).collect()
    }

    pub(super) fn query(&self) -> Option<&str> {
        self.target.split_once('?').map(|(_, query)| query)
    }

    /// The booking in its path, or the one that it made.
    pub(in super::super) fn booking(&self) -> Option<String> {
        self.subject_id(IdKind::BOOKING, "/v1/bookings")
    }

    fn subject_id(&self, kind: IdKind, under: &str) -> Option<String> {
        let in_path = self.path().strip_prefix(under)?.trim_start_matches('/').split('/').next()?;
        if kind.number(in_path).is_some() {
            return Some(in_path.to_owned());
        }
        let made = self.answer_json();
        made["id"].as_str().filter(|it| kind.number(it).is_some()).map(str::to_owned)
    }

    pub(super) fn key(&self) -> Option<&str> {
        let key = self.request.header("authorization")?.split_whitespace().last()?;
        (!key.eq_ignore_ascii_case("Bearer")).then_some(key)
    }

    pub(super) fn secrets(&self) -> Secrets {
        Secrets::find(self.request.headers(), &self.target, &self.request.body)
    }

    pub(crate) fn masked_key(&self) -> Option<String> {
        self.key().map(masked)
    }

    /// With microseconds.
    pub(crate) fn duration_ms(&self) -> f64 {
        (self.duration.as_secs_f64() * 1e6).round() / 1e3
    }

    /// What the fault did, and which rule refused the request.
    pub(crate) fn reason(&self) -> Option<String> {
        // A fault may meet a request that is refused anyway.
        let fault = self.fault.as_ref().map(|it| it.in_words(self.response.length));
        let wording: Vec<String> = fault.into_iter().chain(self.refusal.clone()).collect();
        (!wording.is_empty()).then(|| wording.join(" "))
    }

    /// It as it is shown, with keys masked. `names` are those of organizations; `curl` is the
    /// command, where it is asked for by its id.
    pub(crate) fn document(&self, names: &HashMap<String, String>, curl: Option<String>) -> Value {
        let secrets = self.secrets();
        without_nulls(json!({
            "id": IdKind::REQUEST.id(self.number),
            "at": WireTime(self.at),
            "duration_ms": self.duration_ms(),
            "method": self.method.as_str(),
            "path": secrets.hide(self.path()),
            "query": self.query().map(|it| secrets.hide(it)),
            "status": self.status,
            "organization": self.organization,
            "organization_name": self.organization.as_ref().and_then(|it| names.get(it)),
            "key": self.masked_key(),
            "idempotency_key": self.request.header("idempotency-key").map(|it| secrets.hide(it)),
            "booking_id": self.booking(),
            "session_id": self.subject_id(IdKind::SESSION, "/v1/sessions"),
            "curl": curl,
            "request": self.request.document(&secrets),
            "response": self.response.document(&secrets),
            "reason": self.reason(),
            "notes": self.notes(),
            "fault": self.fault_kind(),
        }))
    }
}
