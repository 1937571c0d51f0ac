//! What a running listener reports.

use jiff::Timestamp;
use serde::Serialize;

use super::event::Event;
use super::handler::HandlerVerdict;
use crate::service::time::text::serialize_time;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ListenerEvent {
    #[serde(serialize_with = "serialize_time")]
    pub(crate) at: Timestamp,
    pub(crate) outcome: ForwardOutcome,
    /// `None` if the event could not be read or its signature did not verify.
    #[serde(flatten)]
    pub(crate) event: Option<Event>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attempt: Option<ForwardAttempt>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "serialize_time")]
    pub(crate) next_attempt_at: Option<Timestamp>,
    /// Why a delivery was refused or not stored, or what the warning says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip)]
    pub(crate) is_shown: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ForwardOutcome {
    Kept,
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

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ForwardAttempt {
    pub(crate) number: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// `None` without a response, which may still come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) latency_ms: Option<u32>,
}

impl ForwardAttempt {
    pub(crate) fn new(number: u32, reaction: &HandlerVerdict) -> Self {
        ForwardAttempt {
            number,
            status: reaction.status(),
            error: reaction.outcome.as_ref().err().map(ToString::to_string),
            latency_ms: Some(reaction.latency_ms()),
        }
    }

    /// `200 in 3 ms`, or why there was no response.
    pub(crate) fn in_words(&self) -> String {
        match (self.status, self.latency_ms.unwrap_or_default()) {
            (Some(status), latency @ 0..10_000) => format!("{status} in {latency} ms"),
            (Some(status), latency) => format!("{status} in {} s", latency / 1000),
            (None, _) => self.error.clone().unwrap_or_default(),
        }
    }
}

impl ListenerEvent {
    pub(super) fn new(event: Option<Event>, outcome: ForwardOutcome) -> Self {
        let now = Timestamp::now();
        ListenerEvent {
            at: Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now),
            outcome,
            event,
            attempt: None,
            next_attempt_at: None,
            reason: None,
            is_shown: true,
        }
    }

    pub(super) fn because(outcome: ForwardOutcome, reason: String) -> Self {
        ListenerEvent { reason: Some(reason), ..ListenerEvent::new(None, outcome) }
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

impl Totals {
    pub(crate) fn count(&mut self, outcome: ForwardOutcome) {
        match outcome {
            ForwardOutcome::Kept => self.received += 1,
            ForwardOutcome::Duplicate => self.duplicates += 1,
            ForwardOutcome::Refused => self.refused += 1,
            ForwardOutcome::Delivered => self.forwarded += 1,
            ForwardOutcome::Failed => self.failed += 1,
            ForwardOutcome::Abandoned => {
                self.failed += 1;
                self.abandoned += 1;
            }
            ForwardOutcome::Unwritten | ForwardOutcome::Warning => {}
        }
    }
}
