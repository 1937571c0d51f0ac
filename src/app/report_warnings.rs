//! What was read from an answer, with the reader's doubts said to a person.

use jiff::Timestamp;

use crate::app::{Api, Facts, Ui};
use crate::json::Document;
use crate::outcome::Result;
use crate::service::documents::booking::Booking;
use crate::service::documents::certainty::Certainty;
use crate::service::documents::id::same_id;
use crate::service::mapping::Reading;
use crate::terminal::view::joined;

impl Api {
    /// Takes what was read, and warns of what could not be. Where nothing could, the error (15) has
    /// the answer as its body.
    pub(super) fn report_warnings<T>(&self, read: Result<Reading<T>>) -> Result<T> {
        let reading = read?;
        for warning in &reading.warnings {
            self.ui.out.warn(warning);
        }
        Ok(reading.item)
    }

    /// The booking in the response to a call that left at this time. `after_write`: whether it
    /// changed something, so that without a booking its outcome is unknown.
    pub(crate) fn booking_in(
        &self,
        answer: Document,
        left_at: Timestamp,
        after_write: bool,
    ) -> Result<Booking> {
        let read = self.facts.mapping().booking(answer, after_write);
        let mut booking = self.report_warnings(read)?;
        booking.left_at = Some(left_at);
        Ok(booking)
    }

    /// Whether a booking is the one with this id, in whatever form the response writes it. Then it
    /// has the id under which this computer knows it.
    pub(crate) fn identified(&self, booking: Booking, id: &str) -> (Booking, bool) {
        let is_it = same_id(booking.id(), id);
        let knows_it = || self.records.journal().and_then(|it| it.made(id)).unwrap_or_default();
        match is_it && booking.id() != id && self.records.has_journal() && knows_it() {
            true => (booking.with_id(id), true),
            false => (booking, is_it),
        }
    }
}

/// Notes what stands around the list in a response, such as a total, unless the spec has it.
pub(crate) fn note_envelope(facts: &Facts, ui: &Ui, envelope_fields: &[(String, String)]) {
    /// Fields of the specification around its lists, which are requested or shown elsewhere.
    const KNOWN: [&str; 3] = ["object", "venue_id", "providers_failed"];
    if facts.certainty() == Certainty::Contract {
        return;
    }
    let is_known = |path: &str| {
        let name = path.split('[').next().unwrap_or_default();
        KNOWN.contains(&name)
    };
    let parts = envelope_fields.iter().filter(|(path, _)| !is_known(path));
    let parts = joined(parts.map(|(path, text)| Some(format!("{path} = {text}"))));
    if let Some(parts) = parts.filter(|_| ui.out.is_human()) {
        ui.out.note(&format!("also in the response: {parts}"));
    }
}
