//! `POST /v1/availability/search`, and the choice of a slot.

use jiff::Timestamp;
use serde_json::json;

use super::reply::{Outcome, Reply};
use super::request::RequestContext;
use super::venues::known_venue;
use crate::sandbox::rules::availability::{AvailabilityQuery, check_readable};
use crate::sandbox::rules::provider_response::has_room;
use crate::sandbox::seed::{Slot, Venue, slots_at, slots_on};
use crate::sandbox::wire::listed::SlotDocument;

/// Lists the slots of the venue's local day that are neither past nor full.
pub(super) fn search(context: &RequestContext<'_, '_>) -> Outcome {
    let tx = context.tx;
    let body = context.request.fields()?;
    let query = AvailabilityQuery::read(&body, tx.now)?;
    let venue = known_venue(context, &query.venue_id)?;
    let venue = venue.as_ref();
    let provider = query.provider(venue)?;
    check_readable(venue)?;

    let day = query.at.to_zoned(venue.timezone.clone()).date();
    let mut free = Vec::new();
    for slot in slots_on(venue, day) {
        if slot.datetime.timestamp() > tx.now
            && has_room(&slot, tx.held(&context.organization.id, &slot.id)?)
        {
            free.push(slot);
        }
    }
    let slots = free.iter();
    let slots: Vec<_> = slots
        .map(|it| SlotDocument::of(it, query.party_size))
        .collect();
    Reply::ok(&json!({
        "object": "list",
        "venue_id": venue.id,
        "provider": provider.map(|it| it.id()),
        "slots": slots,
    }))
}

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
