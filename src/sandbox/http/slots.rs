//! Which slot a booking takes.

use jiff::Timestamp;

use crate::sandbox::rules::placement::has_room;
use crate::sandbox::seed::{Slot, Venue, slots_at};
use crate::sandbox::store::Ledger;

/// The slot at that instant, with the number of bookings that it holds: where several seatings
/// start then, the first that is wanted and has room, else the first that is wanted.
pub(super) fn choose(
    ledger: &Ledger<'_>,
    venue: &Venue,
    at: Timestamp,
    wanted: impl Fn(&Slot) -> bool,
) -> rusqlite::Result<Option<(Slot, u32)>> {
    let mut full = None;
    for slot in slots_at(venue, at).filter(wanted) {
        let held = ledger.held(&slot.id)?;
        if has_room(&slot, held) {
            return Ok(Some((slot, held)));
        }
        full = full.or(Some((slot, held)));
    }
    Ok(full)
}
