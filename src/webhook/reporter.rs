//! What a running listener reports, and its totals.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::mpsc;

use super::event::Event;
use super::handler::{HeaderLine, Reaction};

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ListenerEvent {
    pub(crate) at: Timestamp,
    pub(crate) outcome: Outcome,
    /// `None` if the event could not be read or its signature did not verify.
    #[serde(flatten)]
    pub(crate) event: Option<Event>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attempt: Option<Attempt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_attempt_at: Option<Timestamp>,
    /// Why a delivery was refused or not stored, or what the warning says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip)]
    pub(crate) exchange: Option<Exchange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// Stored; nothing is to be forwarded.
    Kept,
    /// An event with this id was stored before.
    Duplicate,
    Refused,
    /// The database could not be written.
    Unwritten,
    /// Not an outcome of its own: something was not found in a delivery.
    Warning,
    /// The app did not respond with 2xx; the event is retried.
    Failed,
    Delivered,
    Abandoned,
}

/// The result of an attempt to forward an event.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Attempt {
    pub(crate) number: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    pub(crate) latency_ms: u32,
}

impl Attempt {
    pub(crate) fn new(number: u32, reaction: &Reaction) -> Self {
        Attempt {
            number,
            status: reaction.status(),
            error: reaction.outcome.as_ref().err().map(ToString::to_string),
            latency_ms: reaction.latency_ms(),
        }
    }
}

/// A delivery as it was sent to the app, or came where it was kept.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) headers: Vec<HeaderLine>,
    pub(crate) body: Vec<u8>,
    pub(crate) reaction: Option<Reaction>,
}

impl ListenerEvent {
    pub(super) fn new(event: Option<Event>, outcome: Outcome) -> Self {
        let now = Timestamp::now();
        ListenerEvent {
            at: Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now),
            outcome,
            event,
            attempt: None,
            next_attempt_at: None,
            reason: None,
            exchange: None,
        }
    }

    pub(super) fn because(outcome: Outcome, reason: String) -> Self {
        ListenerEvent {
            reason: Some(reason),
            ..ListenerEvent::new(None, outcome)
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Totals {
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
    pub(crate) waiting: u32,
}

/// Sends events to the terminal and counts them.
pub(super) struct Reporter {
    pub(super) events: mpsc::UnboundedSender<ListenerEvent>,
    pub(super) totals: Mutex<Totals>,
}

impl Reporter {
    /// Counts an event and sends it to the terminal; never waits.
    pub(super) fn report(&self, event: ListenerEvent) {
        let is_delivered = event.outcome == Outcome::Delivered;
        let is_attempt = event.attempt.is_some();
        let mut totals = self.totals();
        totals.refused += u64::from(event.outcome == Outcome::Refused);
        totals.forwarded += u64::from(is_delivered);
        totals.failed += u64::from(is_attempt && !is_delivered);
        totals.abandoned += u64::from(event.outcome == Outcome::Abandoned);
        let _ = self.events.send(event);
    }

    pub(super) fn totals(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
