//! Sends one answer to a paused booking, and judges the result.

use serde_json::json;

use crate::app::in_flight::{InFlight, show_command};
use crate::app::{Api, Parts, Verdict};
use crate::booking::change::send::{Sender, pause_facts};
use crate::booking::finish::booking_view;
use crate::booking::finish::way_to_map;
use crate::booking::terms::find_recorded;
use crate::booking::watch::wait::read_booking;
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::{Call, Continuation};
use crate::service::documents::{Booking, Status};
use crate::service::mapping::{Pause, WriteKind};

/// The call of an answer. Reads the booking first if the profile writes it from its pause.
pub(crate) async fn call_of(api: &Api, id: &str, answer: &Continuation) -> Result<Call> {
    let mapping = api.facts.mapping();
    if !mapping.write.get(&answer.kind()).is_some_and(|it| it.mentions("next_action")) {
        return answer.call(id, None, mapping);
    }
    let booking = read_booking(api, id).await?;
    answer.call(id, booking.next_action(), mapping)
}

/// Sends an answer once, because the service may have taken it. If no usable answer comes back,
/// reads the booking, whose status then decides. Returns the booking as it is now, and the error of
/// a refused answer for which it still waits.
pub(crate) async fn send_answer(
    parts @ Parts { api, ui, .. }: &Parts,
    id: &str,
    answer: &Continuation,
) -> Result<(Booking, Option<Error>)> {
    let stored = find_recorded(&parts.records, id);
    let pause = stored.map_or(json!({}), |stored| pause_facts(&stored.booking));
    let mut sender = Sender::new(parts, id, answer.kind(), pause);
    let requested = |booking: &Booking| {
        let pause = api.facts.dialect().pause(booking.next_action());
        (booking.status() == Status::RequiresAction).then_some(pause)
    };
    let is_waiting = |booking: &Booking| requested(booking) == Some(answer.pause());
    // A pause of a kind that bookctl does not know may be the one that was answered.
    let may_wait =
        |booking: &Booking| is_waiting(booking) || requested(booking) == Some(Pause::Other);
    if let Some(booking) = sender.found_done(|it| !may_wait(it)).await? {
        return Ok((booking, None));
    }
    let call = call_of(api, id, answer).await?;
    let check = format!("check before you answer again: {}", show_command(id));
    let in_flight = InFlight::Sent(format!("the answer to booking {id}"), check);
    let (wording, error, is_lost) = match sender.send(&call, in_flight).await {
        Verdict::Done(booking) => {
            // The response may be older than the answer that it is to.
            let booking = sender.read_unless(booking, |it| !is_waiting(it)).await?;
            api.in_flight.replace(InFlight::known(&booking));
            let kind = answer.kind();
            if kind == WriteKind::Abort && booking.status() == Status::Confirmed {
                let what = "the payment was aborted, but the booking is confirmed";
                ui.out.warn(&format!("{what}; check what was charged"));
            }
            // A service may skip a field that it does not know. Other fields than these are compared
            // with those of the booking at the end of the command.
            if kind != WriteKind::Action && is_waiting(&booking) {
                let what = "the service accepted the answer, but the booking still waits for it";
                let field = kind.fields().first().map_or("", |it| it.0);
                ui.out.warn(&format!("{what}; {}", way_to_map(&api.facts, kind, field)));
            }
            return Ok((booking, None));
        }
        // Reading the booking helps only after an invalid answer or one that may have been taken.
        Verdict::Rejected(failure) if failure.status() == Some(400) || sender.is_in_doubt => {
            (failure.to_string(), failure.into_error(&call), false)
        }
        Verdict::Unknown(failure) => (failure.to_string(), api.unknown(failure, &call), true),
        verdict => return api.result(verdict, &call).map(|booking| (booking, None)),
    };
    let Ok(booking) = sender.read().await else {
        return Err(error);
    };
    let may_be_taken = is_lost || sender.is_in_doubt;
    match booking.status() {
        // A lost answer may still be on its way. Only a refusal proves the booking waits.
        Status::RequiresAction if is_lost => Err(error),
        Status::RequiresAction if !may_be_taken || may_wait(&booking) => Ok((booking, Some(error))),
        // The booking no longer waits for it, so its status decides (spec, States and transitions).
        _ if may_be_taken || error.exit == Exit::Invalid => {
            let status = booking.status();
            if is_lost {
                sender.end("done", None);
            }
            ui.out.note(&format!("{wording}; the booking has status {status}"));
            Ok((booking, None))
        }
        _ => Err(error),
    }
}

/// The error (12) of an answer that is of another kind than what the booking waits for. A kind of
/// pause that bookctl does not know may be either.
pub(crate) fn answered_otherwise(
    parts: &Parts,
    booking: &Booking,
    answer: &Continuation,
) -> Option<Error> {
    let kind = |pause| match pause {
        Pause::Otp => Some("a one-time code"),
        Pause::Payment => Some("a payment response"),
        Pause::Other => None,
    };
    let requested = kind(parts.api.facts.dialect().pause(booking.next_action()))?;
    let given = kind(answer.pause())?;
    let is_over = booking.is_overdue(parts.api.facts.service_now());
    if booking.status() != Status::RequiresAction || is_over || requested == given {
        return None;
    }
    let id = booking.id();
    let what = format!("booking {id} is waiting for {requested}, not for {given}");
    let answers = booking_view(parts, booking).commands();
    let answer = answers.first().map(|answer| format!("to answer: {answer}"));
    Some(Error::new(Code::Http400, what).hint(answer.unwrap_or_default()))
}
