//! Counts requests against rate limits that all processes of this machine share. A request that would be refused is
//! not sent.

use std::sync::Once;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::Context;
use crate::client::{Call, Client, Failure, RATE_LIMIT_WINDOW};
use crate::config::Target;
use crate::journal::RateLimitWindow;
use crate::model::certainty::Certainty;
use crate::model::duration::in_units;
use crate::outcome::{Code, Error, Result};

/// How often a wait checks the clock.
const TICK: Duration = Duration::from_secs(1);
/// The shortest wait. Without it, a reset "in 0 s" would be retried in a tight loop.
const SHORTEST: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    /// The window should have reset. `left` is how much longer the command may wait.
    Waited { left: Duration },
    /// The wait was skipped; the service decides.
    Skipped,
}

impl Context {
    /// Counts a call before it is sent, and waits if its rate limit is known to be exhausted. Returns what is left of
    /// `allowed`.
    ///
    /// Without a journal nothing is known, and nothing is waited for.
    pub(crate) async fn admit(&self, call: &Call, allowed: Duration) -> Result<Duration> {
        let Some(name) = shared_limit(call) else {
            return Ok(allowed);
        };
        let mut allowed = allowed;
        loop {
            let clock = |window: Option<&RateLimitWindow>| self.believed_clock(window);
            let exhausted = self
                .journal()
                .and_then(|mut journal| journal.count_request(name, &clock));
            match exhausted {
                Ok(Some(window)) => match self.wait_for_window(&window, call, allowed).await? {
                    WaitOutcome::Waited { left } => allowed = left,
                    WaitOutcome::Skipped => return Ok(allowed),
                },
                Ok(None) | Err(_) => return Ok(allowed),
            }
        }
    }

    /// The service's clock, as well as it is known before its first answer.
    pub(crate) fn believed_clock(&self, window: Option<&RateLimitWindow>) -> Timestamp {
        if matches!(self.target, Target::Embedded { .. }) {
            let now = self.service_now();
            // Another command may have moved the clock since this one read it.
            let exhausted = window.is_some_and(|window| window.is_exhausted(now));
            return if exhausted {
                (self.live_clock())()
            } else {
                now
            };
        }
        let Ok(client) = self.client() else {
            return Timestamp::now();
        };
        let Some(window) = window.filter(|_| client.skew().is_none()) else {
            return client.service_now();
        };
        let remembered = Timestamp::now().saturating_add(window.ahead);
        remembered.unwrap_or(Timestamp::MAX)
    }

    /// Remembers what the last answer said of its rate limit. It is written together with the next write to the
    /// journal.
    pub(crate) fn observe_rate_limit(&self, call: &Call) {
        let (Some(name), Ok(client)) = (shared_limit(call), self.client()) else {
            return;
        };
        let Some(rate_limit) = client.rate_limit() else {
            if client.has_no_limit()
                && let Ok(mut journal) = self.journal()
            {
                journal.observe_no_limit(name);
            }
            return;
        };
        let now = client.service_now();
        let resets_in = SignedDuration::try_from(rate_limit.resets_in).unwrap_or_default();
        let seen_at = Timestamp::now();
        let window = RateLimitWindow {
            name: name.to_owned(),
            allowed: rate_limit.limit,
            remaining: rate_limit.remaining,
            resets_at: now.saturating_add(resets_in).unwrap_or(Timestamp::MAX),
            ahead: now.duration_since(seen_at),
            seen_at,
        };
        if let Ok(mut journal) = self.journal() {
            journal.observe(window);
        }
    }

    /// Like [`Context::observe_rate_limit`], but writes at once. If the journal cannot be written, the observation is
    /// lost.
    pub(crate) fn record_rate_limit(&self, call: &Call) {
        if shared_limit(call).is_none() {
            return;
        }
        self.observe_rate_limit(call);
        self.keep_rate_limits();
    }

    /// Writes what was observed of rate limits. If the journal cannot be written, it is lost.
    pub(crate) fn keep_rate_limits(&self) {
        if let Ok(mut journal) = self.journal() {
            let _ = journal.write_observed();
        }
    }

    /// Waits for an exhausted window if `allowed` is long enough. Else the call is refused here, and nothing is sent.
    ///
    /// The embedded sandbox knows whether it has limits. Any other one is asked where the wait would be too long: it may have
    /// been reset since, and refusals cost nothing there.
    pub(crate) async fn wait_for_window(
        &self,
        window: &RateLimitWindow,
        call: &Call,
        allowed: Duration,
    ) -> Result<WaitOutcome> {
        let is_embedded = matches!(self.target, Target::Embedded { .. });
        if is_embedded && !self.sandbox_limits {
            return Ok(WaitOutcome::Skipped);
        }
        // A sandbox's clock may have been moved since, so it is read before anybody waits by it.
        if !is_embedded && self.client()?.skew().is_none() {
            sees_its_clock(self.client()?).await;
        }
        let now = self.believed_clock(Some(window));
        if !window.is_exhausted(now) {
            return Ok(WaitOutcome::Waited { left: allowed });
        }
        let left = Duration::try_from(window.resets_at.duration_since(now)).unwrap_or_default();
        let pause = whole_seconds(left).clamp(SHORTEST, RATE_LIMIT_WINDOW);
        if pause <= allowed {
            let left = self.wait_out(pause, allowed).await?;
            return Ok(WaitOutcome::Waited { left });
        }
        if is_embedded || sees_its_clock(self.client()?).await {
            return Ok(WaitOutcome::Skipped);
        }
        if let Some(pause) = self.agreed_wait(pause, allowed).await? {
            let left = self.wait_out(pause, allowed).await?;
            return Ok(WaitOutcome::Waited { left });
        }
        let (limit, seconds) = (window.allowed, pause.as_secs());
        let mut error = Error::new(Code::RateLimited,
            format!(
                "rate limited: all {limit} requests of this window are used; the limit resets in {}; nothing was sent",
                in_units(seconds)
            ),
        )
        .hint(format!("try again then, or wait for it with --max-wait {seconds}s"));
        // The same as the service's own refusal, so that scripts need to know only one.
        error.http_status = Some(429);
        error.request = Some(call.name());
        error.retry_after = Some(pause);
        Err(error)
    }

