//! Waits for a file that another process locked, up to a limit, with a note, until Ctrl-C.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::outcome::Exit;
use crate::platform::signals;

/// How long to wait for a locked file. Set once at startup.
#[derive(Clone, Copy)]
pub(crate) struct LockWaitSettings {
    limit: Duration,
    /// Called with a sentence for the person once a wait takes long; `None` keeps waits silent.
    notify: Option<fn(&str)>,
}

/// The longest wait, and the default.
const MAX_LIMIT: Duration = Duration::from_secs(10);
/// The lower bound of the limit: with a short `--timeout`, two processes may still meet.
const MIN_LIMIT: Duration = Duration::from_millis(250);
/// Signals are watched from here on. Processes that merely meet take milliseconds.
const WATCH_SIGNALS_AFTER: Duration = Duration::from_millis(50);
const NOTIFY_AFTER: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_millis(20);

static SETTINGS: OnceLock<LockWaitSettings> = OnceLock::new();
/// When a wait last reached its limit. One command does not wait twice for the same lock.
static EXHAUSTED: Mutex<Option<Instant>> = Mutex::new(None);

impl LockWaitSettings {
    /// Sets the process's settings. `timeout` shortens the limit and never extends it.
    pub(crate) fn set(timeout: Option<Duration>, notify: Option<fn(&str)>) {
        let limit = timeout.map_or(MAX_LIMIT, |timeout| timeout.clamp(MIN_LIMIT, MAX_LIMIT));
        let _ = SETTINGS.set(LockWaitSettings { limit, notify });
    }

    pub(crate) fn limit() -> Duration {
        SETTINGS.get().map_or(MAX_LIMIT, |settings| settings.limit)
    }
}

pub(crate) struct LockWait {
    /// How long it may take; `None` if only a signal ends it.
    pub(super) limit: Option<Duration>,
    wording: String,
    begun: Instant,
    /// A signal before the wait: a command that ends still records what it knows.
    caught_before: Option<Exit>,
    tries: u32,
    notified: bool,
}

impl LockWait {
    /// Starts a wait for a locked file, such as "the journal /x".
    pub(crate) fn begin(what: impl fmt::Display) -> Self {
        Self::saying(format!("waiting for another process to release {what}"))
    }

    pub(crate) fn saying(wording: String) -> Self {
        LockWait {
            limit: Some(LockWaitSettings::limit()),
            wording,
            begun: Instant::now(),
            caught_before: signals::caught(),
            tries: 0,
            notified: false,
        }
    }

    /// Pauses before the next try. Returns `false` at the limit of the wait, or at a signal.
    pub(crate) fn pause(&mut self) -> bool {
        let waited = self.begun.elapsed();
        if let Some(limit) = self.limit {
            let mut exhausted = EXHAUSTED.lock().unwrap_or_else(PoisonError::into_inner);
            if exhausted.is_some_and(|at| at.elapsed() < limit) {
                return false;
            }
            if waited >= limit {
                *exhausted = Some(Instant::now());
                return false;
            }
        }
        if waited >= WATCH_SIGNALS_AFTER {
            signals::watch();
        }
        if signals::caught() != self.caught_before {
            return false;
        }
        if waited >= NOTIFY_AFTER && !self.notified {
            self.notified = true;
            let limit = self.limit.map(|limit| format!(" (up to {} s)", limit.as_secs_f32()));
            if let Some(notify) = SETTINGS.get().and_then(|settings| settings.notify) {
                notify(&format!("{}{}", self.wording, limit.unwrap_or_default()));
            }
        }
        self.tries += 1;
        let pause = Duration::from_millis(1) * self.tries;
        std::thread::sleep(pause.min(MAX_PAUSE));
        true
    }

    /// A busy handler for SQLite. SQLite passes 0 on the first call of each wait.
    pub(crate) fn handler(what: String) -> impl FnMut(i32) -> bool + Send + 'static {
        let mut wait = None;
        move |tries| {
            if tries == 0 {
                wait = None;
            }
            wait.get_or_insert_with(|| LockWait::begin(&what)).pause()
        }
    }
}
