//! The table of webhook events. Each is committed with the change that it reports.

use jiff::Timestamp;
use serde_json::Value;

use super::bookings::json;
use super::number::next_number;
use super::tx::{Tx, invalid_column};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::transition::EventKind;
use crate::sandbox::wire::booking::{BookingSummary, EventData, EventDocument};
use crate::sandbox::wire::id::IdKind;
use crate::sandbox::wire::moment::Moment;

impl Tx<'_> {
    /// Records events of these kinds with the booking as it is now, and queues their deliveries.
    pub(super) fn record_events(
        &self,
        booking: &Booking,
        kinds: impl IntoIterator<Item = EventKind>,
        at: Timestamp,
    ) -> Result<(), ApiError> {
        let organization = self.organization(&booking.organization)?;
        let url = organization
            .as_ref()
            .and_then(|it| it.webhook_url.as_deref());
        for event in self.insert_events(booking, kinds, at)? {
            if let Some(url) = url {
                self.queue_delivery(event, url)?;
            }
        }
        Ok(())
    }

    /// Records events, and returns their numbers.
    pub(super) fn insert_events(
        &self,
        booking: &Booking,
        kinds: impl IntoIterator<Item = EventKind>,
        at: Timestamp,
    ) -> Result<Vec<i64>, ApiError> {
        let mut insert = self.sql("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)")?;
        let summary = BookingSummary::of(booking);
        let mut numbers = Vec::new();
        for kind in kinds {
            let number = next_number();
            let document = EventDocument {
                id: IdKind::Event.id(number),
                object: "event",
                kind: kind.as_str(),
                created_at: Moment(at),
                data: EventData { object: &summary },
            };
            insert.execute((
                number,
                &booking.organization,
                booking.number,
                kind.as_str(),
                at.as_millisecond(),
                json(&document)?,
            ))?;
            numbers.push(number);
        }
        Ok(numbers)
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
