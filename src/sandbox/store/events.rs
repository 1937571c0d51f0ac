//! The table of webhook events. Each is committed with the change that it reports.

use jiff::Timestamp;
use serde_json::Value;

use super::number::next_number;
use super::tx::{Tx, invalid_column};
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
        let number = self.insert_event(booking, kind, at)?;
        self.queue_delivery(number, &booking.organization)?;
        Ok(())
    }

    /// Records an event, and returns its number.
    pub(super) fn insert_event(
        &self,
        booking: &Booking,
        kind: EventKind,
        at: Timestamp,
    ) -> Result<i64, ApiError> {
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
        Ok(number)
    }

    /// The events of a booking as they are delivered, oldest first. Those before a webhook URL was set are among them.
    pub(crate) fn events(&self, booking: i64) -> rusqlite::Result<Vec<Value>> {
        self.sql("SELECT body FROM events WHERE booking = ? ORDER BY number")?
            .query_map([booking], |row| {
                let body: String = row.get(0)?;
                serde_json::from_str(&body).map_err(|_| invalid_column(0, &body))
            })?
            .collect()
    }
}
