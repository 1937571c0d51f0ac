//! Waiting for a file that another process holds: bounded, not silent for long, and never deaf to Ctrl-C.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::platform::signals;

/// How patient this process is; said once, before anything is opened.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// After this another process has held the file for too long.
    pub(crate) limit: Duration,
    /// Takes the sentence that says what is waited for.
    pub(crate) say: Option<fn(&str)>,
}

/// What is waited for where nobody said otherwise.
const LONGEST: Duration = Duration::from_secs(10);
/// However short a request may take: processes that merely meet are no trouble.
const SHORTEST: Duration = Duration::from_millis(250);
/// Processes that meet take milliseconds: what takes longer may be ended.
const MEETING: Duration = Duration::from_millis(50);
/// After this the person is told what is waited for.
const SILENT: Duration = Duration::from_secs(1);
/// The longest pause between two looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

static PATIENCE: OnceLock<Patience> = OnceLock::new();
/// When a wait last came to its limit: what is held is not waited for again by the same command.
static EXHAUSTED: Mutex<Option<Instant>> = Mutex::new(None);

impl Patience {
    /// The process's own from now on; `--timeout` makes it shorter, and never longer.
    pub(crate) fn set(timeout: Option<Duration>, say: Option<fn(&str)>) {
        let limit = timeout.map_or(LONGEST, |timeout| timeout.clamp(SHORTEST, LONGEST));
        let _ = PATIENCE.set(Patience { limit, say });
    }

    fn of_process() -> Self {
        PATIENCE.get().copied().unwrap_or(Patience {
            limit: LONGEST,
            say: None,
        })
    }

    /// How long the process waits.
    pub(crate) fn limit() -> Duration {
        Self::of_process().limit
    }
}

/// One wait, from its first moment.
pub(crate) struct Wait {
    patience: Patience,
    what: String,
    begun: Instant,
    tries: u32,
    said: bool,
}

impl Wait {
    /// Begins to wait for `what`, such as "the journal /x".
    pub(crate) fn begin(what: impl Into<String>) -> Self {
        Wait {
            patience: Patience::of_process(),
            what: what.into(),
            begun: Instant::now(),
            tries: 0,
            said: false,
        }
    }

    /// Pauses before another look; `false` where the wait is over, by its limit or by a signal.
    pub(crate) fn goes_on(&mut self) -> bool {
        let waited = self.begun.elapsed();
        let mut exhausted = EXHAUSTED.lock().unwrap_or_else(PoisonError::into_inner);
        if exhausted.is_some_and(|at| at.elapsed() < self.patience.limit) {
            return false;
        }
        if waited >= self.patience.limit {
            *exhausted = Some(Instant::now());
            return false;
        }
        drop(exhausted);
        if waited >= MEETING {
            signals::watch();
        }
        if signals::caught().is_some() {
            return false;
        }
        if waited >= SILENT && !self.said {
            self.said = true;
            if let Some(say) = self.patience.say {
                let limit = self.patience.limit.as_secs_f32();
                say(&format!(
                    "waiting for {}, which another process holds; {limit} s at most",
                    self.what
                ));
            }
        }
        self.tries += 1;
        let pause = Duration::from_millis(1) * self.tries;
        std::thread::sleep(pause.min(LONGEST_PAUSE));
        true
    }

    /// What SQLite asks while a database is held: every question there begins with a first look.
    pub(crate) fn handler(what: impl Into<String>) -> impl FnMut(i32) -> bool + Send + 'static {
        let what = what.into();
        let mut wait = None;
        move |looks| {
            if looks == 0 {
                wait = None;
            }
            wait.get_or_insert_with(|| Wait::begin(what.clone()))
                .goes_on()
        }
    }
}