    /// Waits out a rate limit that the service reported, and returns what is left of `allowed`.
    ///
    /// # Errors
    ///
    /// The failure, if it is not a rate limit or may not be waited out.
    pub(crate) async fn pause_for_rate_limit(
        &self,
        failure: Failure,
        call: &Call,
        allowed: Duration,
    ) -> Result<Duration> {
        let mut failure = failure;
        let may_wait = failure.may_be_waited_out(call);
        let pause = match &mut failure {
            Failure::Refused(refusal) if may_wait => {
                // At least the shortest wait, in the message too: "in 0 s" would ask for no wait at all.
                refusal.retry_after = refusal.retry_after.map(|pause| pause.max(SHORTEST));
                // Without a reset time, who set --max-wait waits for a whole window (spec, Limits).
                let is_set = allowed >= RATE_LIMIT_WINDOW && allowed < Duration::MAX;
                refusal.retry_after.or(is_set.then_some(RATE_LIMIT_WINDOW))
            }
            _ => None,
        };
        let pause = match pause {
            Some(pause) => self.agreed_wait(pause, allowed).await?,
            None => None,
        };
        match pause {
            Some(pause) => self.wait_out(pause, allowed).await,
            None => Err(self.with_a_sandboxs_hint(failure.into_error(call))),
        }
    }

    /// Adds to a rate limit of a sandbox how to end it at once.
    fn with_a_sandboxs_hint(&self, mut error: Error) -> Error {
        if error.http_status == Some(429)
            && let Some(after) = error.retry_after
            && self.certainty() == Certainty::Contract
        {
            let seconds = after.as_secs().max(1);
            error.hint = Some(format!(
                "skip the wait with: bookctl sandbox clock --advance {seconds}s; or wait with --max-wait {seconds}s; or start \
                 the sandbox with --no-limits"
            ));
        }
        error
    }

    /// Waits by the service's clock, with a countdown. A sandbox's clock may be moved in the meantime.
    async fn wait_out(&self, pause: Duration, allowed: Duration) -> Result<Duration> {
        let in_batch = self.batch_progress.borrow().is_some();
        let waits =
            |left: Duration| format!("rate limited; continuing in {}", in_units(left.as_secs()));
        // A batch says when it ends, which is more than when this wait does.
        let shown = |left: Duration| match in_batch {
            true => "waiting for the rate limit".to_owned(),
            false => waits(left),
        };
        if !self.prompter.interactive() || !self.out.redraws() {
            self.out.note(&waits(pause));
        }
        let progress = self.out.progress(&shown(pause));
        let began = tokio::time::Instant::now();
        let started = Timestamp::now();
        let embedded = matches!(self.target, Target::Embedded { .. }).then(|| self.live_clock());
        let sandbox_began = embedded.as_ref().map(|clock| clock());
        // A short wait needs no look at the sandbox's clock.
        let mut watched = pause > 2 * TICK && embedded.is_none();
        let skew_before = self.client()?.skew().unwrap_or_default();
        if watched {
            watched = sees_its_clock(self.client()?).await;
        }
        if pause > 2 * TICK && (watched || embedded.is_some()) {
            static TOLD: Once = Once::new();
            TOLD.call_once(|| {
                self.out.note(
                    "to skip the waits of a sandbox, run in another terminal: bookctl sandbox clock --advance 5m",
                );
            });
        }
        let mut passed = Duration::ZERO;
        while passed < pause {
            progress.say(&shown(whole_seconds(pause - passed)));
            tokio::time::sleep(TICK.min(pause - passed)).await;
            // How far a sandbox's clock was moved in the meantime, in addition to the time that passed here.
            let moved = if let (Some(clock), Some(before)) = (&embedded, sandbox_began) {
                clock().duration_since(before) - Timestamp::now().duration_since(started)
            } else if watched {
                watched = sees_its_clock(self.client()?).await;
                self.client()?.skew().unwrap_or_default() - skew_before
            } else {
                SignedDuration::ZERO
            };
            passed = began.elapsed() + Duration::try_from(moved).unwrap_or_default();
        }
        Ok(allowed.saturating_sub(began.elapsed().min(pause)))
    }
}

/// The name of the rate limit of a call, if it is shared through the journal. Plain reads do not open the journal.
fn shared_limit(call: &Call) -> Option<&'static str> {
    call.rate_limit_name()
        .filter(|name| name.starts_with("POST "))
}

/// Whether the service is on this machine and has a sandbox's clock. The answer updates the client's clock.
async fn sees_its_clock(client: &Client) -> bool {
    client.is_loopback() && client.send(&Call::get("/sandbox/clock")).await.is_ok()
}

/// Rounds a wait up to whole seconds.
fn whole_seconds(wait: Duration) -> Duration {
    Duration::from_secs(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
}
