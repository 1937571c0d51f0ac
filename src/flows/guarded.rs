//! Sending a call that changes something, or of which that is not known.
//!
//! A create is guarded by `create`, which records a run of its attempt for each sending.

use crate::app::Context;
use crate::app::in_flight::InFlight;
use crate::client::{Answer, Call, Failure};
use crate::outcome::{Error, Result};

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
pub(super) fn no_booking(status: u16, why: Error) -> Failure {
    Failure::NoBooking {
        status,
        why: Box::new(why),
    }
}
