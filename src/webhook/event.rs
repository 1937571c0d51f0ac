//! The parts of an event's body that bookctl reads ("Events", 4).

use serde_json::Value;

use crate::adapter::Dialect;
use crate::json::plain;

/// The names that differ between services; see the profile's dialect.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// The field of the event's id.
    pub(crate) id: String,
    /// The field of the event's kind.
    pub(crate) kind: String,
    /// The `<Service>` at the start of its headers' names.
    pub(crate) service: String,
}

impl Names {
    /// The names in a dialect.
    pub(crate) fn new(dialect: &Dialect) -> Self {
        Names {
            id: dialect.event_id_field.clone(),
            kind: dialect.event_type_field.clone(),
            service: dialect.service_name.clone(),
        }
    }

    /// The name of the signature header, in lower case.
    pub(crate) fn signature_header(&self) -> String {
        format!("{}-signature", self.service.to_ascii_lowercase())
    }

    /// The name of the header with the attempt's number, in lower case.
    pub(crate) fn attempt_header(&self) -> String {
        format!("{}-delivery-attempt", self.service.to_ascii_lowercase())
    }
}

/// An event's id, kind and booking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: String,
    /// Such as `booking.confirmed`; empty if the body has none.
    pub(crate) kind: String,
    pub(crate) booking: Option<String>,
    /// The booking's status when the event was sent. Events may arrive late or out of order, so this is only a hint
    /// ("Events", 7).
    pub(crate) status: Option<String>,
}

impl Event {
    /// Parses a body; `None` if it is not a JSON object with an id.
    pub(crate) fn read(body: &[u8], names: &Names) -> Option<Self> {
        let event: Value = serde_json::from_slice(body).ok()?;
        let booking = event.get("data").and_then(|data| data.get("object"));
        let booking_field = |field| booking.and_then(|it| it.get(field)).and_then(text);
        Some(Event {
            id: event.get(&names.id).and_then(text)?,
            kind: event.get(&names.kind).and_then(text).unwrap_or_default(),
            booking: booking_field("id"),
            status: booking_field("status"),
        })
    }

    /// Events with the same key are forwarded in order: the booking's id, or the event's own if it has no booking.
    pub(crate) fn ordering_key(&self) -> &str {
        self.booking.as_deref().unwrap_or(&self.id)
    }
}

/// A string or a number, if it is not empty.
fn text(value: &Value) -> Option<String> {
    let is_scalar = value.is_string() || value.is_number();
    is_scalar.then(|| plain(value)).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Option<Event> {
        Event::read(body.as_bytes(), &Names::new(&Dialect::default()))
    }

    #[test]
    fn an_event_has_an_id_a_kind_and_a_booking() {
        let body = r#"{"id":"evt_1","type":"booking.confirmed","data":{"object":{"id":"bk_1","status":"confirmed"}}}"#;
        let event = read(body).unwrap();
        assert_eq!((event.id.as_str(), event.ordering_key()), ("evt_1", "bk_1"));
        assert_eq!(event.kind, "booking.confirmed");
        assert_eq!(event.status.as_deref(), Some("confirmed"));
    }

    #[test]
    fn an_event_needs_an_id_but_no_booking() {
        for body in [
            "",
            "[]",
            "null",
            "{}",
            r#"{"id":""}"#,
            r#"{"id":{}}"#,
            "{\"id\":\"x\"",
        ] {
            assert_eq!(read(body), None, "{body}");
        }
        assert_eq!(read(r#"{"id":7,"data":3}"#).unwrap().ordering_key(), "7");
    }
}
