//! Sending a call that changes something.

use crate::app::Context;
use crate::app::in_flight::InFlight;
use crate::client::{Answer, Call, Failure};
use crate::outcome::Result;

/// Sends a call that must not be repeated where the service may have carried it out.
///
/// A rate limit is the one refusal after which it is sent again: the service says that it did nothing, and `--max-wait`
/// says how long it may be waited out. `in_flight` is what an interrupt has to say while the call is on its way, and
/// `doing` what a person is shown meanwhile.
///
/// # Errors
/// The rate limit, where it may not be waited out; everything else that is no answer is returned as a [`Failure`].
pub(crate) async fn send_guarded(
    context: &Context,
    call: &Call,
    in_flight: impl Fn() -> InFlight,
    doing: &str,
) -> Result<Result<Answer, Failure>> {
    let client = context.client()?;
    let mut allowed = context.max_wait();
    loop {
        allowed = context.admit(call, allowed).await?;
        context.in_flight.replace(in_flight());
        let progress = context.out.progress(doing);
        let sent = client.send(call).await;
        context.record_rate_limit(call);
        drop(progress);
        let failure = match sent {
            Err(failure) if failure.is_rate_limit() => failure,
            sent => return Ok(sent),
        };
        // A refusal is certain while it is waited out: an interrupt then leaves nothing open.
        context.in_flight.replace(InFlight::Nothing);
        allowed = context.pause_for_rate_limit(failure, call, allowed).await?;
    }
}
