//! The table of bookings.

use jiff::Timestamp;
use rusqlite::{Result, Row};

use super::tx::{Tx, from_json, json, moment};
use crate::sandbox::rules::booking::StoredBooking;
use crate::sandbox::rules::state::CONFIRMED;
use crate::sandbox::rules::transition::{CREATED, Transition, webhook_of};
use crate::sandbox::wire::booking::BookingDocument;

impl Tx<'_> {
    /// Returns the document of the new booking. `url` is its organization's for webhooks.
    pub(crate) fn create_booking(
        &self,
        booking: &StoredBooking,
        url: Option<&str>,
    ) -> Result<String> {
        let document = self.save_booking(booking)?;
        let kinds = [CREATED.into()].into_iter().chain(webhook_of(booking.state.status()));
        self.record_events(booking, kinds, self.now, url)?;
        Ok(document)
    }

    /// Adds a booking with its events, in place of an earlier one of its number. The events are
    /// not delivered: they happened before the app was there.
    pub(crate) fn put_booking(&self, booking: &StoredBooking) -> Result<()> {
        for sql in [
            "DELETE FROM attempts WHERE event IN (SELECT number FROM events WHERE booking = ?)",
            "DELETE FROM deliveries WHERE event IN (SELECT number FROM events WHERE booking = ?)",
            "DELETE FROM events WHERE booking = ?",
            "DELETE FROM messages WHERE booking = ?",
            "DELETE FROM idempotency_keys WHERE booking = ?",
            "DELETE FROM bookings WHERE number = ?",
        ] {
            self.run(sql, [booking.number])?;
        }
        self.create_booking(booking, None).map(drop)
    }

    pub(crate) fn apply(
        &self,
        booking: &mut StoredBooking,
        transition: Transition,
        at: Timestamp,
    ) -> Result<()> {
        booking.state = transition.state;
        booking.updated_at = at;
        self.save_booking(booking)?;
        let url = self.organization(&booking.organization)?.and_then(|it| it.webhook_url);
        self.record_events(booking, transition.webhook, at, url.as_deref())
    }

    /// No booking has the number `None`, of a text that is no id.
    pub(crate) fn any_booking(&self, number: Option<i64>) -> Result<Option<StoredBooking>> {
        self.first(
            "SELECT booking, number, organization FROM bookings WHERE number = ?",
            [number],
            booking,
        )
    }

    /// A confirmed booking as the service shows it: most are, and need not be read and written
    /// again.
    pub(crate) fn confirmed(&self, owner: &str, number: Option<i64>) -> Result<Option<String>> {
        let sql = "SELECT document FROM bookings \
                   WHERE number = ? AND organization = ? AND status = 'confirmed'";
        self.first(sql, (number, owner), |row| row.get(0))
    }

    pub(crate) fn booking_of_key(&self, owner: &str, key: &str) -> Result<Option<StoredBooking>> {
        let sql = "SELECT booking, number, organization FROM bookings WHERE number = \
                   (SELECT booking FROM idempotency_keys WHERE organization = ? AND key = ?)";
        self.first(sql, (owner, key), booking)
    }

    pub(crate) fn save_idempotency_key(&self, key: &str, booking: &StoredBooking) -> Result<()> {
        let row = (&booking.organization, key, booking.number);
        self.run("INSERT INTO idempotency_keys VALUES (?, ?, ?)", row).map(drop)
    }

    pub(crate) fn bookings(&self, organization: Option<&str>) -> Result<Vec<StoredBooking>> {
        let sql = "SELECT booking, number, organization FROM bookings \
                   WHERE ?1 IS NULL OR organization = ?1 ORDER BY created_at, number";
        self.all(sql, [organization], booking)
    }

    /// The organization's unfinished bookings of the last day, oldest first.
    pub(crate) fn open_bookings(&self, organization: &str) -> Result<Vec<StoredBooking>> {
        const DAY_MS: i64 = 86_400_000;
        self.all(
            "SELECT booking, number, organization FROM bookings \
             WHERE status IN ('requires_action', 'processing') AND organization = ? AND created_at >= ? ORDER BY created_at, number",
            (organization, self.now_ms() - DAY_MS),
            booking,
        )
    }

    /// How many bookings of the organization occupy a slot. Each organization has slots of its own,
    /// so that tests that run at once do not take each other's.
    pub(crate) fn held(&self, organization: &str, slot: &str) -> Result<u32> {
        self.sql("SELECT count(*) FROM bookings WHERE held_slot = ? AND organization = ?")?
            .query_row((slot, organization), |row| row.get(0))
    }

    /// How many bookings of the test allowance the organization used, counted up to `limit`.
    pub(crate) fn used_allowance(&self, organization: &str, limit: u32) -> Result<u32> {
        self.sql(
            "SELECT count(*) FROM \
             (SELECT 1 FROM bookings WHERE organization = ? AND used_allowance = 1 LIMIT ?)",
        )?
        .query_row((organization, limit), |row| row.get(0))
    }

    /// The first booking of an organization that time alone is due to change, and when.
    pub(super) fn next_due_booking(
        &self,
        owner: &str,
    ) -> Result<Option<(StoredBooking, Timestamp)>> {
        self.first(
            "SELECT booking, number, organization, due_at FROM bookings \
             WHERE organization = ? AND due_at <= ? ORDER BY due_at, number LIMIT 1",
            (owner, self.now_ms()),
            |row| Ok((booking(row)?, moment(row.get("due_at")?)?)),
        )
    }

    /// Returns the document of the booking.
    pub(super) fn save_booking(&self, booking: &StoredBooking) -> Result<String> {
        let state = &booking.state;
        let status = state.status();
        let is_over = matches!(status, "failed" | "cancelled" | "expired");
        let held_slot = booking.slot_id.as_ref().filter(|_| !is_over);
        let was_confirmed = matches!(status, CONFIRMED | "cancelled");
        let document = json(&BookingDocument(booking))?;
        let row = (
            booking.number,
            &booking.organization,
            json(booking)?,
            &document,
            status,
            booking.created_at.as_millisecond(),
            state.due_at().map(Timestamp::as_millisecond),
            held_slot,
            booking.is_test && was_confirmed,
        );
        self.run(
            "INSERT INTO bookings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (number) DO UPDATE \
             SET booking = excluded.booking, document = excluded.document, \
             status = excluded.status, due_at = excluded.due_at, \
             held_slot = excluded.held_slot, used_allowance = excluded.used_allowance",
            row,
        )?;
        Ok(document)
    }
}

fn booking(row: &Row<'_>) -> Result<StoredBooking> {
    Ok(StoredBooking {
        number: row.get("number")?,
        organization: row.get("organization")?,
        ..from_json(row)?
    })
}
