//! The table of webhook events. Each is committed with the change that it reports.

use jiff::Timestamp;
use serde_json::Value;

use super::number::next_number;
use super::tx::{Tx, from_json, json};
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::transition::EventKind;
use crate::sandbox::wire::IdKind;
use crate::sandbox::wire::Moment;
use crate::sandbox::wire::booking::{BookingSummary, EventData, EventDocument};

impl Tx<'_> {
    /// Records events of these kinds with the booking as it is now, and queues their deliveries.
    pub(super) fn record_events(
        &self,
        booking: &Booking,
        kinds: impl IntoIterator<Item = EventKind>,
        at: Timestamp,
    ) -> rusqlite::Result<()> {
        let organization = self.organization(&booking.organization)?;
        let url = organization.and_then(|it| it.webhook_url);
        for kind in kinds {
            let event = self.insert_event(booking, kind, at)?;
            if let Some(url) = &url {
                self.queue_delivery(event, url)?;
            }
        }
        Ok(())
    }

    /// Records an event, and returns its number.
    pub(super) fn insert_event(
        &self,
        booking: &Booking,
        kind: EventKind,
        at: Timestamp,
    ) -> rusqlite::Result<i64> {
        let number = next_number();
        let summary = BookingSummary::of(booking);
        let document = EventDocument {
            id: IdKind::Event.id(number),
            object: "event",
            kind: kind.as_str(),
            created_at: Moment(at),
            data: EventData { object: &summary },
        };
        self.sql("INSERT INTO events VALUES (?, ?, ?, ?, ?)")?
            .execute((
                number,
                &booking.organization,
                booking.number,
                kind.as_str(),
                json(&document)?,
            ))?;
        Ok(number)
    }

    /// The events of a booking as they are delivered, oldest first. Those before a webhook URL was set are among them.
    pub(crate) fn events(&self, booking: i64) -> rusqlite::Result<Vec<Value>> {
        let sql = "SELECT body FROM events WHERE booking = ? ORDER BY number";
        self.all(sql, [booking], |row| from_json(row, "body"))
    }
}
