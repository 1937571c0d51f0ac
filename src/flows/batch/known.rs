//! What the journal knows of the rows of a batch, whoever booked them. Nothing is sent.

use super::earlier::refusal;
use super::{KeyedRow, RowResult};
use crate::app::Context;
use crate::app::in_flight::resume_command;
use crate::journal::{Attempt, State};
use crate::model::booking::Booking;
use crate::outcome::{Code, Error, Result};

/// The result of a row, as far as the journal knows it: under the last of its keys that was used.
pub(crate) fn known_result(context: &Context, keyed: &KeyedRow) -> Result<RowResult> {
    let mut retry = 0;
    let mut attempt = context.journal()?.attempt(&keyed.key(0))?;
    while let Some(later) = context.journal()?.attempt(&keyed.key(retry + 1))? {
        retry += 1;
        attempt = Some(later);
    }
    let outcome = match &attempt {
        Some(attempt) => of_attempt(context, attempt)?,
        None => Err(Error::new(Code::NotSent, "this row was not sent yet")),
    };
    Ok(RowResult {
        row: keyed.row.number,
        idempotency_key: keyed.key(retry),
        guest: keyed.row.guest(),
        outcome,
    })
}

/// The booking of an attempt, or why there is none. The outer error is the journal's.
fn of_attempt(context: &Context, attempt: &Attempt) -> Result<Result<Booking>> {
    let key = &attempt.idempotency_key;
    if let (State::Settled, Some(id)) = (attempt.state, &attempt.booking_id) {
        let kept = context.journal()?.kept(id)?;
        return Ok(kept.map(|kept| kept.booking).ok_or_else(|| {
            Error::new(
                Code::Http404,
                format!("booking {id} was deleted from the journal"),
            )
        }));
    }
    let error = match (
        attempt.state,
        attempt.runs.last().and_then(|run| run.http_status),
    ) {
        (State::Refused, Some(status)) => refusal(status),
        (State::Refused, None) => Error::new(Code::Network, "the service was not reached"),
        (State::Unsettled | State::Abandoned | State::Settled, _) => Error::new(
            Code::OutcomeUnknown,
            "the outcome is unknown: a booking may exist",
        )
        .hint(format!("to find out: {}", resume_command(key))),
    };
    Ok(Err(error.idempotency_key(key)))
}
