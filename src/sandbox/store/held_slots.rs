//! How many bookings occupy each slot. It follows from the bookings; an index of them would be read at one place for each
//! booking of a slot, and have an entry for each booking.

use rusqlite::OptionalExtension;

use super::hash::hash;
use super::tx::Tx;

impl Tx<'_> {
    /// How many bookings of the organization occupy a slot.
    pub(crate) fn held(&self, organization: &str, slot: &str) -> rusqlite::Result<u32> {
        let held: Option<u32> = self
            .sql("SELECT bookings FROM held_slots WHERE slot = ?")?
            .query_row([hash(organization, slot)], |row| row.get(0))
            .optional()?;
        let held = held.unwrap_or_default();
        debug_assert!(self.is_right(held, organization, slot)?);
        Ok(held)
    }

    /// Counts a booking that now occupies the slot.
    pub(super) fn hold(&self, organization: &str, slot: &str) -> rusqlite::Result<()> {
        self.sql(
            "INSERT INTO held_slots VALUES (?, 1) \
             ON CONFLICT DO UPDATE SET bookings = bookings + 1",
        )?
        .execute([hash(organization, slot)])?;
        Ok(())
    }

    /// Counts the slot without the booking of this number, if it occupies one. Its row is about to change.
    pub(super) fn let_go(&self, number: i64) -> rusqlite::Result<()> {
        self.sql(
            "UPDATE held_slots SET bookings = bookings - 1 WHERE slot = \
             (SELECT hash(organization, held_slot) FROM bookings \
             WHERE number = ? AND held_slot IS NOT NULL)",
        )?
        .execute([number])?;
        Ok(())
    }

    /// Counts the slots of an organization whose bookings are about to be deleted.
    pub(super) fn let_go_of_all(&self, organization: &str) -> rusqlite::Result<()> {
        self.sql(
            "DELETE FROM held_slots WHERE slot IN (SELECT hash(organization, held_slot) \
             FROM bookings WHERE organization = ? AND held_slot IS NOT NULL)",
        )?
        .execute([organization])?;
        Ok(())
    }

    /// Counts a slot anew and compares, unless there are so many bookings that it would take long: there is no index of slots.
    fn is_right(&self, held: u32, organization: &str, slot: &str) -> rusqlite::Result<bool> {
        self.sql(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM bookings LIMIT 1001)) > 1000 OR ? = \
             (SELECT count(*) FROM bookings WHERE held_slot = ? AND organization = ?)",
        )?
        .query_row((held, slot, organization), |row| row.get(0))
    }
}
