//! What a row of a batch ends with, now or as the journal knows it.

use super::keys::KeyedRow;
use super::request::is_of_row;
use crate::app::in_flight::resume_command;
use crate::app::{Facts, Parts, Records};
use crate::booking::verdict;
use crate::journal::{Attempt, BatchRecord, KeptBooking, RowLine, State, abandoned};
use crate::outcome::code::exit_for_refusal;
use crate::outcome::{Code, Error, ErrorCode, Exit, Result};
use crate::service::documents::Booking;

/// What is printed of a row under this key. The booking is the service's own text, byte for byte;
/// the exit code is what `book` would have had for this row alone.
pub(crate) fn row_line(idempotency_key: String, outcome: &Result<Booking>) -> RowLine {
    let (booking, error) = match outcome {
        Ok(booking) => (Some(booking.document.clone()), None),
        // The row has this booking, and did not get the one that it asks for.
        Err(error) if error.code == Code::AlreadyBooked => (error.body.clone(), Some(error)),
        Err(error) => (None, Some(error)),
    };
    let exit = outcome.as_ref().map_or_else(|error| error.exit, Booking::exit);
    RowLine { idempotency_key, exit, booking, error: error.map(|error| error.to_json()) }
}

/// The attempt under a key of a row, if it is for this row. Another one is refused by the journal
/// when the row is sent.
pub(super) fn own_attempt(
    facts: &Facts,
    records: &Records,
    keyed: &KeyedRow,
    key: &str,
) -> Result<Option<Attempt>> {
    let attempt = records.journal()?.attempt(key)?;
    let origin = facts.target().address();
    Ok(attempt.filter(|it| it.origin == origin && is_of_row(it, keyed, key)))
}

/// The error of an attempt whose last run was refused. Only the status and the code of the refusal
/// are known.
pub(super) fn refusal(attempt: &Attempt) -> Option<Error> {
    let run = attempt.runs.last()?;
    let status = run.http_status.filter(|_| attempt.state == State::Refused)?;
    let wording = run.error_code.as_deref();
    let code = ErrorCode::of_refusal(wording, status);
    let message = format!("the service rejected it with HTTP {status}");
    let mut error = Error::with_exit(code, exit_for_refusal(wording, status), message);
    error.http_status = Some(status);
    Some(error)
}

/// The number of the last of a row's keys that was sent, or 0.
pub(super) fn last_try(parts: &Parts, keyed: &KeyedRow) -> Result<u32> {
    let mut retry = 0;
    while own_attempt(&parts.api.facts, &parts.records, keyed, &keyed.key(retry + 1))?.is_some() {
        retry += 1;
    }
    Ok(retry)
}

/// Why a booking, as the journal keeps it, is not the one that was asked for (16), as
/// `attempts resume` says it.
pub(super) fn refusal_of_kept(
    records: &Records,
    facts: &Facts,
    kept: &KeptBooking,
) -> Option<Error> {
    let verdict = verdict::of_known(records, &kept.wish(), &kept.booking);
    verdict::refusal(facts, &kept.booking, &verdict)
}

pub(super) fn unsent() -> Error {
    Error::new(Code::Unsent, "no request has been sent for this row")
}

/// The result of a row as it was printed; of one that was not, what the journal knows. Nothing is
/// sent.
pub(crate) fn known_line(parts: &Parts, record: &BatchRecord, keyed: &KeyedRow) -> Result<RowLine> {
    let own = own_attempt(&parts.api.facts, &parts.records, keyed, &keyed.first)?;
    // The key that a row names may be another row's by now.
    let is_of_another = own.is_none() && parts.records.journal()?.attempt(&keyed.first)?.is_some();
    if let (Some(Some(line)), false) = (record.rows.get(&keyed.first), is_of_another) {
        return Ok(line.clone());
    }
    let retry = last_try(parts, keyed)?;
    let outcome = match own_attempt(&parts.api.facts, &parts.records, keyed, &keyed.key(retry))? {
        Some(attempt) => {
            let journal = parts.records.journal()?;
            let id = match attempt.state {
                State::Unresolved => journal.marked(&attempt.idempotency_key)?,
                State::Resolved => attempt.booking_id.clone(),
                State::Refused | State::Abandoned => None,
            };
            let stored = id.as_deref().map(|id| journal.load_booking(id)).transpose()?.flatten();
            booked_by(&parts.api.facts, &parts.records, &attempt, stored)
                .map_err(|error| error.idempotency_key(&attempt.idempotency_key))
        }
        None => Err(unsent()),
    };
    Ok(row_line(keyed.key(retry), &outcome))
}

/// The booking that an attempt made, as the journal keeps it, or why there is none.
fn booked_by(
    facts: &Facts,
    records: &Records,
    attempt: &Attempt,
    stored: Option<KeptBooking>,
) -> Result<Booking> {
    let unknown = || {
        let check = format!("check it: {}", resume_command(&attempt.idempotency_key));
        Error::new(Code::OutcomeUnknown, "the outcome is unknown: a booking may exist").hint(check)
    };
    Err(match (attempt.state, stored) {
        (state, Some(stored)) => match refusal_of_kept(records, facts, &stored) {
            None if state == State::Resolved => return Ok(stored.booking),
            refusal => refusal.unwrap_or_else(unknown),
        },
        (State::Resolved, None) => match &attempt.booking_id {
            Some(id) => Error::journal(format!("booking {id} was deleted from the journal"))
                .exiting(Exit::NotFound),
            None => unknown(),
        },
        (State::Refused, None) => refusal(attempt)
            .unwrap_or_else(|| Error::new(Code::Network, "the service was not reached")),
        (State::Abandoned, None) => abandoned(attempt),
        (State::Unresolved, None) => unknown(),
    })
}
