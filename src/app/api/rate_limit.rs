//! Counts requests against the rate limits of a journal. One that would be refused is not sent.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use tokio::time::Instant;

use super::Api;
use crate::journal::RateLimitWindow;
use crate::outcome::{Code, Error, Result};
use crate::service::client::{Call, Client, Failure, RATE_LIMIT_WINDOW};
use crate::service::documents::certainty::Certainty;
use crate::service::time::duration::in_units;
use crate::terminal::prompt::Question;

const TICK: Duration = Duration::from_secs(1);
/// The shortest wait. Without it, a reset "in 0 s" would be retried in a tight loop.
const SHORTEST: Duration = Duration::from_secs(1);

impl Api {
    /// Counts a call before it is sent, and waits if its rate limit is exhausted. Returns what is
    /// left of `allowed`. Without a journal nothing is known.
    pub(crate) async fn admit(&self, call: &Call, mut allowed: Duration) -> Result<Duration> {
        let Some(name) = shared_limit(call) else {
            return Ok(allowed);
        };
        loop {
            let clock = |window: Option<&RateLimitWindow>| self.estimated_service_time(window);
            let exhausted =
                self.records.journal().and_then(|journal| journal.count_request(name, &clock));
            let Ok(Some(window)) = exhausted else {
                return Ok(allowed);
            };
            match self.wait_for_window(&window, call, allowed).await? {
                Some(left) => allowed = left,
                None => return Ok(allowed),
            }
        }
    }

    /// The service's clock, as well as it is known before its first answer.
    pub(crate) fn estimated_service_time(&self, window: Option<&RateLimitWindow>) -> Timestamp {
        if self.facts.target.service().is_none() {
            return self.facts.service_now();
        }
        let Ok(client) = self.client() else {
            return Timestamp::now();
        };
        let Some(window) = window.filter(|_| client.connection.skew.get().is_none()) else {
            return client.service_now();
        };
        Timestamp::now().saturating_add(window.skew).unwrap_or(Timestamp::MAX)
    }

    /// Remembers what the last answer said of its rate limit, for the next write to the journal.
    pub(crate) fn observe_rate_limit(&self, call: &Call) {
        let (Some(name), Ok(client)) = (shared_limit(call), self.client()) else {
            return;
        };
        let (Some(seen), Ok(journal)) = (client.rate_limit.get(), self.records.journal()) else {
            return;
        };
        let (now, seen_at) = (client.service_now(), Timestamp::now());
        let resets_at =
            |resets_in| now.saturating_add(SignedDuration::try_from(resets_in).ok()?).ok();
        let window = seen.map(|limit| RateLimitWindow {
            name: name.to_owned(),
            allowed: limit.limit,
            remaining: limit.remaining,
            resets_at: resets_at(limit.resets_in).unwrap_or(Timestamp::MAX),
            skew: now.duration_since(seen_at),
            seen_at,
        });
        journal.observe(name, window);
    }

    /// Waits for an exhausted window, and returns what is left of `allowed`; `None` if the service
    /// decides. Else the call is refused here. The embedded sandbox knows whether it has limits.
    /// Any other one is asked where the wait would be too long: it may have been reset since, and
    /// refusals cost nothing there.
    pub(crate) async fn wait_for_window(
        &self,
        window: &RateLimitWindow,
        call: &Call,
        allowed: Duration,
    ) -> Result<Option<Duration>> {
        if self.facts.target.service().is_none() && !self.settings.sandbox_limits {
            return Ok(None);
        }
        // A sandbox's clock may have been moved since, so it is read before anybody waits by it.
        let is_sandbox = refresh_clock(self.client()?).await;
        let now = self.estimated_service_time(Some(window));
        if !window.is_exhausted(now) {
            return Ok(Some(allowed));
        }
        let left = Duration::try_from(window.resets_at.duration_since(now)).unwrap_or_default();
        let pause = whole_seconds(left).clamp(SHORTEST, RATE_LIMIT_WINDOW);
        if is_sandbox && pause > allowed {
            return Ok(None);
        }
        if let Some(left) = self.wait(pause, allowed).await? {
            return Ok(Some(left));
        }
        let (limit, seconds) = (window.allowed, pause.as_secs());
        let resets = format!("it resets in {}", in_units(seconds));
        let what = format!("rate limit reached ({limit} of {limit}); {resets}; nothing was sent");
        let hint = format!("try again then, or wait for it with --max-wait {seconds}s");
        let mut error = Error::new(Code::RateLimited, what).hint(hint);
        // The same as the service's own refusal, so that scripts need to know only one.
        error.http_status = Some(429);
        error.request = Some(call.name());
        error.retry_after = Some(pause);
        Err(error)
    }

