//! `POST /v1/bookings/{booking_id}/cancel`.

use super::super::reply::Outcome;
use super::super::request_context::RequestContext;
use super::{apply, find};
use crate::sandbox::rules::fields::Fields;
use crate::sandbox::rules::transition::Event;

/// Cancels a booking. The reason is checked but not stored.
pub(in super::super) fn cancel(context: &RequestContext<'_, '_>) -> Outcome {
    Fields::of(&context.request.fields()?).text("reason")?;
    let booking = find(context)?;
    let provider = booking.provider;
    apply(context, booking, &Event::Cancel { provider })
}
