//! Rate limits, shared by every process of this machine: what is known to be refused is not sent.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::Context;
use crate::client::{Call, Client, Failure, WINDOW};
use crate::config::Target;
use crate::journal::Window;
use crate::outcome::{Code, Error, Result};

/// How often a wait looks at the clock.
const TICK: Duration = Duration::from_secs(1);
/// The shortest wait: "at once" would be asked without end.
const SHORTEST: Duration = Duration::from_secs(1);

/// How a wait for a shut window ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// It should be open now; so much waiting is still allowed.
    Until { left: Duration },
    /// Whether it is shut is for the service to say.
    NotAtAll,
}

impl Context {
    /// Counts a call before it is sent, and waits where its window is known to be shut; returns what is left of
    /// `allowed`. Without a journal nothing is known, and nothing waited for.
    pub(crate) async fn admit(&self, call: &Call, allowed: Duration) -> Result<Duration> {
        let Some(budget) = shared_budget(call) else {
            return Ok(allowed);
        };
        let mut allowed = allowed;
        loop {
            let Some(now) = self.metered_now(budget).await else {
                return Ok(allowed);
            };
            let shut = self
                .journal()
                .and_then(|mut journal| journal.take(budget, now));
            match shut {
                Ok(Some(window)) => match self.wait_for_window(&window, call, allowed).await? {
                    Waited::Until { left } => allowed = left,
                    Waited::NotAtAll => return Ok(allowed),
                },
                Ok(None) | Err(_) => return Ok(allowed),
            }
        }
    }

    /// Now, by the clock that a budget's window goes by; `None` where there is no journal.
    pub(crate) async fn metered_now(&self, budget: &str) -> Option<Timestamp> {
        let window = self.journal().ok()?.window(budget).ok()?;
        Some(self.service_clock(window.as_ref()).await)
    }

    /// The service's clock, as well as it is known before an answer showed it.
    async fn service_clock(&self, window: Option<&Window>) -> Timestamp {
        if matches!(self.target, Target::Embedded { .. }) {
            let now = self.now().unwrap_or_else(|_| Timestamp::now());
            // Another command may have moved the clock since this one read it.
            let shut = window.is_some_and(|window| window.is_shut(now));
            return if shut { (self.live_clock())() } else { now };
        }
        let Ok(client) = self.client() else {
            return Timestamp::now();
        };
        let Some(window) = window.filter(|_| client.skew().is_none()) else {
            return client.service_now();
        };
        let remembered = Timestamp::now().saturating_add(window.ahead);
        let remembered = remembered.unwrap_or(Timestamp::MAX);
        // A sandbox's clock may have been moved since: it is asked before anybody waits by it.
        if window.is_shut(remembered) && sees_its_clock(client).await {
            return client.service_now();
        }
        remembered
    }

    /// Remembers what the last answer said is left, with what is written to the journal next.
    pub(crate) fn observe_allowance(&self, call: &Call) {
        let (Some(budget), Ok(client)) = (shared_budget(call), self.client()) else {
            return;
        };
        let Some(allowance) = client.allowance() else {
            return;
        };
        let now = client.service_now();
        let resets_in = SignedDuration::try_from(allowance.resets_in).unwrap_or_default();
        let seen_at = Timestamp::now();
        let window = Window {
            budget: budget.to_owned(),
            allowed: allowance.limit,
            remaining: allowance.remaining,
            resets_at: now.saturating_add(resets_in).unwrap_or(Timestamp::MAX),
            ahead: now.duration_since(seen_at),
            seen_at,
        };
        if let Ok(mut journal) = self.journal() {
            journal.observe(window);
        }
    }

    /// The same, and writes it; a journal that cannot take it loses it.
    pub(crate) fn note_allowance(&self, call: &Call) {
        if shared_budget(call).is_none() {
            return;
        }
        self.observe_allowance(call);
        if let Ok(mut journal) = self.journal() {
            let _ = journal.note_observed();
        }
    }

