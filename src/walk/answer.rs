//! Sending one answer to a paused booking, and judging what came of it.

use super::wait::read_booking;
use crate::api::{Continuation, Failure};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::model::booking::{Booking, Status};
use crate::situation::{Situation, show_command};

/// What came of an answer.
pub(crate) enum Outcome {
    /// The booking moved on.
    Advanced(Booking),
    /// The answer was refused and the booking still waits: the error says why.
    StillPaused(Booking, Error),
}

/// Sends an answer, once: no answer is ever repeated by itself.
///
/// Where no proper answer came back, the booking is read, and its state decides.
pub(crate) async fn send_answer(
    context: &Context,
    id: &str,
    answer: &Continuation,
) -> Result<Outcome> {
    let client = context.client()?;
    let call = answer.call(id, client.dialect());
    context.admit(&call, context.max_wait()).await?;
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
            None => Failure::Unreadable {
                status: answer.status,
                kind: "no booking".to_owned(),
            },
        },
        Err(failure) => failure,
    };
    let open = failure.leaves_a_write_open();
    // Only an invalid answer and a lost one leave a doubt that reading the booking can settle.
    let worth_reading =
        open || matches!(&failure, Failure::Refused(refusal) if refusal.status == 400);
    let mut error = failure.into_error(&call);
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
