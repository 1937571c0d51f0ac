//! What a running listener reports, and its totals.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::mpsc;

use super::event::Event;
use super::store::{AppAnswer, Content, State};

/// Capacity of the channel to the terminal. When it is full, events are counted instead of queued, so that a slow
/// reader does not delay deliveries.
const CAPACITY: usize = 8192;

/// Something that happened to a delivery.
#[derive(Clone, Debug)]
pub(crate) struct ListenerEvent {
    pub(crate) at: Timestamp,
    /// `None` if the event could not be read or its signature did not verify.
    pub(crate) event: Option<Event>,
    pub(crate) outcome: DeliveryOutcome,
}

#[derive(Clone, Debug)]
pub(crate) enum DeliveryOutcome {
    /// Stored; nothing is to be forwarded. With the delivery, if it is to be shown.
    Kept(Option<Content>),
    /// Stored; an earlier event of the same booking failed and is forwarded first.
    HeldUp,
    /// An event with this id was stored before.
    Duplicate,
    Refused(String),
    /// Not an outcome of its own: a warning about what was not found in a delivery.
    Doubtful(String),
    /// One attempt to forward it has ended.
    Forwarded {
        attempt: u32,
        answer: AppAnswer,
        state: State,
        next_at: Option<Timestamp>,
    },
    /// The database could not be written, for this reason.
    Unwritten(String),
}

/// Sends events to the terminal and counts them.
pub(crate) struct Reporter {
    events: mpsc::Sender<ListenerEvent>,
    totals: Mutex<Totals>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Totals {
    /// New events.
    pub(crate) received: u64,
    pub(crate) duplicates: u64,
    pub(crate) refused: u64,
    /// Attempts that the app answered with 2xx.
    pub(crate) forwarded: u64,
    /// Attempts that the app did not answer with 2xx.
    pub(crate) failed: u64,
    /// Events whose last attempt failed.
    pub(crate) abandoned: u64,
    /// Events that the next listener will forward.
    pub(crate) waiting: u64,
    /// Events that were not shown because the channel was full.
    pub(crate) unshown: u64,
}

impl Reporter {
    pub(crate) fn new() -> (Self, mpsc::Receiver<ListenerEvent>) {
        let (events, receiver) = mpsc::channel(CAPACITY);
        let totals = Mutex::default();
        (Reporter { events, totals }, receiver)
    }

    pub(super) fn count_received(&self) {
        self.counts().received += 1;
    }

    pub(super) fn count_duplicate(&self) {
        self.counts().duplicates += 1;
    }

    /// Counts an outcome and sends it to the terminal; never waits.
    pub(super) fn report(&self, event: Option<Event>, outcome: DeliveryOutcome) {
        let mut counts = self.counts();
        match &outcome {
            DeliveryOutcome::Refused(_) => counts.refused += 1,
            DeliveryOutcome::Forwarded { answer, state, .. } => {
                counts.forwarded += u64::from(answer.is_delivered());
                counts.failed += u64::from(!answer.is_delivered());
                counts.abandoned += u64::from(*state == State::Abandoned);
            }
            DeliveryOutcome::Kept(_)
            | DeliveryOutcome::HeldUp
            | DeliveryOutcome::Duplicate
            | DeliveryOutcome::Unwritten(_)
            | DeliveryOutcome::Doubtful(_) => {}
        }
        let at = Timestamp::now();
        let event = ListenerEvent { at, event, outcome };
        if self.events.try_send(event).is_err() {
            counts.unshown += 1;
        }
    }

    pub(crate) fn totals(&self) -> Totals {
        *self.counts()
    }

    fn counts(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
