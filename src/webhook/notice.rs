//! What a listener tells while it runs, and what it has counted.

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use tokio::sync::mpsc;

use super::event::Event;
use super::store::{Answer, State};

/// The most that waits to be shown; a reader that stands still must not hold up what is received.
const UNSHOWN: usize = 8192;

/// Something that happened to a delivery.
#[derive(Clone, Debug)]
pub(crate) struct Notice {
    pub(crate) at: Timestamp,
    /// `None` where it could not be told.
    pub(crate) event: Option<Event>,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// It is kept, and no app is to have it.
    Kept,
    /// It waits until an earlier event of its booking, which failed, was taken.
    HeldUp,
    /// It was here already.
    Duplicate,
    /// It was not taken: why.
    Refused(String),
    /// The app was asked.
    Forwarded {
        attempt: u32,
        answer: Answer,
        state: State,
        next_at: Option<Timestamp>,
    },
    /// The deliveries' file could not be written.
    Unwritten(String),
}

/// Where notices go, and what they add up to.
pub(crate) struct Reporter {
    notices: mpsc::Sender<Notice>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    received: AtomicU64,
    duplicates: AtomicU64,
    refused: AtomicU64,
    forwarded: AtomicU64,
    failed: AtomicU64,
    abandoned: AtomicU64,
    unshown: AtomicU64,
}

/// What a listener has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    /// Events that were new.
    pub(crate) received: u64,
    pub(crate) duplicates: u64,
    pub(crate) refused: u64,
    /// Events that the app took.
    pub(crate) forwarded: u64,
    /// Attempts that the app did not answer with 2xx.
    pub(crate) failed: u64,
    /// Events that were given up.
    pub(crate) abandoned: u64,
    /// Lines that were not shown, because nobody read as fast.
    pub(crate) unshown: u64,
}

impl Reporter {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Notice>) {
        let (notices, shown) = mpsc::channel(UNSHOWN);
        let counts = Counts::default();
        (Reporter { notices, counts }, shown)
    }

    /// An event that was not here before.
    pub(super) fn count_received(&self) {
        add(&self.counts.received);
    }

    pub(super) fn tell(&self, event: Option<Event>, what: What) {
        let counts = &self.counts;
        match &what {
            What::Duplicate => add(&counts.duplicates),
            What::Refused(_) => add(&counts.refused),
            What::Forwarded { answer, state, .. } => {
                add(match answer.is_delivered() {
                    true => &counts.forwarded,
                    false => &counts.failed,
                });
                if *state == State::Abandoned {
                    add(&counts.abandoned);
                }
            }
            What::Kept | What::HeldUp | What::Unwritten(_) => {}
        }
        let at = Timestamp::now();
        if self.notices.try_send(Notice { at, event, what }).is_err() {
            add(&counts.unshown);
        }
    }

    pub(crate) fn sum(&self) -> Sum {
        let counts = &self.counts;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Sum {
            received: count(&counts.received),
            duplicates: count(&counts.duplicates),
            refused: count(&counts.refused),
            forwarded: count(&counts.forwarded),
            failed: count(&counts.failed),
            abandoned: count(&counts.abandoned),
            unshown: count(&counts.unshown),
        }
    }
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
