//! What an earlier run of a batch, or another machine, has done for a row.

use super::keys::KeyedRow;
use super::request::is_of_row;
use crate::app::Context;
use crate::flows::create::CreatedBooking;
use crate::flows::wait::read_booking;
use crate::journal::{Attempt, State};
use crate::outcome::code::exit_for_refusal;
use crate::outcome::{Error, ErrorCode, Result};

/// What the journal knows of a row under one of its keys.
pub(super) enum EarlierResult {
    /// The row has a later key.
    Superseded,
    Created(Box<CreatedBooking>),
    /// Another machine was told that the row cannot be booked.
    Refused(Box<Error>),
    /// No booking: the row has to be sent, possibly again.
    None,
}

pub(super) async fn earlier_result(
    context: &Context,
    keyed: &KeyedRow,
    retry: u32,
    retry_failed: bool,
) -> Result<EarlierResult> {
    let (attempt, later, owned) = {
        let journal = context.journal()?;
        let attempt = journal.attempt(&keyed.key(retry))?;
        let owned = attempt.as_ref().is_some_and(|it| journal.owns(it));
        (attempt, journal.attempt(&keyed.key(retry + 1))?, owned)
    };
    // An attempt that belongs to another request or service is not this row's. The journal refuses it when it is sent.
    let own = attempt.filter(|attempt| {
        attempt.origin == context.target().address()
            && is_of_row(attempt, keyed, &keyed.key(retry))
            && owned
    });
    // The runners of a shared batch do not ask again what one of them was told. A row that was changed has another key.
    let is_shared = context.target().journal().is_some() && !retry_failed;
    if let Some(error) = own.as_ref().filter(|_| is_shared).and_then(final_refusal) {
        return Ok(EarlierResult::Refused(Box::new(error)));
    }
    let settled = own.filter(|attempt| attempt.state == State::Settled);
    let Some(id) = settled.and_then(|attempt| attempt.booking_id) else {
        return Ok(EarlierResult::None);
    };
    if later.is_some() {
        return Ok(EarlierResult::Superseded);
    }
    let ended = context.journal()?.ended(&id)?;
    let booking = match ended {
        Some(booking) => booking,
        None => read_booking(context, &id).await?,
    };
    Ok(EarlierResult::Created(Box::new(CreatedBooking {
        booking,
        earlier: true,
    })))
}

/// Why the service will not book the row of an attempt, whoever sends it: its request was refused for what it says. Other
/// refusals, such as that of a rate limit, say nothing of the row.
fn final_refusal(attempt: &Attempt) -> Option<Error> {
    let status = attempt.runs.last().and_then(|run| run.http_status);
    let is_final = matches!(status, Some(400 | 404 | 413 | 422));
    let refused = status.filter(|_| is_final && attempt.state == State::Refused);
    refused.map(|status| refusal(status).idempotency_key(&attempt.idempotency_key))
}

/// The error for a refusal of which only the status is known.
pub(super) fn refusal(status: u16) -> Error {
    let code = ErrorCode::of_refusal(None, status);
    let message = format!("the service refused it with HTTP {status}");
    let mut error = Error::of(code, exit_for_refusal(None, status), message);
    error.http_status = Some(status);
    error
}
