//! Reads a booking, once or until it changes.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, sleep, timeout};

use crate::app::in_flight::InFlight;
use crate::app::{Api, Parts, Ui};
use crate::booking::finish::store_and_judge;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::pace;
use crate::service::client::show_call;
use crate::service::documents::id::id as valid_id;
use crate::service::documents::{Booking, Status};
use crate::service::time::in_units;

/// The first pause between two reads. Each pause is longer than the one before, up to a maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The service permits 300 reads in five minutes.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// A read without a response does not use up the whole wait.
const LONGEST_READ: Duration = Duration::from_secs(30);

/// Reads a booking. An answer without a booking, or with another one, is `unexpected_answer` (15).
pub(crate) async fn read_booking(api: &Api, id: &str) -> Result<Booking> {
    checked(api, look_up(api, id, true).await?, id)
}

/// Reads a booking once, and waits for nothing: the caller reads again later.
pub(crate) async fn read_now(api: &Api, id: &str) -> Result<Booking> {
    checked(api, look_up(api, id, false).await?, id)
}

/// The booking that the service answers with, whichever it is. `waits` is whether a failed service
/// and a rate limit are waited out.
pub(crate) async fn look_up(api: &Api, id: &str, waits: bool) -> Result<Booking> {
    valid_id(id).map_err(|why| Error::usage(format!("the booking id is not valid: {why}")))?;
    let (left_at, call) = (Timestamp::now(), show_call(id));
    let answer = if waits { api.read(call).await } else { api.read_now(&call).await };
    let answer = answer.map_err(|error| naming(id, error))?;
    api.booking_in(answer.document, left_at, false)
}

/// Adds to the error of a booking that was not found which one that is.
pub(crate) fn naming(id: &str, mut error: Error) -> Error {
    if is_not_found(&error) && !error.message.contains(id) {
        error.message = format!("{}: {id}", error.message);
    }
    error
}

/// Whether the service itself reports no such booking: a proxy's page has no document.
pub(crate) fn is_not_found(error: &Error) -> bool {
    let has_document = error.body.as_ref().is_some_and(|body| !body.value().is_string());
    error.exit == Exit::NotFound && (error.http_status.is_none() || has_document)
}

pub(crate) fn checked(api: &Api, booking: Booking, id: &str) -> Result<Booking> {
    match api.identified(booking, id) {
        (booking, true) => Ok(booking),
        (other, false) => Err(wrong_booking_error(&other, id)),
    }
}

/// The error (15) of an answer with another booking.
pub(crate) fn wrong_booking_error(booking: &Booking, id: &str) -> Error {
    let why = format!("the service returned booking {} instead of {id}", booking.id());
    let hint = "check the base URL: the response may not come from the booking service";
    Error::new(Code::UnexpectedAnswer, why).hint(hint).body(booking.document.clone())
}

/// Reads a booking again and again until `is_done` says so of what was read, or the time is over,
/// and returns it as last read. A failed service, a lost connection and a rate limit are waited
/// out, with a note; they are the error only if the booking was never read. The more bookings are
/// read `beside` it, the less often. `is_done` learns what time is left, and whether the booking
/// is another than the read before showed.
pub(crate) async fn until(
    api: &Api,
    ui: &Ui,
    id: &str,
    mut known: Option<Booking>,
    (longest, beside): (Duration, u32),
    mut is_done: impl FnMut(&Booking, Duration, bool) -> Result<bool>,
) -> Result<Booking> {
    let deadline = Instant::now() + longest;
    let mut pause = FIRST_PAUSE * beside;
    let mut is_noted = false;
    let (mut seen, mut failed) = (None::<Booking>, None);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let limit = left.clamp(FIRST_PAUSE, LONGEST_READ);
        let read = match known.take() {
            Some(known) => checked(api, known, id),
            None => {
                let read = timeout(limit, read_now(api, id)).await;
                let late = "the service did not respond in time";
                read.unwrap_or_else(|_| Err(Error::new(Code::Timeout, late)))
            }
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let rest = match read {
            Ok(booking) => {
                // Compares the whole booking: a new pause has the same status as the one before.
                // What stands around it is new in each response.
                let text = |it: &Booking| it.own_document().text().to_owned();
                let is_new = seen.as_ref().map(text) != Some(text(&booking));
                if is_done(&booking, left, is_new)? || left.is_zero() {
                    return Ok(booking);
                }
                is_noted = false;
                seen = Some(booking);
                None
            }
            Err(error) if !passes(&error) => return Err(error),
            // The time is over: what came of the reads before counts.
            Err(error) if left.is_zero() => return seen.ok_or(failed.unwrap_or(error)),
            Err(error) => {
                if !is_noted {
                    let (why, left) = (&error.message, in_units(left.as_secs()));
                    let note = format!("{why}; booking {id} is read again for up to {left}");
                    ui.out.note(&note);
                    is_noted = true;
                }
                let rest = error.retry_after;
                failed = Some(error);
                rest
            }
        };
        sleep(rest.unwrap_or_else(|| pace::scaled(pause)).min(left)).await;
        pause = (pause * 2).min(LONGEST_PAUSE * beside);
    }
}

/// Whether a later read may succeed.
pub(crate) fn passes(error: &Error) -> bool {
    error.http_status.is_some_and(|it| it >= 500)
        || matches!(error.exit, Exit::Service | Exit::RateLimited)
        || error.code == Code::Network
        || error.code == Code::Timeout
}

/// Whether a read failed for its booking alone, so that a read of the next one may succeed.
pub(crate) fn is_about_one(error: &Error) -> bool {
    use Exit::{Invalid, NotFound, Refused, Service};
    matches!(error.exit, NotFound | Refused | Invalid | Service)
        || error.code == Code::UnexpectedAnswer
}

/// Waits until the booking is no longer processing, or for `longest`. Records it as it is read, and
/// returns it as last read.
pub(crate) async fn wait_while_processing(
    parts: &Parts,
    booking: Booking,
    longest: Duration,
) -> Result<Booking> {
    let id = booking.id().to_owned();
    let progress = parts.ui.out.progress("");
    let mut last = booking.clone();
    let waited =
        until(&parts.api, &parts.ui, &id, Some(booking), (longest, 1), |booking, left, is_new| {
            last = booking.clone();
            if is_new {
                store_and_judge(&parts.records, booking);
            }
            parts.api.in_flight.replace(InFlight::known(booking));
            let is_processing = booking.status() == Status::Processing;
            if is_processing {
                let left = in_units(left.as_secs());
                progress.say(&format!("{id} is processing; waiting for up to {left}"));
            }
            Ok(!is_processing)
        });
    if let Err(error) = waited.await {
        // The booking exists whatever a failed read says, so it is returned as last read.
        let what = format!("booking {id} was made, but cannot be read");
        parts.ui.out.warn(&format!("{what}: {}", error.message));
    }
    Ok(last)
}