    /// Waits out a rate limit that the service reported, and returns what is left of `allowed`.
    /// Other failures are errors.
    pub(crate) async fn pause_for_rate_limit(
        &self,
        mut failure: Failure,
        call: &Call,
        allowed: Duration,
    ) -> Result<Duration> {
        let may_wait = failure.may_be_waited_out(call);
        if let Failure::Refused(refusal) = &mut failure
            && may_wait
        {
            // At least the shortest wait, in the message too: not "in 0 s".
            refusal.retry_after = refusal.retry_after.map(|pause| pause.max(SHORTEST));
            // Without a reset time, who set --max-wait waits for a whole window (spec, Limits).
            let is_set = allowed >= RATE_LIMIT_WINDOW && allowed < Duration::MAX;
            let pause = refusal.retry_after;
            if let Some(pause) = pause.or(is_set.then_some(RATE_LIMIT_WINDOW))
                && let Some(left) = self.wait(pause, allowed).await?
            {
                return Ok(left);
            }
        }
        let mut error = failure.into_error(call);
        if error.http_status == Some(429)
            && let Some(after) = error.retry_after
            && self.facts.certainty() == Certainty::Contract
        {
            let seconds = after.as_secs().max(1);
            error.hint = Some(format!("skip the wait: bookctl sandbox clock --advance {seconds}s"));
        }
        Err(error)
    }

    /// Waits for a rate limit that resets in `pause`, within `allowed`, or if a person agrees.
    /// Returns what is left of `allowed`; `None` if there is no wait. The time that a person takes to
    /// answer counts as waiting.
    async fn wait(&self, mut pause: Duration, allowed: Duration) -> Result<Option<Duration>> {
        if pause > allowed {
            if !self.ui.prompter.interactive() {
                return Ok(None);
            }
            self.ui.out.make_room();
            let asked_at = Instant::now();
            let resets_in = in_units(pause.as_secs());
            let question = format!("Rate limited; resets in {resets_in}. Wait?");
            let question = Question::new(question, "--max-wait", "the confirmation");
            if !self.ui.prompter.confirm(&question, true).await? {
                return Ok(None);
            }
            pause = pause.saturating_sub(asked_at.elapsed());
        }
        self.wait_out(pause, allowed).await.map(Some)
    }

    /// Waits by the service's clock, with a countdown. A sandbox's clock may move meanwhile.
    async fn wait_out(&self, pause: Duration, allowed: Duration) -> Result<Duration> {
        let in_batch = self.batch_progress.borrow().is_some();
        let waits =
            |left: Duration| format!("rate limited; continuing in {}", in_units(left.as_secs()));
        // A batch says when it ends, which is more than when this wait does.
        let displayed = |left: Duration| match in_batch {
            true => "waiting for the rate limit".to_owned(),
            false if self.ui.prompter.interactive() => waits(left) + "; Esc gives up",
            false => waits(left),
        };
        if !self.ui.prompter.interactive() || !self.ui.out.redraws() {
            self.ui.out.note(&waits(pause));
        }
        let progress = self.ui.out.progress(&displayed(pause));
        let began = Instant::now();
        let client = self.client()?;
        let before = client.connection.skew.get().unwrap_or_default();
        // A short wait needs no look at a sandbox's clock.
        let mut is_watched = pause > 2 * TICK && refresh_clock(client).await;
        let mut passed = Duration::ZERO;
        let mut escape = std::pin::pin!(self.ui.prompter.escape());
        while passed < pause {
            progress.say(&displayed(whole_seconds(pause - passed)));
            tokio::select! {
                () = tokio::time::sleep(TICK.min(pause - passed)) => {}
                left = &mut escape => {
                    left?;
                    return Err(Error::new(Code::Declined, "Nothing more was done."));
                }
            }
            is_watched = is_watched && refresh_clock(client).await;
            // How far a sandbox's clock was moved meanwhile, beyond the time that passed here.
            let moved = client.connection.skew.get().unwrap_or_default() - before;
            passed = began.elapsed() + Duration::try_from(moved).unwrap_or_default();
        }
        Ok(allowed.saturating_sub(began.elapsed().min(pause)))
    }
}

/// The name of a call's rate limit, if the journal shares it. Plain reads open no journal.
fn shared_limit(call: &Call) -> Option<&'static str> {
    call.rate_limit_name().filter(|name| name.starts_with("POST "))
}

/// Whether the service is here and has a sandbox's clock, with which the client's is updated.
async fn refresh_clock(client: &Client) -> bool {
    client.connection.loopback && client.send(&Call::get("/sandbox/clock")).await.is_ok()
}

fn whole_seconds(wait: Duration) -> Duration {
    Duration::from_secs(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
}
