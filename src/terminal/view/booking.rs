//! A booking as a card: the state, the reason, the details, and the commands that can follow.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::fields::{Fields, change_text};
use super::local_bookings::{line_cells, time_left, tone_and_word};
use super::terms::TermsReader;
use super::{capitalised, joined, venue_place};
use crate::json::Document;
use crate::outcome::Exit;
use crate::outcome::code::{self, Retry};
use crate::service::documents::booking::{Booking, Status};
use crate::service::documents::certainty::Certainty;
use crate::service::documents::field_value::FieldValue;
use crate::service::documents::venue::Venue;
use crate::service::mapping::Dialect;
use crate::service::time::document_time::{DocumentTime, time_text};
use crate::service::time::text::{dated, with_own_time};
use crate::service::time::zone::system_zone;
use crate::terminal::output::{Page, TableCell, View};

pub(crate) struct BookingView {
    pub(crate) booking: Booking,
    pub(crate) dialect: Dialect,
    pub(crate) now: Timestamp,
    pub(crate) certainty: Certainty,
    /// The terms of the slot that was booked, if this computer keeps them.
    pub(crate) terms: Option<Value>,
    pub(crate) venue: Option<Venue>,
    /// Who made it, if others share the journal.
    pub(crate) made_by: Option<String>,
    /// The command that says where the response has a field.
    pub(crate) map_it: String,
    /// What a create asked for and the response does not show, as a sentence.
    pub(crate) unshown: Option<String>,
    /// Whether its pause was answered just now: another answer would be a second one.
    pub(crate) is_answered: bool,
    /// Whether its details stand on the screen above.
    pub(crate) is_on_screen: bool,
}

impl View for BookingView {
    fn json(&self) -> Document {
        self.booking.document.clone()
    }

    fn draw(&self, page: &mut Page) {
        let fields = &mut Fields::from_document(self.booking.value());
        fields.scalar("id");
        fields.text("status");
        let status = self.booking.status();
        let (tone, word) = tone_and_word(&self.booking, self.now);
        let state = match (&status, self.booking.exit()) {
            // Money may have moved.
            (Status::Failed, Exit::OutcomeUnknown) => TableCell::from("failed, do not book again"),
            _ => TableCell::from(status.as_str()).in_short(Some(word)),
        };
        page.heading(tone, state, self.booking.id());
        if let Some(unshown) = &self.unshown {
            page.sentence(unshown.clone());
        }
        self.state(page, fields);
        if !self.is_on_screen {
            self.details(page, fields);
        }
        page.field_if("note", self.restrictions());
        for command in self.commands() {
            page.next(command);
        }
    }
}

pub(crate) struct BookingLine(pub(crate) BookingView);

impl View for BookingLine {
    fn json(&self) -> Document {
        self.0.json()
    }

    fn draw(&self, page: &mut Page) {
        let view = &self.0;
        let booking = &view.booking;
        let left = time_left(booking, view.now).map(|left| format!(", {left}"));
        let state = tone_and_word(booking, view.now).1 + &left.unwrap_or_default();
        let when = booking.value().get("datetime").map(time_text);
        let venue = booking.venue_name().or_else(|| booking.venue_id());
        let error_code = booking.error_code().map(str::to_owned);
        let parts = [Some(state), booking.guest(), when, venue, error_code];
        let line = joined(parts.into_iter().chain([Some(booking.id().to_owned())]));
        page.columns(line_cells(booking, line, view.now));
    }
}

