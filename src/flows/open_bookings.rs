//! The organization's unfinished bookings, which the service lists where it is asked for one that it does not know.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::app::Context;
use crate::client::show_call;
use crate::json::Document;
use crate::model::booking::Booking;
use crate::outcome::{Code, Error, Result};

/// An id that no booking has.
const NO_BOOKING: &str = "no-such-booking";

/// Spec, Errors: 404.
#[derive(Deserialize)]
struct NotFound<'a> {
    #[serde(borrow)]
    open_bookings: Vec<&'a RawValue>,
}

/// The unfinished bookings of the last day, whichever key made them, each as the service wrote it.
pub(crate) async fn open_bookings(context: &Context) -> Result<Vec<Booking>> {
    let body = match context.read(show_call(NO_BOOKING)).await {
        Err(mut error) if error.http_status == Some(404) => error.body.take(),
        Err(error) => return Err(error),
        Ok(_) => None,
    };
    let text = body.as_ref().map(Document::text).unwrap_or_default();
    let refusal: NotFound<'_> = serde_json::from_str(text).map_err(|_| {
        let what = "the response lists no open bookings, so it is not from the booking service";
        Error::new(Code::Network, what).hint("check the base URL")
    })?;
    let documents = refusal.open_bookings.into_iter();
    let documents = documents.filter_map(|open| Document::parse(open.get().to_owned()).ok());
    Ok(documents.filter_map(Booking::from_document).collect())
}
