//! What a booking waits for: the question, where it was sent, and the time left.

use jiff::Timestamp;
use serde_json::Value;

use crate::json::plain;
use crate::model::booking::Booking;
use crate::model::money::money;
use crate::model::time_text::dated;
use crate::model::zone::system_zone;
use crate::terminal::output::Page;

/// The fields of `next_action` that have a place on the card, in addition to the dialect's own.
pub(super) const SHOWN: &[&str] = &[
    "message",
    "channel",
    "sent_to",
    "expires_at",
    "amount",
    "currency",
    "psp_request",
    "fields",
];

/// The names in `next_action.fields`.
pub(crate) fn asked_fields(action: Option<&Value>) -> Vec<String> {
    let fields = action
        .and_then(|action| action.get("fields"))
        .and_then(Value::as_array);
    fields
        .map(|fields| {
            fields
                .iter()
                .map(plain)
                .filter(|field| !field.is_empty())
                .collect()
        })
        .unwrap_or_default()
}

/// Adds the question, where it was sent, and the time left.
pub(crate) fn pause(page: &mut Page, booking: &Booking, now: Timestamp) {
    if let Some(action) = booking.next_action() {
        let text = |field: &str| action.get(field).and_then(Value::as_str);
        page.field_if("waiting for", waiting_for(action));
        page.field_if(
            "amount",
            action
                .get("amount")
                .and_then(|amount| money(amount, text("currency"))),
        );
        page.field_if("payment data", action.get("psp_request").map(parts));
        let fields = asked_fields(Some(action));
        if !fields.is_empty() {
            page.field("fields", fields.join(", "));
        }
    }
    if let Some(deadline) = booking.waits_until() {
        let label = if deadline > now { "expires" } else { "expired" };
        page.field(label, dated(deadline, now, &system_zone()));
    }
}

/// The service's question, and where it was sent: `Enter the code (sent to +44 ··· 21 by sms)`.
fn waiting_for(action: &Value) -> Option<String> {
    let text = |field: &str| action.get(field).and_then(Value::as_str);
    let sent = text("sent_to").map(|to| match text("channel") {
        Some(channel) => format!("sent to {to} by {channel}"),
        None => format!("sent to {to}"),
    });
    match (text("message"), sent) {
        (Some(question), Some(sent)) => Some(format!("{question} ({sent})")),
        (question, sent) => question.map(str::to_owned).or(sent),
    }
}

/// The members of an object on one line: `approval_id psp_1 · amount 4600`.
fn parts(object: &Value) -> String {
    match object.as_object() {
        Some(object) => {
            let parts = object
                .iter()
                .map(|(key, value)| format!("{key} {}", plain(value)));
            parts.collect::<Vec<_>>().join(" · ")
        }
        None => plain(object),
    }
}
