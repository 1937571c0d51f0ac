//! The parts of an event's body that bookctl reads ("Events", 4).

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::json::{Document, read_body};
use crate::platform::crypto::sha256;
use crate::service::documents::booking::Booking;
use crate::service::documents::id::token;
use crate::service::mapping::{Mapping, Path, Search, Shape, member, shallowest};
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

pub(super) fn find_field<'a>(document: &'a Value, name: &str) -> Option<&'a Value> {
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
    match shallowest(event, Shape::Booking) {
        Search::Found(found) if found.objects.len() == 1 => Some(found.objects[0]),
        _ => None,
    }
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
}
