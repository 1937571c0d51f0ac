//! Reads the organization's unfinished bookings, which the service lists in its answer for an unknown id.

use crate::app::Context;
use crate::outcome::{Code, Error, Result};
use crate::service::client::show_call;
use crate::service::documents::booking::Booking;
use crate::service::mapping::scalars;

const NO_BOOKING: &str = "no-such-booking";

/// The unfinished bookings of the last day, made with any key, as the service sent them.
pub(crate) async fn open_bookings(context: &Context) -> Result<Vec<Booking>> {
    let body = match context.read(show_call(NO_BOOKING)).await {
        Err(mut error) if error.http_status == Some(404) => error.body.take(),
        Err(error) => return Err(error),
        Ok(_) => None,
    };
    let adapter = context.adapter();
    let listed = body.as_ref();
    let listed = listed.and_then(|body| adapter.bookings_in(body, "open_bookings"));
    let (why, is_read) = match &listed {
        None => (
            "the response has no list of open bookings".to_owned(),
            false,
        ),
        Some(open) if open.unread == 0 => (String::new(), true),
        Some(open) => {
            let unread = open.unread;
            let why = "of the open bookings cannot be read: `id` or `status` is missing";
            (format!("{unread} {why}"), !open.bookings.is_empty())
        }
    };
    if !is_read {
        let setting = adapter.set_command("read.error=EXPRESSION");
        let mut error = Error::new(Code::UnexpectedAnswer, why).hint(format!(
            "check the base URL; if the service lists them in another shape: {setting}"
        ));
        let values = body.as_ref().map(|body| scalars(body.value()));
        let values = values.into_iter().flatten();
        let values = values.filter(|(path, _)| path.starts_with("open_bookings"));
        error.details = values
            .map(|(path, text)| format!("{path}: {text}"))
            .collect();
        error.body = body;
        return Err(error);
    }
    if !why.is_empty() {
        context.out.warn(&why);
    }
    Ok(listed.map(|open| open.bookings).unwrap_or_default())
}
