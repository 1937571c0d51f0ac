//! Sends what changes something, or of which that is not known: once. If the answer to a change of
//! a booking is lost, the booking is read to see whether the change was made. A create is guarded
//! by `create`, which records a run of its attempt for each sending.

use jiff::Timestamp;

use crate::app::in_flight::{InFlight, show_command};
use crate::app::understood::booking_of;
use crate::app::{Api, Records, Ui};
use crate::booking::finish::record;
use crate::booking::watch::wait::{another, read_booking};
use crate::outcome::{Code, Error, Result};
use crate::service::client::{Answer, Call, Failure};
use crate::service::documents::booking::{Booking, Status};
use crate::service::documents::id::same_id;

/// The error (7) for a booking in a state in which it cannot be changed, which is recorded.
pub(crate) fn refused(records: &Records, ui: &Ui, booking: &Booking, what: &str) -> Error {
    record(records, ui, booking);
    let (id, status) = (booking.id(), booking.status());
    let state = match status {
        Status::Cancelled => "is already cancelled".to_owned(),
        status => format!("has status {status}"),
    };
    Error::new(Code::Http409, format!("booking {id} {state}; {what}"))
        .hint(format!("see `{}`", show_command(id)))
}

/// Sends a modify or a cancel call; `what` is its noun. Without a usable response, reads the
/// booking: if `done` finds the change, it was made; else its outcome is unknown (16).
pub(crate) async fn change(
    api: &Api,
    ui: &Ui,
    id: &str,
    call: Call,
    what: &'static str,
    done: impl Fn(&Booking) -> bool,
) -> Result<Booking> {
    let in_flight = || InFlight::changing(id, what);
    let doing = format!("sending the {what}");
    let failure = match send_about(api, ui, id, &call, in_flight, &doing).await? {
        Ok(booking) => return Ok(booking),
        Err(failure) => failure,
    };
    let may_be_done = failure.may_have_been_carried_out();
    let said = failure.to_string();
    let error = failure.into_error(&call);
    if !may_be_done {
        return Err(error);
    }
    let error = error.hint_before(format!("check before trying again: {}", show_command(id)));
    match read_booking(api, ui, id).await {
        Ok(booking) if done(&booking) => {
            let note = format!("{said}; the booking shows the change");
            ui.out.note(&note);
            Ok(booking)
        }
        _ => Err(error),
    }
}

/// Sends a call about a booking like [`send_guarded`], and returns the booking of the answer. An
/// answer without a booking, or with another one, is a failure that proves nothing.
pub(crate) async fn send_about(
    api: &Api,
    ui: &Ui,
    id: &str,
    call: &Call,
    in_flight: impl Fn() -> InFlight,
    doing: &str,
) -> Result<Result<Booking, Failure>> {
    let left_at = Timestamp::now();
    let failure = match send_guarded(api, call, in_flight, doing).await? {
        Ok(answer) => match booking_of(&api.facts, ui, answer.document, left_at) {
            Ok(booking) if same_id(booking.id(), id) => {
                api.in_flight.replace(InFlight::known(&booking));
                return Ok(Ok(booking));
            }
            Ok(other) => no_booking(answer.status, another(&other, id)),
            Err(why) => no_booking(answer.status, why),
        },
        Err(failure) => failure,
    };
    if !failure.may_have_been_carried_out() {
        api.in_flight.take();
    }
    Ok(Err(failure))
}

/// Sends a call that must not be repeated if the service may have carried it out.
///
/// A rate limit is the only refusal after which the call is sent again, because the service has
/// then done nothing; `--max-wait` limits the wait. `in_flight` is what an interrupt reports while
/// the call is on its way, and `doing` labels the progress display. A rate limit that may not be
/// waited out is an error, anything else a [`Failure`].
pub(crate) async fn send_guarded(
    api: &Api,
    call: &Call,
    in_flight: impl Fn() -> InFlight,
    doing: &str,
) -> Result<Result<Answer, Failure>> {
    let client = api.client()?;
    let send = async || {
        let _progress = api.requesting(doing);
        client.send(call).await
    };
    guard(api, call, in_flight, send).await
}

/// Like [`send_guarded`], for any way to send the call.
pub(crate) async fn guard<T>(
    api: &Api,
    call: &Call,
    in_flight: impl Fn() -> InFlight,
    send: impl AsyncFn() -> Result<T, Failure>,
) -> Result<Result<T, Failure>> {
    let mut max_wait = api.max_wait();
    loop {
        max_wait = api.admit(call, max_wait).await?;
        api.in_flight.replace(in_flight());
        let sent = send().await;
        api.record_rate_limit(call);
        let failure = match sent {
            Err(failure) if failure.may_be_waited_out(call) => failure,
            sent => return Ok(sent),
        };
        // The service has done nothing, so an interrupt during the wait leaves nothing open.
        api.in_flight.take();
        max_wait = api.pause_for_rate_limit(failure, call, max_wait).await?;
    }
}

/// The failure where a booking was due, and the answer is something else.
pub(crate) fn no_booking(status: u16, why: Error) -> Failure {
    Failure::NoBooking { status, why: Box::new(why) }
}
