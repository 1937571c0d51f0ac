//! What a booking waits for: the question, where it was sent, and the time left.

use jiff::Timestamp;
use serde_json::Value;

use crate::adapter::Pause;
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

/// Adds what is needed, where it was sent, the service's own words, and when it expires.
pub(crate) fn pause(page: &mut Page, booking: &Booking, kind: Pause, now: Timestamp) {
    if let Some(action) = booking.next_action() {
        let text = |field: &str| action.get(field).and_then(Value::as_str);
        page.field_if("waiting for", waiting_for(action, kind));
        page.field_if("message", text("message"));
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

/// What is needed, and where it was sent: `one-time code (sent to +44 ··· 21 by sms)`.
fn waiting_for(action: &Value, kind: Pause) -> Option<String> {
    let text = |field: &str| action.get(field).and_then(Value::as_str);
    let what = match kind {
        Pause::Otp => Some("one-time code"),
        Pause::Payment => Some("payment approval"),
        Pause::Other => None,
    };
    let sent = text("sent_to").map(|to| match text("channel") {
        Some(channel) => format!("sent to {to} by {channel}"),
        None => format!("sent to {to}"),
    });
    match (what, sent) {
        (Some(what), Some(sent)) => Some(format!("{what} ({sent})")),
        (what, sent) => what.map(str::to_owned).or(sent),
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
