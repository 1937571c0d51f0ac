//! Sample events of any kind, for a real or an invented booking ("Events", 2 and 4).

use jiff::{Timestamp, ToSpan};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::event::at;
use crate::adapter::{Dialect, Path};

/// The kinds of events ("Events", 2).
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
const SUMMARY_FIELDS: [&str; 8] = [
    "id",
    "object",
    "status",
    "provider",
    "error_code",
    "error_message",
    "next_action",
    "last_modification",
];

/// The fields of `next_action` of any type, without the type itself.
const ACTION_FIELDS: [&str; 8] = [
    "message",
    "channel",
    "sent_to",
    "amount",
    "currency",
    "psp_request",
    "fields",
    "expires_at",
];

/// The fields of its `psp_request` in the sandbox.
const PAYMENT_FIELDS: [&str; 4] = ["approval_id", "merchant", "amount", "currency"];

/// The fields of a booking that can be modified, as in `last_modification.changes`.
const MODIFIABLE_FIELDS: [&str; 3] = ["datetime", "party_size", "seating_preference"];

/// Sets a field at its name or path. What the service writes into a header stands in the body under its own name, so that
/// it is found where no profile says so.
fn insert(event: &mut Map<String, Value>, name: &str, own: &str, value: Value) {
    let path = Path::parse(name).filter(|_| !name.starts_with("header:"));
    let is_set = path.is_some_and(|path| path.set(event, value.clone()).is_ok());
    if !is_set {
        event.insert(own.to_owned(), value);
    }
}

#[derive(Clone, Debug)]
pub(crate) struct SampleEvent {
    document: Value,
    id_field: String,
    type_field: String,
    action_field: String,
}

impl SampleEvent {
    pub(crate) fn new(kind: &str, summary: Value, dialect: &Dialect, now: Timestamp) -> Self {
        let mut event = Map::new();
        insert(
            &mut event,
            &dialect.event_id_field,
            "id",
            json!(new_id("evt")),
        );
        event.insert("object".to_owned(), json!("event"));
        insert(&mut event, &dialect.event_type_field, "type", json!(kind));
        event.insert("created_at".to_owned(), json!(now.to_string()));
        event.insert("data".to_owned(), json!({ "object": summary }));
        SampleEvent {
            document: event.into(),
            id_field: dialect.event_id_field.clone(),
            type_field: dialect.event_type_field.clone(),
            action_field: dialect.next_action_type_field.clone(),
        }
    }

    pub(crate) fn invented(kind: &str, dialect: &Dialect, now: Timestamp) -> Self {
        SampleEvent::new(kind, invented_summary(kind, dialect, now), dialect, now)
    }

    pub(crate) fn document(&self) -> &Value {
        &self.document
    }

    /// The event's id; empty if it was set to something else than a string.
    pub(crate) fn id(&self) -> &str {
        let id = at(&self.document, &self.id_field).or_else(|| self.document.get("id"));
        id.and_then(Value::as_str).unwrap_or_default()
    }

    /// The body as the service sends it: compact JSON.
    pub(crate) fn body(&self) -> Vec<u8> {
        self.document.to_string().into_bytes()
    }

    /// Sets the field at a path such as `data.object.status`. The error lists the valid paths.
    pub(crate) fn set(&mut self, path: &str, value: Value) -> Result<(), String> {
        let known = self.paths();
        if !known.iter().any(|it| it == path) {
            return Err(known.join(", "));
        }
        let mut place = &mut self.document;
        for name in path.split('.') {
            if !place.is_object() {
                *place = json!({});
            }
            place = &mut place[name];
        }
        *place = value;
        Ok(())
    }

    /// The paths of all fields that the event has or may have.
    fn paths(&self) -> Vec<String> {
        let mut paths = vec![
            self.id_field.clone(),
            "object".to_owned(),
            self.type_field.clone(),
            "created_at".to_owned(),
        ];
        paths.extend(SUMMARY_FIELDS.map(|field| format!("data.object.{field}")));
        let action = "data.object.next_action";
        paths.push(format!("{action}.{}", self.action_field));
        paths.extend(ACTION_FIELDS.map(|field| format!("{action}.{field}")));
        paths.extend(PAYMENT_FIELDS.map(|field| format!("{action}.psp_request.{field}")));
        let modification = "data.object.last_modification";
        paths.extend(["at", "changes"].map(|field| format!("{modification}.{field}")));
        for field in MODIFIABLE_FIELDS {
            let path = format!("{modification}.changes.{field}");
            paths.extend(["", ".from", ".to"].map(|end| format!("{path}{end}")));
        }
        // A real booking's action may have further fields.
        let mut inner = Vec::new();
        for path in [action, modification] {
            let field = path.rsplit('.').next().unwrap_or_default();
            collect(&self.document["data"]["object"][field], path, &mut inner);
        }
        inner.retain(|path| !paths.contains(path));
        paths.extend(inner);
        paths
    }
}

fn collect(value: &Value, path: &str, paths: &mut Vec<String>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        collect(value, &path, paths);
        paths.push(path);
    }
}

/// The summary of a booking in an event: some of its fields, in the order of [`SUMMARY_FIELDS`].
pub(crate) fn summary_of(booking: &Value) -> Value {
    let fields = SUMMARY_FIELDS.iter().filter_map(|field| {
        let value = booking.get(field)?;
        Some(((*field).to_owned(), value.clone()))
    });
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

    fn invented(kind: &str) -> SampleEvent {
        SampleEvent::invented(kind, &Dialect::default(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn an_event_has_the_fields_of_the_specification_and_no_other() {
        for kind in KINDS {
            let event = invented(kind);
            let document = event.document();
            assert_eq!(document["type"], kind);
            assert!(event.id().starts_with("evt_"));
            let summary = document["data"]["object"].as_object().unwrap();
            assert!(
                summary
                    .keys()
                    .all(|key| SUMMARY_FIELDS.contains(&key.as_str())),
                "{kind}"
            );
            assert_eq!(summary["status"], status_of(kind));
        }
    }

    #[test]
    fn fields_are_set_by_their_paths_and_unknown_paths_are_refused_with_the_known_ones() {
        let mut event = invented("booking.requires_action");
        for path in [
            "id",
            "data.object.status",
            "data.object.error_code",
            "data.object.next_action.sent_to",
            "data.object.next_action.psp_request.approval_id",
            "data.object.last_modification.at",
            "data.object.last_modification.changes.party_size.to",
        ] {
            event.set(path, json!("x")).unwrap();
            let pointer = format!("/{}", path.replace('.', "/"));
            assert_eq!(event.document().pointer(&pointer), Some(&json!("x")));
        }
        for path in [
            "",
            "status",
            "data",
            "data.object",
            "data.object.staus",
            "data.object.next_action.x.y",
            "data.object.next_action.sms",
            "data.object.last_modification.changes.customer",
            "data.object.last_modification.changes.party_size.by",
        ] {
            let known = event.set(path, json!(1)).unwrap_err();
            assert!(known.contains("data.object.status"), "{known}");
        }
    }

    #[test]
    fn a_summary_has_the_fields_of_events() {
        let booking = json!({"venue_id": "v", "status": "failed", "error_code": "e", "id": "bk"});
        assert_eq!(
            summary_of(&booking).to_string(),
            r#"{"id":"bk","status":"failed","error_code":"e"}"#
        );
    }
}
