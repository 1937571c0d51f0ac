//! `POST /v1/bookings/{booking_id}/modify`.

use super::super::door::Visit;
use super::super::reply::{Outcome, Reply};
use super::super::slots::choose;
use super::{find, refusal};
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::modify::ModifyRequest;
use crate::sandbox::rules::refusal::Refusal;
use crate::sandbox::rules::transition::{Event, step};
use crate::sandbox::seed::{self, Slot, Venue};
use crate::sandbox::wire::booking::BookingDocument;
use crate::sandbox::wire::slot::local_time;

/// Changes a booking, if its provider and its venue let it.
pub(in super::super) fn modify(visit: &Visit<'_, '_>) -> Outcome {
    let ledger = visit.ledger;
    let request = ModifyRequest::read(&visit.call.fields()?, ledger.now)?;
    let booking = find(visit)?;
    let venue = seed::venue(&booking.venue_id);
    let slot = match venue {
        Some(venue) => new_slot(visit, &request, &booking, venue)?,
        None => None,
    };
    let asked = slot.as_ref().map(|(slot, held)| (slot, *held));
    let event = Event::Modify {
        provider: booking.provider,
        venue: request.venue_answer(&booking, venue, asked),
    };
    let mut transition = step(&booking.state, &event, ledger.now);
    if let Some(denial) = transition.denial.take() {
        return Err(refusal(denial, &booking)?);
    }
    let datetime = request
        .at
        .zip(venue)
        .map(|(at, venue)| local_time(&at.to_zoned(venue.timezone())));
    let slot = slot.as_ref().map(|(slot, _)| slot);
    match request.change(&booking, datetime, slot, ledger.now) {
        None => Reply::ok(&BookingDocument::of(&booking)),
        Some(mut changed) => {
            ledger.apply(&mut changed, transition, ledger.now)?;
            Reply::ok(&BookingDocument::of(&changed))
        }
    }
}

/// The slot that the booking would move to: at the new time, if there is one, and with the seating
/// that is preferred, if that has room. A preference alone moves nobody to a full slot.
fn new_slot(
    visit: &Visit<'_, '_>,
    request: &ModifyRequest,
    booking: &Booking,
    venue: &Venue,
) -> Result<Option<(Slot, u32)>, Refusal> {
    let moves = request.moves(booking);
    let Some(at) = request.at.or_else(|| booking.datetime.parse().ok()) else {
        return Ok(None);
    };
    let seating = request.seating.as_deref().or(booking.seating.as_deref());
    let preferred = |slot: &Slot| slot.seating == seating;
    let other = |slot: &Slot| Some(&slot.id) != booking.slot_id.as_ref();
    let favourite = choose(visit.ledger, venue, at, |slot| {
        preferred(slot) && other(slot)
    })?
    .filter(|(slot, held)| *held < slot.capacity);
    match favourite {
        None if moves => Ok(choose(visit.ledger, venue, at, other)?),
        favourite => Ok(favourite.filter(|_| moves || request.seating.is_some())),
    }
}
