//! One booking: the state first, then why, then what can be done next as a command.

use jiff::Timestamp;
use serde_json::Value;

use super::tone_of;
use crate::api::Dialect;
use crate::catalog;
use crate::model::booking::{Booking, Status};
use crate::model::document::{Document, plain};
use crate::model::moment::{human, remaining};
use crate::model::money::money;
use crate::output::{Page, View};

/// A booking as a card.
pub(crate) struct BookingView<'a> {
    pub(crate) booking: &'a Booking,
    pub(crate) dialect: &'a Dialect,
    /// The service's now, for what is left until a deadline.
    pub(crate) now: Timestamp,
}

impl View for BookingView<'_> {
    fn json(&self) -> Document {
        self.booking.document().clone()
    }

    fn page(&self) -> Page {
        let booking = self.booking;
        let mut page = Page::default();
        page.heading(
            tone_of(&booking.status()),
            booking.status().as_str(),
            booking.id(),
        );
        self.state(&mut page);
        page.field_if(
            "venue",
            booking.str("venue_name").or(booking.str("venue_id")),
        );
        page.field_if("when", booking.str("datetime").map(human));
        page.field_if("party", booking.value().get("party_size").map(plain));
        page.field_if("seating", booking.str("seating_preference"));
        page.field_if("guest", guest(booking.value()));
        page.field_if("end user", booking.str("end_user"));
        page.field_if("provider", booking.str("provider"));
        page.field_if("payment", booking.str("payment_collection"));
        page.field_if("changed", last_change(booking.value()));
        for command in self.next_commands() {
            page.next(command);
        }
        page
    }
}

impl BookingView<'_> {
    /// What the state means, and why it is so.
    fn state(&self, page: &mut Page) {
        let booking = self.booking;
        let status = booking.status();
        if let Some(code) = booking.error_code() {
            let known = catalog::entry(code);
            let why = booking.str("error_message").map(str::to_owned);
            let why = why.or_else(|| known.map(|entry| entry.meaning.to_owned()));
            page.field(
                "why",
                why.map_or_else(|| code.to_owned(), |why| format!("{why} ({code})")),
            );
            page.field_if("retry", known.map(|entry| entry.retry.advice()));
            page.field_if("advice", known.map(|entry| entry.next));
        } else if !matches!(status, Status::Confirmed | Status::RequiresAction) {
            page.field_if(
                "means",
                catalog::entry(status.as_str()).map(|entry| entry.meaning),
            );
        }
        if status == Status::RequiresAction {
            pause(page, booking, self.now);
        }
    }

    /// What can be done next, as commands to copy.
    fn next_commands(&self) -> Vec<String> {
        let id = shell_word(self.booking.id());
        match self.booking.status() {
            Status::RequiresAction => {
                let action = self.booking.next_action();
                let kind =
                    action.and_then(|action| action.get(&self.dialect.next_action_type_field));
                let kind = kind.and_then(Value::as_str).unwrap_or_default();
                if kind == self.dialect.otp_action {
                    vec![format!("bookctl continue {id} --otp CODE")]
                } else if kind == self.dialect.payment_action {
                    vec![
                        format!("bookctl continue {id} --psp-response @answer.json"),
                        format!("bookctl continue {id} --psp-abort"),
                    ]
                } else {
                    let fields = asked_fields(action);
                    let fields = if fields.is_empty() {
                        vec!["key".to_owned()]
                    } else {
                        fields
                    };
                    let flags: Vec<String> = fields
                        .iter()
                        .map(|field| format!("-F {}=VALUE", shell_word(field)))
                        .collect();
                    vec![format!("bookctl continue {id} {}", flags.join(" "))]
                }
            }
            Status::Processing => vec![format!("bookctl watch {id}")],
            Status::Confirmed => vec![
                format!("bookctl modify {id} --at WHEN --party N"),
                format!("bookctl cancel {id}"),
            ],
            _ => vec![],
        }
    }
}

/// A text as one word of a shell: what the service sent is never a command of its own.
pub(crate) fn shell_word(text: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    if !text.is_empty() && text.chars().all(harmless) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The fields that a pause lists.
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

/// What is asked, where it was sent, and how long is left.
pub(crate) fn pause(page: &mut Page, booking: &Booking, now: Timestamp) {
    let Some(action) = booking.next_action() else {
        return;
    };
    let text = |field: &str| action.get(field).and_then(Value::as_str);
    page.field_if("asked", text("message"));
    let sent = text("sent_to").map(|to| match text("channel") {
        Some(channel) => format!("{to} ({channel})"),
        None => to.to_owned(),
    });
    page.field_if("sent to", sent);
    page.field_if(
        "amount",
        action
            .get("amount")
            .and_then(|amount| money(amount, text("currency"))),
    );
    page.field_if("vendor", action.get("psp_request").map(parts));
    let fields = asked_fields(Some(action));
    if !fields.is_empty() {
        page.field("fields", fields.join(", "));
    }
    if let Some(deadline) = booking.deadline() {
        let left = if deadline > now {
            format!("{} left", remaining(now, deadline))
        } else {
            "over".to_owned()
        };
        page.field(
            "until",
            format!("{} · {left}", human(&deadline.to_string())),
        );
    }
}

/// The parts of an object in one line: `approval_id psp_1 · amount 4600`.
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

fn guest(booking: &Value) -> Option<String> {
    let customer = booking.get("customer")?;
    let parts = ["name", "email", "phone"]
        .iter()
        .filter_map(|field| customer.get(*field))
        .map(plain);
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

fn last_change(booking: &Value) -> Option<String> {
    let changes = booking
        .get("last_modification")?
        .get("changes")?
        .as_object()?;
    let changes = changes.iter().map(|(field, change)| {
        let side = |name: &str| change.get(name).map(plain).unwrap_or_default();
        format!("{field} {} → {}", side("from"), side("to"))
    });
    Some(changes.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Look, Wants};
    use serde_json::json;

    fn card(value: Value) -> String {
        let booking = Booking::from_document(value.into()).unwrap();
        let now = "2026-12-01T10:00:00Z".parse().unwrap();
        let view = BookingView {
            booking: &booking,
            dialect: &Dialect::default(),
            now,
        };
        view.page()
            .render(&Look::decide(Wants::default(), false, 0))
    }

    #[test]
    fn a_paused_booking_says_what_is_asked_where_it_was_sent_and_how_long_is_left() {
        let card = card(json!({
            "id": "bk_1", "status": "requires_action", "next_action": {
                "type": "otp", "message": "Enter the code", "channel": "sms", "sent_to": "+44 ··· 21",
                "expires_at": "2026-12-01T10:14:32Z",
            },
        }));
        for part in [
            "requires_action\tbk_1\n",
            "Enter the code",
            "+44 ··· 21 (sms)",
            "14:32 left",
            "next\tbookctl continue bk_1 --otp CODE",
        ] {
            assert!(card.contains(part), "{part} in\n{card}");
        }
    }

    #[test]
    fn a_failed_booking_says_why_and_whether_trying_again_is_safe() {
        let card = card(
            json!({"id": "bk_1", "status": "failed", "error_code": "payment_outcome_unknown"}),
        );
        assert!(
            card.contains("why\tthe card may have reached the venue (payment_outcome_unknown)"),
            "{card}"
        );
        assert!(
            card.contains("retry\tnot safe to repeat: check first"),
            "{card}"
        );
    }
}
