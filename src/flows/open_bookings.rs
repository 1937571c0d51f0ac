//! Reads the organization's unfinished bookings, which the service lists in its answer for an unknown id.

use crate::app::Context;
use crate::client::show_call;
use crate::model::booking::Booking;
use crate::outcome::{Code, Error, Result};

/// An id that no booking has.
const NO_BOOKING: &str = "no-such-booking";

/// The unfinished bookings of the last day, made with any key, as the service sent them.
pub(crate) async fn open_bookings(context: &Context) -> Result<Vec<Booking>> {
    let body = match context.read(show_call(NO_BOOKING)).await {
        Err(mut error) if error.http_status == Some(404) => error.body.take(),
        Err(error) => return Err(error),
        Ok(_) => None,
    };
    let open = body
        .as_ref()
        .and_then(|body| context.adapter().bookings_in(body, "open_bookings"));
    let Some(open) = open else {
        let what = "the answer has no list of open bookings";
        let mut error = Error::new(Code::UnexpectedAnswer, what)
            .hint("check the base URL: perhaps something else answered than the booking service");
        error.body = body;
        return Err(error);
    };
    if open.unread > 0 {
        context.out.warn(&format!(
            "{} of the open bookings cannot be read: `id` or `status` is missing",
            open.unread
        ));
    }
    Ok(open.bookings)
}
