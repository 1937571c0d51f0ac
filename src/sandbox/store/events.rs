//! Events, each committed with the change that it reports.

use jiff::Timestamp;

use super::ledger::Ledger;
use super::number::next_number;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::refusal::Refusal;
use crate::sandbox::rules::transition::EventKind;
use crate::sandbox::wire::event::EventDocument;

impl Ledger<'_> {
    /// Records what happened to the booking, as it stands now.
    pub(super) fn report(
        &self,
        booking: &Booking,
        kind: EventKind,
        at: Timestamp,
    ) -> Result<(), Refusal> {
        let number = next_number();
        let document = EventDocument::of(number, kind, booking, at);
        let body =
            serde_json::to_string(&document).map_err(|error| Refusal::Broken(error.to_string()))?;
        self.sql("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)")?
            .execute((
                number,
                &booking.organization,
                booking.number,
                kind.as_str(),
                at.as_millisecond(),
                body,
            ))?;
        self.dispatch(number, &booking.organization)?;
        Ok(())
    }
}
