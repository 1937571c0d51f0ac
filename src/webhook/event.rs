//! The parts of an event's body that bookctl reads ("Events", 4), and sample events of any kind,
//! for a real or an invented booking ("Events", 2 and 4).

use jiff::{Timestamp, ToSpan};
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::json::{Document, read_body};
use crate::platform::crypto::sha256;
use crate::service::documents::booking::Booking;
use crate::service::documents::id::token;
use crate::service::mapping::{Dialect, Mapping, Path, Shape, member, shallowest};
use crate::service::time::document_time::DocumentTime;

/// Where a name of the dialect begins that is the name of a header.
const HEADER: &str = "header:";
/// What the settings take that say where something stands.
const PLACES: &str = "a name, a path such as meta.id, or header:NAME";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum IdSource {
    #[default]
    Stated,
    /// The profile's expression failed, for this reason. The digest of the body is the id.
    Unread(String),
    /// The body is not JSON, for this reason. Its digest is the id.
    NotJson(String),
    /// No id was found, or only the id of the booking or of an event of another kind. The digest of
    /// the body stands for it.
    Digest,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Event {
    #[serde(rename = "event_id")]
    pub(crate) id: String,
    /// Such as `booking.confirmed`; empty if none was found.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(rename = "booking_id")]
    pub(crate) booking: Option<String>,
    /// The booking's status when the event was sent: a hint, as events may be late or out of order.
    pub(crate) status: Option<String>,
    #[serde(skip)]
    pub(crate) id_source: IdSource,
}

impl Event {
    /// Parses a delivery, whose headers `header` gives by their names. Whatever is not found, the
    /// delivery remains an event: without an id it gets the digest of its body, which is the same
    /// when it is sent again.
    pub(crate) fn read(
        body: &[u8],
        mapping: &Mapping,
        header: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let unread = |source| Event { id: digest(body), id_source: source, ..Event::default() };
        let event = match read_body(body, &header) {
            Ok(event) => event.value().clone(),
            Err(unreadable) => return unread(IdSource::NotJson(unreadable.why)),
        };
        let translated = match mapping.event(&event).transpose() {
            Ok(translated) => translated,
            Err(why) => return unread(IdSource::Unread(why)),
        };
        // An expression writes the contract's names; a header is found all the same.
        let find = |name: &str, own: &str| match (name.strip_prefix(HEADER), &translated) {
            (Some(name), _) => header(name).filter(|value| !value.is_empty()),
            (None, Some(translated)) => find_field(translated, own).and_then(token),
            (None, None) => find_field(&event, name).and_then(token),
        };
        let id = find(&mapping.dialect.event_id_field, "id");
        let booking = summary(translated.as_ref().unwrap_or(&event));
        let booking_field = |field| booking.and_then(|it| member(it, field)).and_then(token);
        let mut event = Event {
            id_source: match id {
                Some(_) => IdSource::Stated,
                None => IdSource::Digest,
            },
            id: id.unwrap_or_else(|| digest(body)),
            kind: find(&mapping.dialect.event_type_field, "type").unwrap_or_default(),
            booking: booking_field("id"),
            status: booking_field("status"),
        };
        if event.booking.as_ref() == Some(&event.id) {
            event.name_by_body(body);
        }
        event
    }

    /// What was not found in the delivery, what happens to it, and the setting that helps.
    pub(crate) fn warning(&self, mapping: &Mapping) -> Option<String> {
        let dialect = &mapping.dialect;
        let (id, kind) = (&dialect.event_id_field, &dialect.event_type_field);
        let (doubt, setting) = match &self.id_source {
            IdSource::Unread(why) => (
                format!(
                    "the profile's expression read.event {why}: the delivery is kept as it came, without its id and its \
                     booking; to correct the expression"
                ),
                "'read.event=EXPRESSION'",
            ),
            IdSource::NotJson(why) => {
                return Some(format!(
                    "the body of a delivery is kept as it came, and not read: {why}"
                ));
            }
            IdSource::Digest => (
                format!(
                    "a delivery has no event ID of its own at `{id}`, so a hash of its body is used; to set the right \
                     place ({PLACES})"
                ),
                "dialect.event_id_field=PATH",
            ),
            IdSource::Stated if self.kind.is_empty() => (
                format!(
                    "a delivery has no event kind at `{kind}`; to set the right place ({PLACES})"
                ),
                "dialect.event_type_field=PATH",
            ),
            IdSource::Stated => return None,
        };
        Some(format!("{doubt}: {}", mapping.set_command(setting)))
    }

    /// The booking in a delivery, as far as the event has it: often only its id and status. Before
    /// it, when the event was created by the service's clock, if it shows that.
    pub(crate) fn booking_in(
        body: &[u8],
        mapping: &Mapping,
    ) -> Option<(Option<Timestamp>, Booking)> {
        let event = read_body(body, |_| None).ok()?.value().clone();
        // Of an expression that fails the listener has warned.
        let translated = mapping.event(&event).transpose().ok()?;
        let event = translated.as_ref().unwrap_or(&event);
        let created = DocumentTime::from_field(event, "created_at").and_then(|it| it.instant);
        let document = Document::from(Value::Object(summary(event)?.clone()));
        Some((created, mapping.booking(document, true).ok()?.item))
    }

    pub(super) fn name_by_body(&mut self, body: &[u8]) {
        self.id = digest(body);
        self.id_source = IdSource::Digest;
    }

    pub(crate) fn shown_kind(&self) -> &str {
        match self.kind.as_str() {
            "" => "unknown kind",
            kind => kind,
        }
    }

    /// Events with the same key are forwarded in order: the booking's id, else the event's own.
    pub(crate) fn ordering_key(&self) -> &str {
        self.booking.as_deref().unwrap_or(&self.id)
    }
}

/// The id of an event that has none of its own: the same when it is sent again.
fn digest(body: &[u8]) -> String {
    format!("sha256:{}", hex::encode(sha256([body])))
}

fn find_field<'a>(document: &'a Value, name: &str) -> Option<&'a Value> {
    document.get(name).or_else(|| Path::parse(name)?.get(document))
}

