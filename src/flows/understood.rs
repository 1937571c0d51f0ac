//! What was read from an answer, with the reader's doubts said to a person.

use crate::adapter::{Misread, Reading};
use crate::app::Context;
use crate::json::Document;
use crate::model::booking::Booking;
use crate::outcome::Result;

/// Takes what was read, and warns of what could not be.
///
/// # Errors
/// `unexpected_answer` (15) with the answer as its body.
pub(crate) fn understood<T>(context: &Context, read: Result<Reading<T>, Misread>) -> Result<T> {
    let reading = read.map_err(Misread::into_error)?;
    for warning in &reading.warnings {
        context.out.warn(warning);
    }
    Ok(reading.item)
}

/// The booking in the answer to a call that changed something. `None` where there is none: the outcome is then unknown.
pub(super) fn booking_of(context: &Context, answer: Document) -> Option<Booking> {
    understood(context, context.adapter().booking(answer, true)).ok()
}
