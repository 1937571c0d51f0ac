//! Events made on purpose: well-formed, of any kind, for a real booking or a made-up one ("Events", 2 and 4).

use jiff::{Timestamp, ToSpan};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::adapter::Dialect;

/// The event kinds that there are ("Events", 2).
pub(crate) const KINDS: [&str; 7] = [
    "booking.created",
    "booking.requires_action",
    "booking.processing",
    "booking.confirmed",
    "booking.failed",
    "booking.cancelled",
    "booking.modified",
];

/// What a booking's summary may hold; what is not always there comes last.
const SUMMARY: [&str; 8] = [
    "id",
    "object",
    "status",
    "provider",
    "error_code",
    "error_message",
    "next_action",
    "last_modification",
];

/// What `next_action` may hold beside its kind, whatever that is.
const ACTION: [&str; 8] = [
    "message",
    "channel",
    "sent_to",
    "amount",
    "currency",
    "psp_request",
    "fields",
    "expires_at",
];

/// What its `psp_request` holds where the sandbox asks for a payment.
const REQUEST: [&str; 4] = ["approval_id", "merchant", "amount", "currency"];

/// What a modification may change, and `last_modification` tells.
const CHANGES: [&str; 3] = ["datetime", "party_size", "seating_preference"];

/// An event as it is posted.
#[derive(Clone, Debug)]
pub(crate) struct Specimen {
    document: Value,
    id_field: String,
    type_field: String,
    action_field: String,
}

impl Specimen {
    /// An event of this kind about a booking's summary.
    pub(crate) fn new(kind: &str, summary: Value, dialect: &Dialect, now: Timestamp) -> Self {
        let mut event = Map::new();
        event.insert(dialect.event_id_field.clone(), json!(new_id("evt")));
        event.insert("object".to_owned(), json!("event"));
        event.insert(dialect.event_type_field.clone(), json!(kind));
        event.insert("created_at".to_owned(), json!(now.to_string()));
        event.insert("data".to_owned(), json!({ "object": summary }));
        Specimen {
            document: event.into(),
            id_field: dialect.event_id_field.clone(),
            type_field: dialect.event_type_field.clone(),
            action_field: dialect.next_action_type_field.clone(),
        }
    }

    /// One about a booking that there is not.
    pub(crate) fn made_up(kind: &str, dialect: &Dialect, now: Timestamp) -> Self {
        Specimen::new(kind, made_up_summary(kind, dialect, now), dialect, now)
    }

    pub(crate) fn document(&self) -> &Value {
        &self.document
    }

    /// The event's id, where it is text.
    pub(crate) fn id(&self) -> &str {
        self.document[&self.id_field].as_str().unwrap_or_default()
    }

    /// The body as the service writes it: one line.
    pub(crate) fn body(&self) -> Vec<u8> {
        self.document.to_string().into_bytes()
    }

    /// Sets the field at a path such as `data.object.status`. The error lists the paths that there are.
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

    /// Every path that an event has, or may have.
    fn paths(&self) -> Vec<String> {
        let mut paths = vec![
            self.id_field.clone(),
            "object".to_owned(),
            self.type_field.clone(),
            "created_at".to_owned(),
        ];
        paths.extend(SUMMARY.map(|field| format!("data.object.{field}")));
        let action = "data.object.next_action";
        paths.push(format!("{action}.{}", self.action_field));
        paths.extend(ACTION.map(|field| format!("{action}.{field}")));
        paths.extend(REQUEST.map(|field| format!("{action}.psp_request.{field}")));
        let modification = "data.object.last_modification";
        paths.extend(["at", "changes"].map(|field| format!("{modification}.{field}")));
        for field in CHANGES {
            let path = format!("{modification}.changes.{field}");
            paths.extend(["", ".from", ".to"].map(|end| format!("{path}{end}")));
        }
        // What is there may be changed, too: a real booking's action has more.
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

/// The summary of a booking's document: the fields that an event repeats, in its order.
pub(crate) fn summary_of(booking: &Value) -> Value {
    let fields = SUMMARY.iter().filter_map(|field| {
        let value = booking.get(field)?;
        Some(((*field).to_owned(), value.clone()))
    });
    Value::Object(fields.collect())
}

/// The status that a booking has when this is reported; a modified one stays confirmed.
pub(crate) fn status_of(kind: &str) -> &str {
    match kind.strip_prefix("booking.") {
        Some("created") => "processing",
        Some("modified") => "confirmed",
        Some(status) => status,
        None => "confirmed",
    }
}

fn made_up_summary(kind: &str, dialect: &Dialect, now: Timestamp) -> Value {
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

/// An id that no other has, later ones behind earlier ones.
pub(crate) fn new_id(prefix: &str) -> String {
    format!("{prefix}_{}", Uuid::now_v7().simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_up(kind: &str) -> Specimen {
        Specimen::made_up(kind, &Dialect::default(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn an_event_has_the_fields_of_the_specification_and_no_other() {
        for kind in KINDS {
            let event = made_up(kind);
            let document = event.document();
            assert_eq!(document["type"], kind);
            assert!(event.id().starts_with("evt_"));
            let summary = document["data"]["object"].as_object().unwrap();
            assert!(
                summary.keys().all(|key| SUMMARY.contains(&key.as_str())),
                "{kind}"
            );
            assert_eq!(summary["status"], status_of(kind));
        }
    }

    #[test]
    fn fields_are_set_by_their_paths_and_unknown_paths_are_refused_with_the_known_ones() {
        let mut event = made_up("booking.requires_action");
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
    fn a_booking_is_summed_up_in_the_fields_of_events() {
        let booking = json!({"venue_id": "v", "status": "failed", "error_code": "e", "id": "bk"});
        assert_eq!(
            summary_of(&booking).to_string(),
            r#"{"id":"bk","status":"failed","error_code":"e"}"#
        );
    }
}
