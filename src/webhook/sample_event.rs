//! Sample events of any kind, for a real or an invented booking ("Events", 2 and 4).

use jiff::{Timestamp, ToSpan};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::event::find_field;
use crate::service::mapping::{Dialect, Path};

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

/// The fields of a booking's summary; the optional ones come last.
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
            Some(booking) => summary_of(booking),
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

/// The summary of a booking in an event: some of its fields, in the order of [`SUMMARY_FIELDS`].
fn summary_of(booking: &Value) -> Value {
    let fields = SUMMARY_FIELDS
        .split(' ')
        .filter_map(|field| Some((field.to_owned(), booking.get(field)?.clone())));
    Value::Object(fields.collect())
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
