//! Sends what changes something, or of which that is not known: once. If the answer to a change of a booking is lost, the
//! booking is read to see whether the change was made. A create is guarded by `create`, which records a run of its attempt
//! for each sending.

use crate::app::Context;
use crate::app::in_flight::{InFlight, show_command};
use crate::app::understood::booking_of;
use crate::booking::compare::difference::difference;
use crate::booking::watch::wait::{another, look_up, read_booking};
use crate::outcome::{Code, Error, Result};
use crate::platform::shell;
use crate::service::client::{Answer, Call, Failure};
use crate::service::documents::booking::{Booking, Status};
use crate::service::documents::id::same_id;

/// Refuses (7) to cancel a booking that has ended, or that waits for an answer and expires without one.
pub(crate) fn refuse_uncancellable(booking: &Booking, what: &str) -> Result<()> {
    match booking.status() {
        Status::RequiresAction => {
            let error = refused(booking, "only a confirmed booking can be cancelled");
            let answer = shell::command("continue", booking.id(), "");
            Err(error.hint(format!(
                "without an answer it ends by itself; answer it: {answer}"
            )))
        }
        Status::Failed | Status::Cancelled | Status::Expired => Err(refused(booking, what)),
        _ => Ok(()),
    }
}

/// The error (7) for a booking in a state in which it cannot be changed.
pub(crate) fn refused(booking: &Booking, what: &str) -> Error {
    let (id, status) = (booking.id(), booking.status());
    let already = match status {
        Status::Cancelled => "already ",
        _ => "",
    };
    Error::new(
        Code::Http409,
        format!("booking {id} is {already}{status}; {what}"),
    )
    .hint(format!("see `{}`", show_command(id)))
}

/// Whether an answer is about the booking that was to be changed.
///
/// A service may know a booking by several ids, and then shows the other id for this one as well, with what the journal
/// kept of it. The answer to another request proves nothing.
pub(crate) async fn is_of(context: &Context, id: &str, answered: &Booking) -> bool {
    if same_id(answered.id(), id) {
        return true;
    }
    let shown = look_up(context, id).await;
    shown.is_ok_and(|shown| same_id(shown.id(), answered.id()))
        && kept(context, id).is_none_or(|kept| difference(kept.value(), answered).is_none())
}

fn kept(context: &Context, id: &str) -> Option<Booking> {
    if !context.has_journal() {
        return None;
    }
    let kept = context.journal().ok()?.kept(id).ok()??;
    Some(kept.booking)
}

/// Sends a modify or a cancel call; `what` is its noun.
///
/// If no usable answer comes, reads the booking. If `done` finds the change in it, the change was made; else its
/// outcome is unknown (16).
pub(crate) async fn change(
    context: &Context,
    id: &str,
    call: Call,
    what: &'static str,
    done: impl Fn(&Booking) -> bool,
) -> Result<Booking> {
    let in_flight = || InFlight::Changing {
        id: id.to_owned(),
        what,
    };
    let doing = format!("sending the {what}");
    let failure = match send_guarded(context, &call, in_flight, &doing).await? {
        Ok(answer) => match booking_of(context, answer.document) {
            Ok(booking) if is_of(context, id, &booking).await => {
                context.in_flight.replace(InFlight::known(&booking));
                return Ok(booking);
            }
            Ok(other) => no_booking(answer.status, another(&other, id)),
            Err(why) => no_booking(answer.status, why),
        },
        Err(failure) => failure,
    };
    let open = failure.may_have_been_carried_out();
    let error = failure.into_error(&call);
    if !open {
        context.in_flight.replace(InFlight::Nothing);
        return Err(error);
    }
    let error = error.hint_before(format!("check before trying again: {}", show_command(id)));
    match read_booking(context, id).await {
        Ok(booking) if done(&booking) => {
            context.out.note(&format!(
                "{}; but the booking shows that it was done",
                error.message
            ));
            Ok(booking)
        }
        _ => Err(error),
    }
}

/// Sends a call that must not be repeated if the service may have carried it out.
///
/// A rate limit is the only refusal after which the call is sent again, because the service has then done nothing;
/// `--max-wait` limits the wait. `in_flight` is what an interrupt reports while the call is on its way, and `doing`
/// labels the progress display.
///
/// # Errors
///
/// The rate limit, if it may not be waited out. Every other failure is returned as a [`Failure`].
pub(crate) async fn send_guarded(
    context: &Context,
    call: &Call,
    in_flight: impl Fn() -> InFlight,
    doing: &str,
) -> Result<Result<Answer, Failure>> {
    let client = context.client()?;
    let send = async || {
        let _progress = context.out.progress(doing);
        client.send(call).await
    };
    guard(context, call, in_flight, send).await
}

/// Like [`send_guarded`], for any way to send the call.
pub(crate) async fn guard<T>(
    context: &Context,
    call: &Call,
    in_flight: impl Fn() -> InFlight,
    send: impl AsyncFn() -> Result<T, Failure>,
) -> Result<Result<T, Failure>> {
    let mut allowed = context.max_wait();
    loop {
        allowed = context.admit(call, allowed).await?;
        context.in_flight.replace(in_flight());
        let sent = send().await;
        context.record_rate_limit(call);
        let failure = match sent {
            Err(failure) if failure.may_be_waited_out(call) => failure,
            sent => return Ok(sent),
        };
        // The service has done nothing, so an interrupt during the wait leaves nothing open.
        context.in_flight.replace(InFlight::Nothing);
        allowed = context.pause_for_rate_limit(failure, call, allowed).await?;
    }
}

/// The failure where a booking was due, and the answer is something else.
pub(crate) fn no_booking(status: u16, why: Error) -> Failure {
    Failure::NoBooking {
        status,
        why: Box::new(why),
    }
}
