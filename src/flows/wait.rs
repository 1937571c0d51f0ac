//! Waiting for a booking that is still processing.

use std::time::Duration;

use crate::app::Context;
use crate::app::in_flight::Situation;
use crate::client::show_call;
use crate::model::booking::{Booking, Status};
use crate::model::id::id as valid_id;
use crate::outcome::{Code, Error, Exit, Result};

/// The first pause between two looks; each is longer than the one before, up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// How many looks in a row may fail before the wait ends with the booking as it was last seen.
const LOOKS: u32 = 3;
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Reads a booking whose id came from the service.
///
/// # Errors
/// `unexpected_answer` (15) where the answer is no booking, or another one than was asked for.
pub(crate) async fn read_booking(context: &Context, id: &str) -> Result<Booking> {
    let booking = look_up(context, id).await?;
    if booking.id() == id {
        return Ok(booking);
    }
    let mut error = unexpected(is_another(&booking, id));
    error.body = Some(booking.document().clone());
    Err(error)
}

/// Reads a booking by the id that a person gives. A service may know one booking by several ids, so another id in the
/// answer is a warning.
pub(crate) async fn find_booking(context: &Context, id: &str) -> Result<Booking> {
    let booking = look_up(context, id).await?;
    if booking.id() != id {
        context.out.warn(&is_another(&booking, id));
    }
    Ok(booking)
}

/// Reads what the service shows under an id.
pub(super) async fn look_up(context: &Context, id: &str) -> Result<Booking> {
    valid_id(id).map_err(|why| Error::usage(format!("the booking id is not valid: {why}")))?;
    let answer = context.read(show_call(id)).await.map_err(|mut error| {
        if error.exit == Exit::NotFound {
            error.message = format!("{}: {id}", error.message);
        }
        error
    })?;
    Booking::from_document(answer.document).ok_or_else(|| {
        unexpected("the response is not a booking: it has no id or no status".to_owned())
    })
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

/// Looks again until the booking is no longer processing, or `longest` is over; returns it as it then is.
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
        context.situation.replace(Situation::known(&booking));
        let left = deadline.saturating_duration_since(tokio::time::Instant::now());
        if left.is_zero() {
            break;
        }
        progress.say(&format!(
            "{} is processing; waiting for up to {} s",
            booking.id(),
            left.as_secs()
        ));
        tokio::time::sleep(pause.min(left)).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        match read_booking(context, booking.id()).await {
            Ok(read) => {
                booking = read;
                failed = 0;
            }
            // The booking is made, whatever a look at it says: it must not be lost with the connection.
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
    context.situation.replace(Situation::known(&booking));
    Ok(booking)
}
