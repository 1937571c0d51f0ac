//! Reads a booking, once or until it changes.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::understood::understood;
use crate::app::Context;
use crate::app::in_flight::InFlight;
use crate::client::{Answer, show_call};
use crate::model::booking::{Booking, Status};
use crate::model::duration::in_units;
use crate::model::id::{id as valid_id, same_id};
use crate::outcome::{Code, Error, Exit, Result};

/// The first pause between two reads. Each pause is longer than the one before, up to a maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The service permits 300 reads in five minutes.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// A read without a response does not use up the whole wait.
const LONGEST_READ: Duration = Duration::from_secs(30);

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
    in_answer(context, id, context.read(show_call(valid(id)?)).await)
}

fn valid(id: &str) -> Result<&str> {
    valid_id(id).map_err(|why| Error::usage(format!("the booking id is not valid: {why}")))?;
    Ok(id)
}

fn in_answer(context: &Context, id: &str, answer: Result<Answer>) -> Result<Booking> {
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

/// Reads a booking again and again within a time. What passes by itself is waited out.
pub(crate) struct Wait<'a> {
    context: &'a Context,
    id: String,
    deadline: Instant,
    /// The next pause between two reads.
    pause: Duration,
}

impl<'a> Wait<'a> {
    pub(crate) fn new(context: &'a Context, id: &str, longest: Duration) -> Self {
        Wait {
            context,
            id: id.to_owned(),
            deadline: Instant::now() + longest,
            pause: FIRST_PAUSE,
        }
    }

    pub(crate) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Pauses before the next read. Each pause is longer than the one before.
    pub(crate) async fn pause(&mut self) {
        sleep(self.pause.min(self.left())).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }

    /// The booking as it is now. A failed service, a lost connection and a rate limit are waited out, with a note.
    ///
    /// # Errors
    /// What does not pass by itself, and what has not passed in time.
    pub(crate) async fn read(&mut self) -> Result<Booking> {
        let mut is_noted = false;
        loop {
            let error = match self.look().await {
                Err(error) if passes(&error) && !self.left().is_zero() => error,
                read => return read,
            };
            let left = self.left();
            if !is_noted {
                let (why, left) = (&error.message, in_units(left.as_secs()));
                let note = format!("{why}; booking {} is read again for up to {left}", self.id);
                self.context.out.note(&note);
                is_noted = true;
            }
            match error.retry_after {
                Some(pause) => sleep(pause.min(left)).await,
                None => self.pause().await,
            }
        }
    }

    async fn look(&self) -> Result<Booking> {
        let call = show_call(valid(&self.id)?);
        let answer = timeout(LONGEST_READ, self.context.read_now(&call)).await;
        let answer = answer.unwrap_or_else(|_| {
            let why = format!("no response within {}", in_units(LONGEST_READ.as_secs()));
            Err(Error::new(Code::Timeout, why))
        });
        checked(in_answer(self.context, &self.id, answer)?, &self.id)
    }
}

/// Whether a later read may succeed.
fn passes(error: &Error) -> bool {
    matches!(error.exit, Exit::Service | Exit::RateLimited)
        || error.code == Code::Network
        || error.code == Code::Timeout
}

/// Reads the booking again and again until it is no longer processing or `longest` has passed. Returns it as last
/// read.
pub(crate) async fn wait_while_processing(
    context: &Context,
    booking: Booking,
    longest: Duration,
) -> Result<Booking> {
    let mut wait = Wait::new(context, booking.id(), longest);
    let mut booking = booking;
    let progress = context.out.progress("");
    while booking.status() == Status::Processing && !wait.left().is_zero() {
        context.in_flight.replace(InFlight::known(&booking));
        progress.say(&format!(
            "{} is processing; waiting for up to {}",
            booking.id(),
            in_units(wait.left().as_secs())
        ));
        wait.pause().await;
        match wait.read().await {
            Ok(read) => booking = read,
            // The booking exists whatever a failed read says, so it is returned as last read.
            Err(error) => {
                context.out.warn(&format!(
                    "booking {} was made, but cannot be read: {}",
                    booking.id(),
                    error.message
                ));
                break;
            }
        }
    }
    context.in_flight.replace(InFlight::known(&booking));
    Ok(booking)
}
