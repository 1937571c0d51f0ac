//! Sending one answer to a paused booking, and judging what came of it.

use super::guarded::send_guarded;
use super::wait::read_booking;
use crate::app::Context;
use crate::app::in_flight::{Situation, show_command};
use crate::client::{Continuation, Failure};
use crate::model::booking::{Booking, Status};
use crate::outcome::{Error, Exit, Result};

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
    let call = answer.call(id, context.client()?.dialect());
    let in_flight = || Situation::Answering { id: id.to_owned() };
    let failure = match send_guarded(context, &call, in_flight, "sending the answer").await? {
        Ok(answer) => match Booking::from_document(answer.document) {
            Some(booking) => {
                context.situation.replace(Situation::known(&booking));
                return Ok(Outcome::Advanced(booking));
            }
            None => Failure::Unreadable {
                status: answer.status,
                kind: "not a booking".to_owned(),
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
            "check before you answer again: {}",
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
