//! The venues that fixtures describe, and the bookings that they place.

use std::borrow::Cow;

use rusqlite::{Result, Row};

use super::tx::{Tx, from_json};
use crate::sandbox::rules::booking::StoredBooking;
use crate::sandbox::rules::fixtures::VenueFixture;
use crate::sandbox::rules::transition::EventKind;
use crate::sandbox::seed::{self, SeedVenue};

impl Tx<'_> {
    /// The venue of this id: one that every sandbox has, else one of the organization's own.
    pub(crate) fn venue(
        &self,
        organization: &str,
        id: &str,
    ) -> Result<Option<Cow<'static, SeedVenue>>> {
        if let Some(venue) = seed::venue(id) {
            return Ok(Some(Cow::Borrowed(venue)));
        }
        let sql = "SELECT entry FROM fixture_venues WHERE organization = ? AND venue_id = ?";
        let own = self.first(sql, [organization, id], venue)?;
        Ok(own.map(Cow::Owned))
    }

    pub(crate) fn own_venues(&self, organization: Option<&str>) -> Result<Vec<SeedVenue>> {
        let sql = "SELECT entry FROM fixture_venues \
                   WHERE ?1 IS NULL OR organization = ?1 ORDER BY number";
        self.all(sql, [organization], venue)
    }

    pub(crate) fn put_venue(&self, organization: &str, id: &str, entry: &str) -> Result<()> {
        let sql = "INSERT INTO fixture_venues (organization, venue_id, entry) VALUES (?, ?, ?) \
                   ON CONFLICT (organization, venue_id) DO UPDATE SET entry = excluded.entry";
        self.run(sql, [organization, id, entry]).map(drop)
    }

    /// Adds a booking with the events of its kinds, in place of an earlier one of its number. The events are delivered
    /// to nobody: they happened before the app was there.
    pub(crate) fn put_booking(&self, booking: &StoredBooking, kinds: &[EventKind]) -> Result<()> {
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
        self.save_booking(booking)?;
        for kind in kinds {
            self.insert_event(booking, *kind, self.now)?;
        }
        Ok(())
    }
}

fn venue(row: &Row<'_>) -> Result<SeedVenue> {
    from_json(row, "entry").map(VenueFixture::venue)
}
