//! The errors of a booking request that may have booked, or whose key another booking has.

use crate::app::in_flight::{InFlight, abandon_command, resume_command, show_command};
use crate::outcome::{Code, Error, Exit};

/// Turns an error into one for a booking that may exist, with the command that finds out.
pub(super) fn into_outcome_unknown(key: &str, mut error: Error) -> Error {
    if error.exit != Exit::OutcomeUnknown {
        // How to repeat the request is of no use here.
        error.hint = None;
        if error.exit != Exit::RateLimited {
            error.message = format!("the outcome is unknown: {}", error.message);
            error.code = Code::OutcomeUnknown.into();
            error.exit = Exit::OutcomeUnknown;
        }
    }
    InFlight::Creating(key.to_owned()).explain_unknown(error).idempotency_key(key)
}

/// Turns the error of a run that booked nothing into one for what an earlier run may have booked,
/// which to send the request again does not find out. `next` is what the venue is asked for.
pub(super) fn nothing_more(key: &str, mut error: Error, next: &str) -> Error {
    error.message = format!("an earlier try may have booked; this one did not: {}", error.message);
    into_outcome_unknown(key, error).hint(format!("check with the venue, {next}"))
}

/// The error for a key under which the service has made another booking.
pub(super) fn another_booking(id: &str, difference: &str, key: &str) -> Error {
    let (show, abandon) = (show_command(id), abandon_command(key));
    let what = "nothing new was booked: this idempotency key belongs to booking";
    let what = format!("{what} {id}, in which {difference}");
    let hint = "use a new idempotency key; see the other booking";
    let hint = format!("{hint}: {show}; abandon this request: {abandon}");
    Error::new(Code::AnotherBooking, what).hint(hint).idempotency_key(key)
}

/// The error for a booking that an open attempt may have made. `anew` says how to make another one.
pub(crate) fn asked_before(key: &str, anew: &str) -> Error {
    let what = "an identical booking request is still unresolved; nothing was sent";
    let resume = resume_command(key);
    let hint = format!("check it: {resume}; to book again on purpose, {anew}");
    Error::new(Code::OutcomeUnknown, what).hint(hint).idempotency_key(key)
}
