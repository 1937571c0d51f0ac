//! A booking as a card: the state, the reason, the details, and the commands that can follow.

use jiff::Timestamp;
use serde_json::Value;

use super::pause::{self, pause};
use super::{capitalised, next_step, tone_of};
use crate::adapter::{Dialect, Pause};
use crate::json::{Document, plain};
use crate::model::booking::{Booking, Status};
use crate::model::slot::{cancellation_terms, card_terms};
use crate::model::time_text::{dated, human, with_own_time};
use crate::model::zone::system_zone;
use crate::outcome::code::{self, Retry};
use crate::terminal::output::{Page, View};

/// A booking as a card.
pub(crate) struct BookingView<'a> {
    pub(crate) booking: &'a Booking,
    pub(crate) dialect: Dialect,
    /// The service's current time, for the time left until a deadline.
    pub(crate) now: Timestamp,
}

/// The fields that have a place of their own on the card. All others follow at its end.
const SHOWN: &[&str] = &[
    "id",
    "object",
    "status",
    "provider",
    "venue_id",
    "venue_name",
    "datetime",
    "party_size",
    "customer",
    "end_user",
    "seating_preference",
    "payment_collection",
    "card_terms",
    "cancellation_terms",
    "error_code",
    "error_message",
    "next_action",
    "last_modification",
    "expires_at",
    "created_at",
    "updated_at",
];

impl View for BookingView<'_> {
    fn json(&self) -> Document {
        self.booking.document().clone()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.heading(
            tone_of(&self.booking.status()),
            self.booking.status().as_str(),
            self.booking.id(),
        );
        self.state(&mut page);
        self.guest(&mut page);
        self.venue(&mut page);
        let modified = self.booking.value().get("last_modification");
        let modified = modified.and_then(|it| it.get("at")?.as_str());
        page.field_if("changed", modified.map(|at| self.time(at)));
        for change in last_changes(self.booking.value()) {
            page.field("change", change);
        }
        self.others(&mut page);
        page.field_if("note", next_step::limits(self.booking, &self.dialect));
        for command in next_step::commands(self.booking, &self.dialect, self.now) {
            page.next(command);
        }
        page
    }
}

