//! Reads the organization's unfinished bookings, which the service lists in its answer for an unknown id.

use crate::adapter::scalars;
use crate::app::Context;
use crate::client::show_call;
use crate::model::booking::Booking;
use crate::outcome::{Code, Error, Result};

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
    let not_read = |why: &str, hint: &str| {
        let setting = context.adapter().set_command("read.error=EXPRESSION");
        let mut error = Error::new(Code::UnexpectedAnswer, why).hint(format!(
            "{hint}if the service lists them in another shape: {setting}"
        ));
        let listed = body.as_ref().map(|body| scalars(body.value()));
        let listed = listed.unwrap_or_default().into_iter();
        error.details = listed
            .filter(|(path, _)| path.starts_with("open_bookings"))
            .map(|(path, text)| format!("{path}: {text}"))
            .collect();
        error.body = body.clone();
        error
    };
    let Some(open) = open else {
        let hint = "check the base URL; ";
        return Err(not_read("the answer has no list of open bookings", hint));
    };
    if open.unread > 0 {
        let what = format!(
            "{} of the open bookings cannot be read: `id` or `status` is missing",
            open.unread
        );
        if open.bookings.is_empty() {
            return Err(not_read(&what, ""));
        }
        context.out.warn(&what);
    }
    Ok(open.bookings)
}