/// The summary of the booking in an event (spec, Events, 4: `data.object`), wherever it stands.
fn summary(event: &Value) -> Option<&Map<String, Value>> {
    let stated = event.get("data").and_then(|data| data.get("object"));
    if let Some(Value::Object(object)) = stated
        && member(object, "id").is_some()
    {
        return Some(object);
    }
    let found = shallowest(event, Shape::Booking).ok()?;
    (found.objects.len() == 1).then(|| found.objects[0])
}

/// "Events", 2.
pub(crate) const KINDS: [&str; 7] = [
    "booking.created",
    "booking.requires_action",
    "booking.processing",
    "booking.confirmed",
    "booking.failed",
    "booking.cancelled",
    "booking.modified",
];

/// The fields of a booking's summary in their order; the optional ones come last.
const SUMMARY_FIELDS: &str =
    "id object status provider error_code error_message next_action last_modification";

#[derive(Clone, Debug)]
pub(crate) struct SampleEvent {
    pub(crate) document: Value,
    id_field: String,
}

impl SampleEvent {
    pub(crate) fn new(
        kind: &str,
        booking: Option<&Value>,
        dialect: &Dialect,
        now: Timestamp,
    ) -> Self {
        let summary = match booking {
            Some(booking) => {
                let fields = SUMMARY_FIELDS.split(' ');
                let field = |name: &str| Some((name.to_owned(), booking.get(name)?.clone()));
                Value::Object(fields.filter_map(field).collect())
            }
            None => invented_summary(kind, dialect, now),
        };
        let (id_field, type_field) = (&dialect.event_id_field, &dialect.event_type_field);
        let mut event = Map::new();
        insert(&mut event, id_field, "id", json!(new_id("evt")));
        event.insert("object".to_owned(), json!("event"));
        insert(&mut event, type_field, "type", json!(kind));
        event.insert("created_at".to_owned(), json!(now.to_string()));
        event.insert("data".to_owned(), json!({ "object": summary }));
        SampleEvent { document: event.into(), id_field: id_field.clone() }
    }

    /// The event's id; empty if it was set to something else than a string.
    pub(crate) fn id(&self) -> &str {
        let id = find_field(&self.document, &self.id_field).or_else(|| self.document.get("id"));
        id.and_then(Value::as_str).unwrap_or_default()
    }

    /// The body as the service sends it: compact JSON.
    pub(crate) fn body(&self) -> Vec<u8> {
        self.document.to_string().into_bytes()
    }

    pub(crate) fn set(&mut self, path: &str, value: Value) {
        let mut place = &mut self.document;
        for name in path.split('.') {
            if !place.is_object() {
                *place = json!({});
            }
            place = &mut place[name];
        }
        *place = value;
    }
}

/// Sets a field at its name or path. What the service writes into a header stands in the body under
/// its own name, so that it is found where no profile says so.
fn insert(event: &mut Map<String, Value>, name: &str, own: &str, value: Value) {
    let path = Path::parse(name).filter(|_| !name.starts_with("header:"));
    let is_set = path.is_some_and(|path| path.set(event, value.clone()).is_ok());
    if !is_set {
        event.insert(own.to_owned(), value);
    }
}

/// The status of a booking in an event of this kind; a modified booking stays confirmed.
pub(crate) fn status_of(kind: &str) -> &str {
    match kind.strip_prefix("booking.") {
        Some("created") => "processing",
        Some("modified") => "confirmed",
        Some(status) => status,
        None => "confirmed",
    }
}

