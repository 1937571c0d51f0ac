//! `POST /v1/bookings/{booking_id}/continue`.

use super::super::reply::Outcome;
use super::super::request_context::RequestContext;
use super::{apply, find};
use crate::sandbox::rules::continue_::ContinueRequest;
use crate::sandbox::rules::provider_response::payment;
use crate::sandbox::rules::transition::Event;

/// Gives a paused booking the answer it waits for.
pub(in super::super) fn continue_(context: &RequestContext<'_, '_>) -> Outcome {
    let answer = ContinueRequest::read(&context.request.fields()?)?;
    let booking = find(context)?;
    let venue = context.tx.venue(&booking.organization, &booking.venue_id)?;
    let payment = payment(venue.as_deref());
    apply(context, booking, &Event::Continued { answer, payment })
}
