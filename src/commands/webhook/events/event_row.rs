//! Finding a stored event, and its JSON.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::outcome::{Code, Error, Result};
use crate::webhook::{EventRow, State, Webhooks};

/// The event with this id.
///
/// # Errors
/// `unknown_event` (6) if there is none.
pub(super) fn find(webhooks: &Webhooks, id: &str) -> Result<EventRow> {
    webhooks.event(id)?.ok_or_else(|| {
        let shown = id.escape_debug();
        Error::new(
            Code::UnknownEvent,
            format!("no event {shown} of this service was received on this computer"),
        )
        .hint("list the received events with: bookctl webhook events list")
    })
}

/// A time in RFC 3339, with milliseconds.
pub(super) fn rfc3339(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// An event without its headers and body.
pub(super) fn event_json(row: &EventRow) -> Value {
    let mut event = json!({
        "event_id": row.event.id,
        "type": row.event.kind,
        "booking_id": row.event.booking,
        "status": row.event.status,
        "received_at": rfc3339(row.received_at),
        "state": row.state.as_str(),
        "duplicates": row.duplicates,
        "attempts": row.attempts,
    });
    if let Some(next) = row.next_at.filter(|_| row.state == State::Waiting) {
        event["next_attempt_at"] = json!(rfc3339(next));
    }
    event
}
