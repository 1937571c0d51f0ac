//! The table of webhook events. Each is committed with the change that it reports.

use jiff::Timestamp;

use super::number::next_number;
use super::tx::Tx;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::transition::EventKind;
use crate::sandbox::wire::event::EventDocument;

impl Tx<'_> {
    /// Records an event with the booking as it is now, and queues its delivery.
    pub(super) fn record_event(
        &self,
        booking: &Booking,
        kind: EventKind,
        at: Timestamp,
    ) -> Result<(), ApiError> {
        let number = next_number();
        let document = EventDocument::of(number, kind, booking, at);
        let body = serde_json::to_string(&document)
            .map_err(|error| ApiError::Broken(error.to_string()))?;
        self.sql("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)")?
            .execute((
                number,
                &booking.organization,
                booking.number,
                kind.as_str(),
                at.as_millisecond(),
                body,
            ))?;
        self.queue_delivery(number, &booking.organization)?;
        Ok(())
    }
}
