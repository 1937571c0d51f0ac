//! Waiting for a booking that is still processing.

use std::time::Duration;

use crate::api::show_call;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::model::booking::{Booking, Status};
use crate::model::id::id as valid_id;
use crate::situation::Situation;

/// The first pause between two looks; each is longer than the one before, up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// How many looks in a row may fail before the wait ends with the booking as it was last seen.
const LOOKS: u32 = 3;
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Reads a booking.
///
/// # Errors
/// `unexpected_answer` (15) where the answer is no booking, or another one than was asked for.
pub(crate) async fn read_booking(context: &Context, id: &str) -> Result<Booking> {
    valid_id(id).map_err(|why| Error::usage(format!("the booking's id cannot be used: {why}")))?;
    let answer = context.read(show_call(id)).await.map_err(|mut error| {
        if error.exit == Exit::NotFound {
            error.message = format!("{}: {id}", error.message);
        }
        error
    })?;
    let unexpected = |why: String| {
        Error::new("unexpected_answer", Exit::Network, why)
            .hint("check the base URL: perhaps something else answered than the booking service")
    };
    let booking = Booking::from_document(answer.document).ok_or_else(|| {
        unexpected("the answer is no booking: it lacks an id or a status".to_owned())
    })?;
    if booking.id() != id {
        let other = booking.id();
        let mut error = unexpected(format!(
            "the answer shows booking {other}, and {id} was asked for"
        ));
        error.body = Some(booking.document().clone());
        return Err(error);
    }
    Ok(booking)
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
            "{} is processing; waiting {} s at most",
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
                    "{} is made, but cannot be read: {}",
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
