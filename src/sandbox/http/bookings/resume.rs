//! `POST /v1/bookings/{booking_id}/continue`.

use super::super::door::Visit;
use super::super::reply::Outcome;
use super::{find, happen};
use crate::sandbox::rules::answer::Answer;
use crate::sandbox::rules::placement::payment;
use crate::sandbox::rules::transition::Event;
use crate::sandbox::seed;

/// Continues a booking that waits.
pub(in super::super) fn resume(visit: &Visit<'_, '_>) -> Outcome {
    let answer = Answer::read(&visit.call.fields()?)?;
    let booking = find(visit)?;
    let payment = payment(seed::venue(&booking.venue_id));
    happen(visit, booking, &Event::Continued { answer, payment })
}
