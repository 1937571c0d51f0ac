//! The errors of a booking request that may have booked, or whose key another booking has.

use crate::app::in_flight::{InFlight, abandon_command, resume_command, show_command};
use crate::journal::Earlier;
use crate::outcome::{Code, Error, Exit};
use crate::service::mapping::Mapping;

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

/// The error for a run that booked nothing where an earlier one may have, which another run would
/// not find out. `next` is what to do once the venue was asked.
pub(super) fn nothing_more(key: &str, mut error: Error, next: &str) -> Error {
    error.message = format!("an earlier try may have booked; this one did not: {}", error.message);
    into_outcome_unknown(key, error).hint(format!("check with the venue {next}"))
}

/// Adds to the error of a conflict that may be about another request with the key what to do if it
/// is not.
pub(super) fn still_conflicting(
    key: &str,
    error: Error,
    earlier: Earlier,
    mapping: &Mapping,
) -> Error {
    let next = match earlier {
        Earlier::MayHaveBooked => {
            let abandon = abandon_command(key);
            format!(
                "if the response stays the same, check with the venue and abandon it: {abandon}"
            )
        }
        _ => {
            let set = mapping.set_command("read.error=EXPRESSION");
            format!("if the service means that nothing was booked: {set}")
        }
    };
    let first = error.hint.clone().unwrap_or_default();
    error.hint(format!("{first}; {next}"))
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
