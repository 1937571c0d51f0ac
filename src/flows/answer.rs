//! Sending one answer to a paused booking, and judging what came of it.

use super::wait::read_booking;
use crate::app::Context;
use crate::app::in_flight::{Situation, show_command};
use crate::client::{Continuation, Failure};
use crate::model::booking::{Booking, Status};
use crate::outcome::{Code, Error, Exit, Result};

/// What came of an answer.
pub(crate) enum Outcome {
    /// The booking moved on.
    Advanced(Booking),
    /// The answer was refused and the booking still waits: the error says why.
    StillPaused(Booking, Error),
}

/// Sends an answer, once: one that the service may have taken is never repeated by itself.
///
/// A rate limit is waited out as long as `--max-wait` allows, where the service's own document says that there is one.
/// Where no proper answer came back, the booking is read, and its state decides.
pub(crate) async fn send_answer(
    context: &Context,
    id: &str,
    answer: &Continuation,
) -> Result<Outcome> {
    let client = context.client()?;
    let call = answer.call(id, client.dialect());
    let mut allowed = context.max_wait();
    let failure = loop {
        allowed = context.admit(&call, allowed).await?;
        context
            .situation
            .replace(Situation::Answering { id: id.to_owned() });
        let progress = context.out.progress("answering");
        let sent = client.send(&call).await;
        context.note_allowance(&call);
        drop(progress);
        let failure = match sent {
            Ok(answer) => match Booking::from_document(answer.document) {
                Some(booking) => {
                    context.situation.replace(Situation::known(&booking));
                    return Ok(Outcome::Advanced(booking));
                }
                None => {
                    break Failure::Unreadable {
                        status: answer.status,
                        kind: "no booking".to_owned(),
                    };
                }
            },
            Err(failure) => failure,
        };
        if limited(&failure) != Some(Limited::ByTheService) {
            break failure;
        }
        // A refusal is certain while it is waited out: an interrupt then leaves nothing open.
        context.situation.replace(Situation::Nothing);
        allowed = context.pause_for_limit(failure, &call, allowed).await?;
    };
    let by_another = limited(&failure) == Some(Limited::ByAnother);
    let open = by_another || failure.leaves_a_write_open();
    // Only an invalid answer and a lost one leave a doubt that reading the booking can settle.
    let worth_reading =
        open || matches!(&failure, Failure::Refused(refusal) if refusal.status == 400);
    let mut error = failure.into_error(&call);
    if by_another {
        error.code = Code::OutcomeUnknown.into();
        error.exit = Exit::OutcomeUnknown;
        error.message = format!("the outcome is unknown: {}", error.message);
        error.retry_after = None;
    }
    if open {
        error.hint = Some(format!(
            "check before answering again: {}",
            show_command(id)
        ));
    } else {
        context.situation.replace(Situation::Nothing);
    }
    if !worth_reading {
        return Err(error);
    }
    let Ok(booking) = read_booking(context, id).await else {
        return Err(error);
    };
    context.situation.replace(Situation::known(&booking));
    match booking.status() {
        // A lost answer may still be under way: only a refusal proves that the pause stands.
        Status::RequiresAction if open => Err(error),
        Status::RequiresAction => Ok(Outcome::StillPaused(booking, error)),
        // A refused answer to a booking that no longer waits: its state decides (spec, States and transitions).
        _ if open || error.exit == Exit::Invalid => {
            context.out.note(&error.message);
            Ok(Outcome::Advanced(booking))
        }
        _ => Err(error),
    }
}

/// Who said that there were too many requests (429).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limited {
    /// The service, in a document of its own: it refused the answer without looking at it.
    ByTheService,
    /// Something in between, with a page or an empty body: the service may have taken the answer all the same, for
    /// example from a gateway that had sent it once already.
    ByAnother,
}

fn limited(failure: &Failure) -> Option<Limited> {
    match failure {
        Failure::Refused(refusal) if refusal.status == 429 => {
            Some(match refusal.body.str("error") {
                Some(_) => Limited::ByTheService,
                None => Limited::ByAnother,
            })
        }
        _ => None,
    }
}
