//! Chooses the slot of a booking.

use jiff::Timestamp;

use super::request_context::RequestContext;
use crate::sandbox::rules::provider_response::has_room;
use crate::sandbox::seed::{Slot, Venue, slots_at};

/// The slot at an instant, with the number of bookings in it. Of several seatings, the first wanted
/// one that has room, else the first wanted one.
pub(super) fn choose_slot(
    context: &RequestContext<'_, '_>,
    venue: &Venue,
    at: Timestamp,
    wanted: impl Fn(&Slot) -> bool,
) -> rusqlite::Result<Option<(Slot, u32)>> {
    let mut full = None;
    for slot in slots_at(venue, at).filter(wanted) {
        let (slot, held) = with_held(context, slot)?;
        if has_room(&slot, held) {
            return Ok(Some((slot, held)));
        }
        full = full.or(Some((slot, held)));
    }
    Ok(full)
}

/// The slot at an instant with the preferred seating, else the first.
pub(super) fn slot_of(venue: &Venue, at: Timestamp, seating: Option<&str>) -> Option<Slot> {
    let is_preferred = |slot: &Slot| slot.seating.as_deref() == seating;
    let preferred = slots_at(venue, at).find(is_preferred);
    preferred.or_else(|| slots_at(venue, at).next())
}

pub(super) fn with_held(
    context: &RequestContext<'_, '_>,
    slot: Slot,
) -> rusqlite::Result<(Slot, u32)> {
    let held = context.tx.held(&context.organization.id, &slot.id)?;
    Ok((slot, held))
}
