//! Waits for a booking that is processing.

use std::time::Duration;

use super::understood::understood;
use crate::app::Context;
use crate::app::in_flight::InFlight;
use crate::client::show_call;
use crate::model::booking::{Booking, Status};
use crate::model::duration::in_units;
use crate::model::id::{id as valid_id, same_id};
use crate::outcome::{Code, Error, Exit, Result};

/// The first pause between two reads. Each pause is longer than the one before, up to a maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// How many reads in a row may fail before the wait ends with the booking as last read.
const LOOKS: u32 = 3;
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Reads a booking by an id that came from the service.
///
/// # Errors
///
/// `unexpected_answer` (15) if the answer is not a booking, or is another one.
pub(crate) async fn read_booking(context: &Context, id: &str) -> Result<Booking> {
    checked(look_up(context, id).await?, id)
}

/// The booking, if it is the requested one.
pub(super) fn checked(booking: Booking, id: &str) -> Result<Booking> {
    if same_id(booking.id(), id) {
        return Ok(booking);
    }
    Err(another(&booking, id))
}

pub(super) fn another(booking: &Booking, id: &str) -> Error {
    let mut error = unexpected(is_another(booking, id));
    error.body = Some(booking.document().clone());
    error
}

/// Reads a booking by an id that a person gave, and whether the answer is about that booking. Another one is returned
/// with a warning: it may be the same under another id.
pub(crate) async fn find_booking(context: &Context, id: &str) -> Result<(Booking, bool)> {
    Ok(or_warn(context, look_up(context, id).await?, id))
}

/// Warns if a booking is not the requested one.
pub(super) fn or_warn(context: &Context, booking: Booking, id: &str) -> (Booking, bool) {
    let is_it = same_id(booking.id(), id);
    if !is_it {
        context.out.warn(&is_another(&booking, id));
    }
    (booking, is_it)
}

pub(super) async fn look_up(context: &Context, id: &str) -> Result<Booking> {
    valid_id(id).map_err(|why| Error::usage(format!("the booking id is not valid: {why}")))?;
    let answer = context.read(show_call(id)).await;
    let answer = answer.map_err(|error| naming(id, error))?;
    understood(context, context.adapter().booking(answer.document, false))
}

/// Whether something else than one of the service's documents was answered.
pub(super) fn is_a_page(error: &Error) -> bool {
    error.http_status.is_some() && error.body.is_none()
}

/// Adds to the error of a booking that was not found which one that is.
pub(super) fn naming(id: &str, mut error: Error) -> Error {
    if error.exit == Exit::NotFound && !is_a_page(&error) && !error.message.contains(id) {
        error.message = format!("{}: {id}", error.message);
    }
    error
}

fn is_another(booking: &Booking, id: &str) -> String {
    format!(
        "the service returned booking {} instead of {id}",
        booking.id()
    )
}

fn unexpected(why: String) -> Error {
    Error::new(Code::UnexpectedAnswer, why)
        .hint("check the base URL: the response may not come from the booking service")
}

/// Reads the booking again and again until it is no longer processing or `longest` has passed. Returns it as last
/// read.
pub(crate) async fn wait_while_processing(
    context: &Context,
    booking: Booking,
    longest: Duration,
) -> Result<Booking> {
    let deadline = tokio::time::Instant::now() + longest;
    let mut booking = booking;
    let mut pause = FIRST_PAUSE;
    let mut failed = 0;
    let progress = context.out.progress("");
    while booking.status() == Status::Processing {
        context.in_flight.replace(InFlight::known(&booking));
        let left = deadline.saturating_duration_since(tokio::time::Instant::now());
        if left.is_zero() {
            break;
        }
        progress.say(&format!(
            "{} is processing; waiting for up to {}",
            booking.id(),
            in_units(left.as_secs())
        ));
        tokio::time::sleep(pause.min(left)).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        match read_booking(context, booking.id()).await {
            Ok(read) => {
                booking = read;
                failed = 0;
            }
            // The booking exists whatever a failed read says, so it is returned as last read.
            Err(error) if failed + 1 == LOOKS => {
                context.out.warn(&format!(
                    "booking {} was made, but cannot be read: {}",
                    booking.id(),
                    error.message
                ));
                break;
            }
            Err(_) => failed += 1,
        }
    }
    context.in_flight.replace(InFlight::known(&booking));
    Ok(booking)
}
