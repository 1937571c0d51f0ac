//! `/v1/bookings`: read here, and what its calls share.

mod cancel;
mod create;
mod modify;
mod resume;

use serde_json::Value;

use super::door::Visit;
use super::reply::{Outcome, Reply};
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::refusal::Refusal;
use crate::sandbox::rules::transition::{Denial, Event, step};
use crate::sandbox::wire::booking::{BookingDocument, BookingSummary};
use crate::sandbox::wire::id::Kind;

pub(super) use cancel::cancel;
pub(super) use create::{create, replay};
pub(super) use modify::modify;
pub(super) use resume::resume;

/// Reads a booking.
pub(super) fn read(visit: &Visit<'_, '_>) -> Outcome {
    Reply::ok(&BookingDocument::of(&find(visit)?))
}

/// Lets an event happen to a booking, and answers what came of it.
fn happen(visit: &Visit<'_, '_>, mut booking: Booking, event: &Event) -> Outcome {
    let now = visit.ledger.now;
    let mut transition = step(&booking.state, event, now);
    let denial = transition.denial.take();
    if transition.state != booking.state || transition.news.is_some() {
        visit.ledger.apply(&mut booking, transition, now)?;
    }
    match denial {
        None => Reply::ok(&BookingDocument::of(&booking)),
        Some(denial) => Err(refusal(denial, &booking)?),
    }
}

/// A denial as the call is refused with it: a venue's carries the unchanged booking.
fn refusal(denial: Denial, booking: &Booking) -> Result<Refusal, Refusal> {
    Ok(match denial {
        Denial::VenueRefused(code) => Refusal::VenueRefused {
            code,
            booking: document(&BookingDocument::of(booking))?,
        },
        denial => Refusal::Denied(denial),
    })
}

fn document(document: &impl serde::Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(document).map_err(|error| Refusal::Broken(error.to_string()))
}

/// The organization's booking that the path names.
fn find(visit: &Visit<'_, '_>) -> Result<Booking, Refusal> {
    let organization = &visit.organization.id;
    let number = Kind::Booking.number(visit.call.id());
    let booking = match number {
        Some(number) => visit.ledger.booking(organization, number)?,
        None => None,
    };
    match booking {
        Some(booking) => Ok(booking),
        None => Err(Refusal::BookingNotFound {
            open_bookings: open_bookings(visit)?,
        }),
    }
}

fn open_bookings(visit: &Visit<'_, '_>) -> Result<Vec<Value>, Refusal> {
    let open = visit.ledger.open_bookings(&visit.organization.id)?;
    open.iter()
        .map(|booking| document(&BookingSummary::of(booking)))
        .collect()
}