    /// Waits for a window that is known to be shut, if `allowed` reaches that far; else the call is refused here, and
    /// nothing is sent. A sandbox is asked all the same: it may have been reset since, and nothing is lost on it.
    pub(crate) async fn wait_for_window(
        &self,
        window: &Window,
        call: &Call,
        allowed: Duration,
    ) -> Result<Waited> {
        let now = self.service_clock(Some(window)).await;
        let left = Duration::try_from(window.resets_at.duration_since(now)).unwrap_or_default();
        let pause = whole_seconds(left).clamp(SHORTEST, WINDOW);
        if pause <= allowed {
            let left = self.wait_out(pause, allowed).await?;
            return Ok(Waited::Until { left });
        }
        if matches!(self.target, Target::Embedded { .. }) || sees_its_clock(self.client()?).await {
            return Ok(Waited::NotAtAll);
        }
        if let Some(pause) = self.patience(pause, allowed).await? {
            let left = self.wait_out(pause, allowed).await?;
            return Ok(Waited::Until { left });
        }
        let (limit, seconds) = (window.allowed, pause.as_secs());
        let mut error = Error::new(Code::RateLimited,
            format!(
                "rate limited: this computer has used all {limit} requests; the limit resets in {seconds} s; nothing was \
                 sent"
            ),
        )
        .hint(format!("try again then, or wait for it with --max-wait {seconds}s"));
        // What the service would have answered: for a script the two are one.
        error.http_status = Some(429);
        error.request = Some(call.name());
        error.retry_after = Some(pause);
        Err(error)
    }

    /// Waits out a rate limit that was met and returns what is left of `allowed`, or the failure as an error.
    pub(crate) async fn pause_for_limit(
        &self,
        failure: Failure,
        call: &Call,
        allowed: Duration,
    ) -> Result<Duration> {
        let mut failure = failure;
        let pause = match &mut failure {
            Failure::Refused(refusal) if refusal.status == 429 => {
                // What is said is what is waited: a hint to wait for 0 s would ask for no wait at all.
                refusal.retry_after = refusal.retry_after.map(|pause| pause.max(SHORTEST));
                refusal.retry_after
            }
            _ => None,
        };
        let pause = match pause {
            Some(pause) => self.patience(pause, allowed).await?,
            None => None,
        };
        match pause {
            Some(pause) => self.wait_out(pause, allowed).await,
            None => Err(failure.into_error(call)),
        }
    }

    /// Waits by the service's clock, with a countdown; a sandbox's may be moved meanwhile.
    async fn wait_out(&self, pause: Duration, allowed: Duration) -> Result<Duration> {
        let waits = |left: Duration| format!("rate limited; continuing in {} s", left.as_secs());
        if !self.prompter.interactive() || !self.out.redraws() {
            self.out.note(&waits(pause));
        }
        let progress = self.out.progress(&waits(pause));
        let began = tokio::time::Instant::now();
        let started = Timestamp::now();
        let embedded = matches!(self.target, Target::Embedded { .. }).then(|| self.live_clock());
        let sandbox_began = embedded.as_ref().map(|clock| clock());
        // What is over at once needs no look at anything.
        let mut watched = pause > 2 * TICK && embedded.is_none();
        let skew_before = self.client()?.skew().unwrap_or_default();
        let mut passed = Duration::ZERO;
        while passed < pause {
            progress.say(&waits(whole_seconds(pause - passed)));
            tokio::time::sleep(TICK.min(pause - passed)).await;
            // How far a sandbox's clock was moved meanwhile, on top of the time that passed here.
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

/// The budget of a call whose limits are shared through the journal: a read opens none.
fn shared_budget(call: &Call) -> Option<&'static str> {
    call.budget().filter(|budget| budget.starts_with("POST "))
}

/// Asks a service on this machine for its sandbox's clock, which its answer shows; `false` where there is none.
async fn sees_its_clock(client: &Client) -> bool {
    client.is_loopback() && client.send(&Call::get("/sandbox/clock")).await.is_ok()
}

/// A wait in whole seconds, never too short.
fn whole_seconds(wait: Duration) -> Duration {
    Duration::from_secs(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
}