fn invented_summary(kind: &str, dialect: &Dialect, now: Timestamp) -> Value {
    let mut summary = json!({
        "id": new_id("bk"),
        "object": "booking",
        "status": status_of(kind),
        "provider": dialect.provider_a,
    });
    match kind {
        "booking.requires_action" => {
            let expires_at = now.saturating_add(20.minutes()).unwrap_or(now);
            summary["next_action"] = json!({
                &dialect.next_action_type_field: dialect.otp_action,
                "message": "Enter the one-time code that was sent to the guest.",
                "channel": "sms",
                "sent_to": "+44 •••• 00 12",
                "expires_at": expires_at.to_string(),
            });
        }
        "booking.failed" => {
            summary["error_code"] = json!("card_declined");
            summary["error_message"] = json!("The processor declined the guest's card.");
        }
        "booking.modified" => {
            summary["last_modification"] = json!({
                "at": now.to_string(),
                "changes": { "party_size": { "from": 2, "to": 4 } },
            });
        }
        _ => {}
    }
    summary
}

/// A unique id; later ids sort after earlier ones.
pub(crate) fn new_id(prefix: &str) -> String {
    format!("{prefix}_{}", Uuid::now_v7().simple())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: &str) -> Event {
        Event::read(body.as_bytes(), &Mapping::default(), |_| None)
    }

    #[test]
    fn an_event_has_an_id_a_kind_and_a_booking() {
        let body = r#"{"id":"evt_1","type":"booking.confirmed","data":{"object":{"id":"bk_1","status":"confirmed"}}}"#;
        let event = read(body);
        assert_eq!((event.id.as_str(), event.ordering_key()), ("evt_1", "bk_1"));
        assert_eq!(event.kind, "booking.confirmed");
        assert_eq!(event.status.as_deref(), Some("confirmed"));
        assert_eq!(read(r#"{"id":7,"data":3}"#).ordering_key(), "7");
    }

    #[test]
    fn an_event_without_an_id_is_named_by_its_body() {
        for body in ["", "[]", "null", "{}", r#"{"id":""}"#, r#"{"id":{}}"#, "{\"id\":\"x\""] {
            let event = read(body);
            assert_ne!(event.id_source, IdSource::Stated, "{body}");
            assert_eq!(event.id.len(), "sha256:".len() + 64, "{body}");
            assert_eq!(event, read(body), "{body}");
        }
        assert_ne!(read("{}").id, read("[]").id);
        assert_eq!(read("{}").shown_kind(), "unknown kind");
    }

    #[test]
    fn ids_of_many_digits_differ_in_last() {
        for id in ["123456789012345678901234", "1234567890.12345678"] {
            assert_eq!(read(&format!(r#"{{"id":{id}}}"#)).id, id);
        }
        let bookings =
            read(r#"{"id":"fx-1","data":{"object":{"id":"fx-1","status":"confirmed"}}}"#);
        assert_eq!(bookings.booking.as_deref(), Some("fx-1"));
        assert_eq!(bookings.id_source, IdSource::Digest);
    }

    #[test]
    fn id_and_kind_are_found_in_headers_and_at_paths() {
        let mut mapping = Mapping::default();
        mapping.dialect.rename("event_id_field", "header:X-Event-Id").unwrap();
        mapping.dialect.rename("event_type_field", "meta.kind").unwrap();
        let body = json!({
            "meta": {"kind": "booking.failed"},
            "payload": {"booking": {"id": 7, "status": "FAILED", "provider": "a"}},
        });
        let header = |name: &str| (name == "X-Event-Id").then(|| "e-9".to_owned());
        let event = Event::read(body.to_string().as_bytes(), &mapping, header);
        let expected = Event {
            id: "e-9".to_owned(),
            kind: "booking.failed".to_owned(),
            booking: Some("7".to_owned()),
            status: Some("FAILED".to_owned()),
            id_source: IdSource::Stated,
        };
        assert_eq!(event, expected);
    }

    fn event(kind: &str, booking: Option<&Value>) -> SampleEvent {
        SampleEvent::new(kind, booking, &Dialect::default(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn an_event_has_the_fields_of_the_specification_and_no_other() {
        for kind in KINDS {
            let event = event(kind, None);
            assert_eq!(event.document["type"], kind);
            assert!(event.id().starts_with("evt_"));
            let summary = event.document["data"]["object"].as_object().unwrap();
            let is_known = |key: &String| SUMMARY_FIELDS.split(' ').any(|it| it == key);
            assert!(summary.keys().all(is_known), "{kind}");
            assert_eq!(summary["status"], status_of(kind));
        }
        let booking = json!({"venue_id": "v", "status": "failed", "error_code": "e", "id": "bk"});
        let summary = &event(KINDS[0], Some(&booking)).document["data"]["object"];
        let expected = r#"{"id":"bk","status":"failed","error_code":"e"}"#;
        assert_eq!(summary.to_string(), expected);
    }
}