impl BookingView<'_> {
    /// What the state means, the reason, what to do about it, and the times.
    fn state(&self, page: &mut Page) {
        let booking = self.booking;
        let status = booking.status();
        let code = booking.error_code();
        let known = code.and_then(code::entry);
        // An error code says more than the general meaning of a failure, and the question more than that of a pause.
        let says_more = match status {
            Status::Failed => known.is_some(),
            Status::RequiresAction => booking.next_action().is_some(),
            _ => false,
        };
        if let Some(entry) = code::entry(status.as_str()).filter(|_| !says_more) {
            let (state, meaning) = (status.as_str().replace('_', " "), entry.meaning);
            page.sentence(format!(
                "{}. {}.",
                capitalised(&state),
                capitalised(meaning)
            ));
        }
        let why = booking.str("error_message").map(str::to_owned);
        let why = why.or_else(|| known.map(|entry| entry.meaning.to_owned()));
        page.field_if(
            "why",
            match (why, code) {
                (Some(why), Some(code)) => Some(format!("{why} ({code})")),
                (why, code) => why.or_else(|| code.map(str::to_owned)),
            },
        );
        let advice = (booking.retry() != Retry::NotNeeded).then(|| booking.retry().advice());
        let parts = [advice, known.map(|entry| entry.next)];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        page.field_if("retry", Some(parts.join(": ")).filter(|it| !it.is_empty()));
        if status == Status::RequiresAction {
            let kind = self.dialect.pause(booking.next_action());
            pause(page, booking, kind, self.now);
        }
        match booking.since() {
            Some(since) => page.field("status since", self.moment(since)),
            None => page.field_if("updated", booking.str("updated_at").map(|at| self.time(at))),
        };
    }

    fn guest(&self, page: &mut Page) {
        let customer = self.booking.value().get("customer");
        for (label, field) in [("guest", "name"), ("email", "email"), ("phone", "phone")] {
            page.field_if(label, customer.and_then(|guest| shown(guest.get(field)?)));
        }
        page.field_if("party", self.said("party_size"));
        page.field_if("end user", self.said("end_user"));
        page.field_if("payment", self.said("payment_collection"));
    }

    fn venue(&self, page: &mut Page) {
        let booking = self.booking;
        let name_and_id = [booking.str("venue_name"), booking.str("venue_id")];
        let name_and_id: Vec<&str> = name_and_id.into_iter().flatten().collect();
        if !name_and_id.is_empty() {
            page.field("venue", name_and_id.join(" · "));
        }
        page.field_if("provider", self.said("provider"));
        let when = booking.str("datetime");
        page.field_if("when", when.map(|at| with_own_time(at, &system_zone())));
        page.field_if("seating", self.said("seating_preference"));
        page.field_if("card", card_terms(booking.value()));
        page.field_if("cancellation", cancellation_terms(booking.value()));
        let created = booking.str("created_at");
        if created.and_then(|at| at.parse().ok()) != booking.since() {
            page.field_if("created", created.map(|at| self.time(at)));
        }
    }

    /// The fields without a place of their own. Nothing is hidden.
    fn others(&self, page: &mut Page) {
        let booking = self.booking.value();
        let mut fields = SHOWN.to_vec();
        if self.booking.status() != Status::RequiresAction {
            fields.retain(|field| *field != "next_action");
        }
        let mut actions = pause::SHOWN.to_vec();
        if self.dialect.pause(self.pause()) != Pause::Other {
            actions.push(&self.dialect.next_action_type_field);
        }
        for (prefix, object, known) in [
            ("", Some(booking), &fields[..]),
            (
                "customer.",
                booking.get("customer"),
                &["name", "email", "phone"],
            ),
            ("next_action.", self.pause(), &actions),
            (
                "last_modification.",
                booking.get("last_modification"),
                &["at", "changes"],
            ),
        ] {
            let fields = object.and_then(Value::as_object).into_iter().flatten();
            for (field, value) in fields.filter(|(field, _)| !known.contains(&field.as_str())) {
                if let Some(value) = shown(value) {
                    page.field("other", format!("{prefix}{field} = {value}"));
                }
            }
        }
    }

    /// A field as text.
    fn said(&self, field: &str) -> Option<String> {
        shown(self.booking.value().get(field)?)
    }

    /// What the booking is waiting for, if anything.
    fn pause(&self) -> Option<&Value> {
        let waits = self.booking.status() == Status::RequiresAction;
        self.booking.next_action().filter(|_| waits)
    }

    /// A time of the booking, and how long ago it was.
    fn time(&self, text: &str) -> String {
        text.parse()
            .map_or_else(|_| human(text), |at| self.moment(at))
    }

    fn moment(&self, at: Timestamp) -> String {
        dated(at, self.now, &system_zone())
    }
}

/// Adds a field if it has a value.
fn shown(value: &Value) -> Option<String> {
    Some(plain(value)).filter(|text| !text.is_empty())
}

/// What the last modification changed, one line per field.
fn last_changes(booking: &Value) -> Vec<String> {
    let modification = booking.get("last_modification");
    let changes = modification.and_then(|it| it.get("changes")?.as_object());
    let changes = changes.into_iter().flatten().map(|(field, change)| {
        let side = |name: &str| match change.get(name).map(plain) {
            Some(text) if text.is_empty() => "none".to_owned(),
            Some(text) if text.parse::<Timestamp>().is_ok() => human(&text),
            Some(text) => text,
            None => "?".to_owned(),
        };
        format!("{field} {} → {}", side("from"), side("to"))
    });
    changes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::output::{ColorPrefs, StreamStyle};
    use serde_json::json;

    fn card(value: Value) -> String {
        let booking = Booking::from_document(value.into()).unwrap();
        let now = "2026-12-01T10:00:00Z".parse().unwrap();
        let view = BookingView {
            booking: &booking,
            dialect: Dialect::default(),
            now,
        };
        view.page()
            .render(&StreamStyle::decide(ColorPrefs::default(), false, 0))
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
            "(sent to +44 ··· 21 by sms)",
            "expires\tin 14 minutes (10:14 UTC)",
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
            card.contains("why\t") && card.contains(" (payment_outcome_unknown)\n"),
            "{card}"
        );
        assert!(
            card.contains(&format!("retry\t{}: ", Retry::CheckFirst.advice())),
            "{card}"
        );
        assert!(card.contains("retry\tnot safe, check first"), "{card}");
    }
}
