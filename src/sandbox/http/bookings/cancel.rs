//! `POST /v1/bookings/{booking_id}/cancel`.

use super::super::door::Visit;
use super::super::reply::Outcome;
use super::{find, happen};
use crate::sandbox::rules::fields::Fields;
use crate::sandbox::rules::transition::Event;

/// Cancels a booking. The reason is for the venue, and shows nowhere.
pub(in super::super) fn cancel(visit: &Visit<'_, '_>) -> Outcome {
    Fields::of(&visit.call.fields()?).text("reason")?;
    let booking = find(visit)?;
    let provider = booking.provider;
    happen(visit, booking, &Event::Cancel { provider })
}
