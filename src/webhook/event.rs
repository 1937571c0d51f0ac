//! An event as its body tells it ("Events", 4).

use serde_json::Value;

use crate::json::plain;

/// The names that the specification leaves open.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// Field of the event's id.
    pub(crate) id: String,
    /// Field of the event's kind.
    pub(crate) kind: String,
    /// `<Service>`, which headers begin with.
    pub(crate) service: String,
}

impl Names {
    /// The header that carries the signature, in lower case.
    pub(crate) fn signature_header(&self) -> String {
        format!("{}-signature", self.service.to_ascii_lowercase())
    }

    /// The header that carries the number of the delivery's attempt, in lower case.
    pub(crate) fn attempt_header(&self) -> String {
        format!("{}-delivery-attempt", self.service.to_ascii_lowercase())
    }
}

/// What is read of an event; everything else is in its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: String,
    /// Such as `booking.confirmed`; empty where it says none.
    pub(crate) kind: String,
    pub(crate) booking: Option<String>,
    /// The booking's status when it was sent: a hint, no more ("Events", 7).
    pub(crate) status: Option<String>,
}

impl Event {
    /// Reads a body; `None` where it is no JSON object or has no id, by which alone deliveries can be told apart.
    pub(crate) fn read(body: &[u8], names: &Names) -> Option<Self> {
        let event: Value = serde_json::from_slice(body).ok()?;
        let booking = event.get("data").and_then(|data| data.get("object"));
        let of_booking = |field| booking.and_then(|it| it.get(field)).and_then(text);
        Some(Event {
            id: event.get(&names.id).and_then(text)?,
            kind: event.get(&names.kind).and_then(text).unwrap_or_default(),
            booking: of_booking("id"),
            status: of_booking("status"),
        })
    }

    /// What it keeps its order in: the events of one booking, and else it alone.
    pub(crate) fn lane(&self) -> &str {
        self.booking.as_deref().unwrap_or(&self.id)
    }
}

/// A text or a number that says something.
fn text(value: &Value) -> Option<String> {
    let is_scalar = value.is_string() || value.is_number();
    is_scalar.then(|| plain(value)).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Option<Event> {
        let names = Names {
            id: "id".into(),
            kind: "type".into(),
            service: "Booking".into(),
        };
        Event::read(body.as_bytes(), &names)
    }

    #[test]
    fn an_event_says_its_id_its_kind_and_the_booking_that_it_is_about() {
        let body = r#"{"id":"evt_1","type":"booking.confirmed","data":{"object":{"id":"bk_1","status":"confirmed"}}}"#;
        let event = read(body).unwrap();
        assert_eq!((event.id.as_str(), event.lane()), ("evt_1", "bk_1"));
        assert_eq!(event.kind, "booking.confirmed");
        assert_eq!(event.status.as_deref(), Some("confirmed"));
    }

    #[test]
    fn what_has_no_id_is_no_event_and_an_event_without_a_booking_is_one() {
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
        assert_eq!(read(r#"{"id":7,"data":3}"#).unwrap().lane(), "7");
    }
}
