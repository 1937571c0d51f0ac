//! `POST /v1/bookings/{booking_id}/modify`.

use super::super::reply::{Outcome, Reply};
use super::super::request_context::RequestContext;
use super::super::slots::choose_slot;
use super::{denied, find};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::modify::ModifyRequest;
use crate::sandbox::rules::transition::{Event, step};
use crate::sandbox::seed::{Slot, Venue};
use crate::sandbox::wire::slot::local_time;

/// Changes a booking if its provider and its venue allow it.
pub(in super::super) fn modify(context: &RequestContext<'_, '_>) -> Outcome {
    let tx = context.tx;
    let request = ModifyRequest::read(&context.request.fields()?, tx.now)?;
    let booking = find(context)?;
    let venue = tx.venue(&booking.organization, &booking.venue_id)?;
    let venue = venue.as_deref();
    let slot = match venue {
        Some(venue) => new_slot(context, &request, &booking, venue)?,
        None => None,
    };
    let asked = slot.as_ref().map(|(slot, held)| (slot, *held));
    let event = Event::Modify {
        provider: booking.provider,
        venue: request.venue_answer(&booking, venue, asked),
    };
    let mut transition = step(&booking.state, &event, tx.now);
    if let Some(denial) = transition.denial.take() {
        return Err(denied(denial, &booking));
    }
    let datetime = request
        .at
        .zip(venue)
        .map(|(at, venue)| local_time(&at.to_zoned(venue.timezone())));
    let slot = slot.as_ref().map(|(slot, _)| slot);
    match request.change(&booking, datetime, slot, tx.now) {
        None => Reply::booking(200, &booking),
        Some(mut changed) => {
            tx.apply(&mut changed, transition, tx.now)?;
            Reply::booking(200, &changed)
        }
    }
}

/// The slot that the booking would move to: at the new time if there is one, with the preferred
/// seating if that has room. A seating preference alone never moves a booking to a full slot.
fn new_slot(
    context: &RequestContext<'_, '_>,
    request: &ModifyRequest,
    booking: &Booking,
    venue: &Venue,
) -> Result<Option<(Slot, u32)>, ApiError> {
    let moves = request.moves(booking);
    let Some(at) = request.at.or_else(|| booking.datetime.parse().ok()) else {
        return Ok(None);
    };
    let seating = request.seating.as_deref().or(booking.seating.as_deref());
    let preferred = |slot: &Slot| slot.seating.as_deref() == seating;
    let other = |slot: &Slot| Some(&slot.id) != booking.slot_id.as_ref();
    let favourite = choose_slot(context, venue, at, |slot| preferred(slot) && other(slot))?
        .filter(|(slot, held)| *held < slot.capacity);
    match favourite {
        None if moves => Ok(choose_slot(context, venue, at, other)?),
        favourite => Ok(favourite.filter(|_| moves || request.seating.is_some())),
    }
}