impl BookingView {
    fn details<'a>(&'a self, page: &mut Page, fields: &mut Fields<'a>) {
        self.visit(page, fields);
        // A booking of the sandbox must not pass for one that a venue knows of.
        page.field_if("service", (self.certainty == Certainty::Contract).then_some("sandbox"));
        self.terms(page, fields);
        self.since(page, fields);
        self.changes(page, fields);
        // The fields without a place of their own, and around the booking. Nothing is hidden.
        for (path, value) in fields.rest().iter().chain(&self.booking.envelope_fields) {
            page.field("other", format!("{path} = {value}"));
        }
    }

    fn state<'a>(&'a self, page: &mut Page, fields: &mut Fields<'a>) {
        let booking = &self.booking;
        let status = booking.status();
        let code = fields.text("error_code");
        let known = code.and_then(code::entry);
        // An error code says more than the general meaning of a failure, and the question more than
        // that of a pause.
        let says_more = match status {
            Status::Failed => known.is_some(),
            Status::RequiresAction => booking.next_action().is_some(),
            _ => false,
        };
        if let Status::Other(word) = &status {
            page.sentence(format!("`{word}` is a status that bookctl does not know."));
        } else if let Some(entry) = code::entry(status.as_str()).filter(|_| !says_more) {
            let state = capitalised(&status.as_str().replace('_', " "));
            let meaning = match status == Status::Confirmed && booking.is_over(self.now) {
                true => "the venue expected this guest",
                false => entry.meaning,
            };
            page.sentence(format!("{state}. {}.", capitalised(meaning)));
        }
        let why = fields.text("error_message").or(known.map(|entry| entry.meaning));
        let why = match (why, code) {
            (Some(why), Some(code)) => Some(format!("{why} ({code})")),
            (why, code) => why.or(code).map(str::to_owned),
        };
        page.field_if("why", why);
        let next = known.map(|entry| entry.next);
        let wording = match booking.retry() {
            Retry::AfterCheck => Some("not yet"),
            // What comes next says what to correct.
            Retry::AfterFix => None,
            retry => retry.word(),
        };
        let parts: Vec<&str> = wording.into_iter().chain(next).collect();
        let again = (!parts.is_empty()).then(|| parts.join(": "));
        let again_what = if status == Status::Confirmed { "cancel again" } else { "book again" };
        page.field_if(again_what, again);
        page.field_if("tell guest", known.and_then(|entry| entry.code.for_the_guest()));
        if status == Status::RequiresAction {
            self.pause(page, fields);
        }
    }

    fn since(&self, page: &mut Page, fields: &mut Fields<'_>) {
        let since = self.booking.since();
        match since {
            // It is `updated_at`.
            Some(since) => {
                fields.scalar("updated_at");
                page.field("status since", self.moment(since));
            }
            None => self.time(page, fields, "updated", "updated_at"),
        }
        let is_since = |it| DocumentTime::read(it).filter(|created| created.instant == since);
        if fields.read("created_at", is_since).is_none() {
            self.time(page, fields, "created", "created_at");
        }
    }

    /// Who comes when, where and with how many; then what is needed less often.
    fn visit(&self, page: &mut Page, fields: &mut Fields<'_>) {
        let map_it = &self.map_it;
        let mark = |field| {
            move |text: String| match self.booking.from_request.contains(&field) {
                true => format!("asked for {text}; not found in the response (map it: {map_it})"),
                false => text,
            }
        };
        page.field_if("guest", fields.scalar("customer").map(mark("customer")));
        page.field_if("guest", fields.scalar("customer.name").map(mark("customer")));
        if let Some(when) = fields.scalar("datetime") {
            let zone = self.venue.as_ref().and_then(Venue::timezone).or_else(|| self.slot_zone());
            let when = match &self.booking.time {
                FieldValue::Read(time) => {
                    with_own_time(&time.on_clock_of(zone.as_ref()), &system_zone())
                }
                _ => format!("{when} is not understood (map it: {map_it})"),
            };
            page.field("when", mark("datetime")(when));
        }
        page.field_if("party", fields.scalar("party_size").map(mark("party_size")));
        let id = fields.scalar("venue_id").map(mark("venue_id"));
        page.field_if("venue", joined([fields.scalar("venue_name"), id]));
        page.field_if("where", self.venue.as_ref().and_then(venue_place));
        for (label, path) in [
            ("email", "customer.email"),
            ("phone", "customer.phone"),
            ("seating", "seating_preference"),
            ("provider", "provider"),
            ("account", "end_user"),
            ("payment", "payment_collection"),
        ] {
            let field = path.split('.').next().unwrap_or(path);
            page.field_if(label, fields.scalar(path).map(mark(field)));
        }
        page.field_if("made by", self.made_by.as_deref());
    }

    fn slot_zone(&self) -> Option<TimeZone> {
        DocumentTime::from_field(self.terms.as_ref()?, "datetime")?.offset().map(TimeZone::fixed)
    }

    /// The booking's own terms, else those of the slot that it was made with.
    fn terms(&self, page: &mut Page, fields: &mut Fields<'_>) {
        let stored = |name: &str| self.terms.as_ref()?.get(name);
        let reader = TermsReader {
            certainty: self.certainty,
            now: self.now,
            party: self.booking.head_count(),
        };
        // The booking's own price is listed with the other fields.
        let price = stored("price").filter(|_| fields.get("price").is_none());
        page.field_if("price", price.and_then(|it| reader.price(it)));
        let card = fields.take("card_terms").or_else(|| stored("card_terms"));
        let card = card.and_then(|it| reader.card(it));
        page.field_if("card", card.map(|terms| terms.text));
        let terms = fields.take("cancellation_terms").or_else(|| stored("cancellation_terms"));
        let terms = terms.and_then(|it| reader.cancellation(it));
        page.field_if("cancellation", terms.map(|terms| terms.text));
    }

    fn changes(&self, page: &mut Page, fields: &mut Fields<'_>) {
        self.time(page, fields, "changed", "last_modification.at");
        let changes = fields.get("last_modification.changes");
        for (field, change) in changes.and_then(Value::as_object).into_iter().flatten() {
            // Changes of another shape are listed with the other fields, as they came.
            let is_side = |name: &String| matches!(name.as_str(), "from" | "to");
            let sides = change.as_object().filter(|sides| !sides.is_empty());
            if sides.is_some_and(|sides| sides.keys().all(is_side)) {
                page.field("change", change_text(field, change));
                fields.took(change);
            }
        }
    }

    fn time(&self, page: &mut Page, fields: &mut Fields<'_>, label: &'static str, path: &str) {
        let instant = fields.time(path).and_then(|(_, time)| time.instant);
        let text = instant.map_or_else(|| fields.time_text(path), |at| Some(self.moment(at)));
        page.field_if(label, text);
    }

    pub(super) fn moment(&self, at: Timestamp) -> String {
        dated(at, self.now, &system_zone())
    }
}
