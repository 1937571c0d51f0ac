//! The table of webhook events. Each is committed with the change that it reports.

use jiff::Timestamp;
use rusqlite::Result;
use serde::Serialize;
use serde_json::Value;

use super::number::next_number;
use super::tx::{Tx, from_json, json};
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::transition::EventKind;
use crate::sandbox::wire::booking::BookingSummary;
use crate::sandbox::wire::{IdKind, Moment};

#[derive(Serialize)]
struct EventDocument<'a> {
    id: String,
    object: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    created_at: Moment,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    object: BookingSummary<'a>,
}

impl Tx<'_> {
    /// Records events of these kinds with the booking as it is now, and queues their deliveries.
    pub(super) fn record_events(
        &self,
        booking: &Booking,
        kinds: impl IntoIterator<Item = EventKind>,
        at: Timestamp,
    ) -> Result<()> {
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

    pub(super) fn insert_event(
        &self,
        booking: &Booking,
        kind: EventKind,
        at: Timestamp,
    ) -> Result<i64> {
        let number = next_number();
        let document = EventDocument {
            id: IdKind::Event.id(number),
            object: "event",
            kind: kind.as_str(),
            created_at: Moment(at),
            data: Data {
                object: BookingSummary::of(booking),
            },
        };
        let organization = &booking.organization;
        let row = (
            number,
            organization,
            booking.number,
            kind.as_str(),
            json(&document)?,
        );
        self.run("INSERT INTO events VALUES (?, ?, ?, ?, ?)", row)?;
        Ok(number)
    }

    /// The events of a booking as they are delivered, oldest first. Those before a webhook URL was set are among them.
    pub(crate) fn events(&self, booking: i64) -> Result<Vec<Value>> {
        let sql = "SELECT body FROM events WHERE booking = ? ORDER BY number";
        self.all(sql, [booking], |row| from_json(row, "body"))
    }
}
