//! A create that is never forgotten: recorded before the first byte, settled by its answer.

use serde_json::Value;

use crate::api::{Failure, create_call};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::journal::Begun;
use crate::model::booking::Booking;
use crate::situation::{Situation, resume_command};

/// Creates a booking under `key`.
///
/// Before anything is sent the journal holds the intent, synced; without a journal nothing is sent.
pub(crate) async fn create(context: &Context, key: &str, body: Value) -> Result<Booking> {
    let client = context.client()?;
    let begun = context.journal()?.begin(key, &body)?;
    send(context, client, key, body, begun == Begun::Again).await
}

/// Sends an attempt of the journal again, with its own key and request.
pub(crate) async fn resume(context: &Context, key: &str, body: Value) -> Result<Booking> {
    let client = context.client()?;
    send(context, client, key, body, true).await
}

async fn send(
    context: &Context,
    client: &crate::api::Client,
    key: &str,
    body: Value,
    may_exist: bool,
) -> Result<Booking> {
    let call = create_call(body, key);
    context.situation.replace(Situation::Creating {
        key: key.to_owned(),
    });
    let mut progress = Some(context.out.progress("booking"));
    let mut allowed = context.max_wait();
    let answer = loop {
        let (failure, open) = match client.create(&call, may_exist).await {
            Ok(answer) => break answer,
            Err(failed) => failed,
        };
        if open {
            return Err(unsettled(context, failure, &call, key));
        }
        let limited = matches!(&failure, Failure::Refused(refusal) if refusal.status == 429);
        if !limited {
            return Err(conclude_refusal(context, key, failure.into_error(&call)));
        }
        // A refusal is certain while it is waited out: an interrupt then leaves nothing open.
        note_refusal(context, key, Some(429));
        drop(progress.take());
        match context.pause_for_limit(failure, &call, allowed).await {
            Ok(left) => allowed = left,
            Err(error) => return Err(error),
        }
        context
            .journal()?
            .begin(key, call.body.as_ref().unwrap_or(&Value::Null))?;
        context.situation.replace(Situation::Creating {
            key: key.to_owned(),
        });
        progress = Some(context.out.progress("booking"));
    };
    drop(progress);
    let status = answer.status;
    // A 2xx that is no booking proves nothing: the attempt stays unsettled.
    let Some(booking) = Booking::from_document(answer.document) else {
        let failure = Failure::Unreadable {
            status,
            kind: "no booking".to_owned(),
        };
        return Err(unsettled(context, failure, &call, key));
    };
    context.situation.replace(Situation::known(&booking));
    let settled = context
        .journal()
        .and_then(|mut journal| journal.settle(key, booking.id(), status));
    if let Err(error) = settled {
        context.out.warn(&format!(
            "the booking was made, but the journal could not note it: {}",
            error.message
        ));
    }
    if status == 200 && !may_exist {
        context.out.note(&format!(
            "booking {} was made before under this idempotency key",
            booking.id()
        ));
    }
    Ok(booking)
}

/// Nothing was created: the journal notes it, and an intent that never left is taken back.
fn conclude_refusal(context: &Context, key: &str, error: Error) -> Error {
    note_refusal(context, key, error.http_status);
    error
}

fn note_refusal(context: &Context, key: &str, http_status: Option<u16>) {
    context.situation.replace(Situation::Nothing);
    let noted = context.journal().and_then(|mut journal| match http_status {
        Some(status) => journal.refuse(key, status),
        None => journal.withdraw(key),
    });
    if let Err(noted) = noted {
        let why = &noted.message;
        context.out.warn(&format!(
            "nothing was created, but the journal could not note it: {why}"
        ));
    }
}

/// The outcome is open: the error says so, whatever the last try was told, and names what settles it.
fn unsettled(context: &Context, failure: Failure, call: &crate::api::Call, key: &str) -> Error {
    // Where this cannot be noted the attempt is unsettled all the same, and mentioned once it is old.
    let _ = context.journal().and_then(|mut journal| journal.doubt(key));
    let mut error = failure.into_error(call);
    let rate_limited = error.exit == Exit::RateLimited;
    if !rate_limited && error.exit != Exit::OutcomeUnknown {
        error.message = format!("the outcome is unknown: {}", error.message);
        error.code = "outcome_unknown".to_owned();
        error.exit = Exit::OutcomeUnknown;
    }
    error.hint = Some(format!(
        "a booking may exist; settle it with: {}",
        resume_command(key)
    ));
    error.idempotency_key(key)
}
