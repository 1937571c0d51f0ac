//! Sends one answer to a paused booking, and judges the result.

use crate::app::Context;
use crate::app::in_flight::{InFlight, show_command};
use crate::app::understood::booking_of;
use crate::booking::change::send::{is_of, no_booking, send_guarded};
use crate::booking::compare::compared::warn_if_still_asked;
use crate::booking::finish::booking_view;
use crate::booking::watch::wait::{another, read_booking};
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::{Continuation, Failure};
use crate::service::documents::booking::{Booking, Status};
use crate::service::mapping::{Pause, WriteKind};

pub(crate) enum AnswerOutcome {
    Advanced(Booking),
    /// The service refused the answer, and the booking still waits. The error says why.
    StillPaused(Booking, Error),
}

/// Sends an answer once. An answer that the service may have taken is never repeated automatically.
///
/// Waits out a rate limit for as long as `--max-wait` allows, if the service's own document reports it. If no usable
/// answer comes back, reads the booking, whose status then decides.
pub(crate) async fn send_answer(
    context: &Context,
    id: &str,
    answer: &Continuation,
) -> Result<AnswerOutcome> {
    let call = answer.call(id, context.adapter())?;
    let in_flight = || InFlight::Answering { id: id.to_owned() };
    let failure = match send_guarded(context, &call, in_flight, "sending the answer").await? {
        Ok(answered) => match booking_of(context, answered.document) {
            Ok(booking) if is_of(context, id, &booking).await => {
                context.in_flight.replace(InFlight::known(&booking));
                compare(context, answer, &booking);
                return Ok(AnswerOutcome::Advanced(booking));
            }
            Ok(other) => no_booking(answered.status, another(&other, id)),
            Err(why) => no_booking(answered.status, why),
        },
        Err(failure) => failure,
    };
    let open = failure.may_have_been_carried_out();
    // Reading the booking helps only after an invalid answer or a lost one.
    let worth_reading =
        open || matches!(&failure, Failure::Refused(refusal) if refusal.status == 400);
    let mut error = failure.into_error(&call);
    if open {
        let check = format!("check before you answer again: {}", show_command(id));
        error = error.hint_before(check);
    } else {
        context.in_flight.replace(InFlight::Nothing);
    }
    if !worth_reading {
        return Err(error);
    }
    let Ok(booking) = read_booking(context, id).await else {
        return Err(error);
    };
    context.in_flight.replace(InFlight::known(&booking));
    match booking.status() {
        // A lost answer may still be on its way. Only a refusal proves that the booking still waits.
        Status::RequiresAction if open => Err(error),
        Status::RequiresAction => Ok(AnswerOutcome::StillPaused(booking, error)),
        // The answer was refused because the booking no longer waits: its status decides (spec, States and
        // transitions).
        _ if open || error.exit == Exit::Invalid => {
            context.out.note(&error.message);
            Ok(AnswerOutcome::Advanced(booking))
        }
        _ => Err(error),
    }
}

/// The error (12) of an answer that is of another kind than what the booking waits for. A kind of pause that bookctl does not
/// know may be either.
pub(crate) fn answered_otherwise(
    context: &Context,
    booking: &Booking,
    answer: &Continuation,
) -> Option<Error> {
    let kind = |pause| match pause {
        Pause::Otp => Some("a one-time code"),
        Pause::Payment => Some("a payment response"),
        Pause::Other => None,
    };
    let asked = context.dialect().pause(booking.next_action());
    let (asked, given) = (kind(asked)?, kind(answer.pause())?);
    let is_waiting = booking.status() == Status::RequiresAction;
    (is_waiting && asked != given).then(|| {
        let id = booking.id();
        let answers = booking_view(context, booking).commands().join(", or ");
        Error::new(
            Code::Http400,
            format!("booking {id} is waiting for {asked}, not for {given}"),
        )
        .hint(format!("to answer: {answers}"))
    })
}

/// Says so where the booking still asks for what was answered. Other fields than these are compared with those of the
/// booking at the end of the command.
fn compare(context: &Context, answer: &Continuation, booking: &Booking) {
    let (kind, field) = match answer {
        Continuation::Otp(_) => (WriteKind::Otp, "otp"),
        Continuation::PspResponse(_) => (WriteKind::Payment, "psp_response"),
        Continuation::PspAbort => (WriteKind::Abort, "psp_abort"),
        Continuation::Fields(_) => return,
    };
    let is_asked = context.dialect().pause(booking.next_action()) == answer.pause();
    warn_if_still_asked(context, booking, kind, field, is_asked);
}
