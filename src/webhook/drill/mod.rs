//! Tests a handler with valid, forged, repeated, late, large and many deliveries, and judges it by
//! its responses and by the state that it reports.

pub(crate) mod plan;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::handler::{Handler, HandlerVerdict, NoReply, first_headers};
use crate::service::mapping::Dialect;

#[derive(Debug, Default)]
pub(crate) struct DrillCheck {
    pub(crate) name: &'static str,
    pub(crate) section: &'static str,
    /// Why it matters, as a sentence without a full stop.
    pub(crate) why: &'static str,
    pub(crate) deliveries: Vec<Delivery>,
}

#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) event_id: String,
    /// The signature header's value; `None` sends no header.
    pub(crate) signature: Option<String>,
    pub(crate) body: Vec<u8>,
    /// Whether the signature verifies: the handler should respond with 2xx, else with 4xx.
    pub(crate) is_genuine: bool,
    /// Whether it is sent at the same time as the others of its check.
    pub(crate) at_once: bool,
    /// Whether the handler's state is checked for the event; not for an unknown kind.
    pub(crate) counts: bool,
}

impl DrillCheck {
    /// Sends the deliveries; returns the responses in the same order.
    pub(crate) async fn run(&self, handler: &Handler, dialect: &Dialect) -> Vec<HandlerVerdict> {
        let at_once = self.deliveries.iter().filter(|it| it.at_once).count();
        let posts = stream::iter(&self.deliveries).map(|delivery| async move {
            let headers = first_headers(dialect, delivery.signature.as_deref());
            handler.post(&headers, &delivery.body).await
        });
        posts.buffered(at_once.max(1)).collect().await
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) url: String,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) state_checked: bool,
    pub(crate) checks: Vec<Finding>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) check: &'static str,
    /// `ok` or `failed`.
    pub(crate) verdict: &'static str,
    section: &'static str,
    pub(crate) why: &'static str,
    pub(crate) expected: String,
    /// The statuses in order, or why there was none.
    pub(crate) responses: Vec<Value>,
    slowest_ms: u32,
    /// What is wrong, as sentences, each once.
    pub(crate) faults: Vec<String>,
}

impl Finding {
    pub(crate) fn new(check: &DrillCheck, reactions: &[HandlerVerdict]) -> Self {
        let expected = check.deliveries.iter();
        let mut expected: Vec<_> =
            expected.map(|it| if it.is_genuine { "2xx" } else { "4xx" }).collect();
        expected.dedup();
        let slowest = reactions.iter().map(HandlerVerdict::latency_ms).max();
        let mut finding = Finding {
            check: check.name,
            verdict: "ok",
            section: check.section,
            why: check.why,
            expected: expected.join(", "),
            responses: reactions.iter().map(answer).collect(),
            slowest_ms: slowest.unwrap_or(0),
            faults: Vec::new(),
        };
        for (delivery, reaction) in check.deliveries.iter().zip(reactions) {
            if let Some(fault) = fault(delivery.is_genuine, reaction) {
                finding.fail(fault);
            }
        }
        finding
    }

    pub(crate) fn fail(&mut self, fault: String) {
        self.verdict = "failed";
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }
}

fn answer(reaction: &HandlerVerdict) -> Value {
    match &reaction.outcome {
        Ok(reply) => json!(reply.status),
        Err(NoReply::TooLate) => json!("too late"),
        Err(_) => json!("no response"),
    }
}

fn fault(is_genuine: bool, reaction: &HandlerVerdict) -> Option<String> {
    let status = match &reaction.outcome {
        Ok(reply) => reply.status,
        Err(why) => return Some(format!("your handler did not respond: {why}")),
    };
    let did = match (is_genuine, status) {
        (true, 200..=299) | (false, 400..=499) => return None,
        (true, 300..=399) => "redirected it, and the service follows no redirects",
        (true, 400..=499) => "rejected it",
        (true, _) => "failed",
        (false, 200..=299) => "accepted it",
        (false, _) => "did not reject it",
    };
    Some(format!("your handler {did} ({status})"))
}

impl Report {
    pub(crate) fn new(url: String, state_checked: bool, checks: Vec<Finding>) -> Self {
        let failed = checks.iter().filter(|it| it.verdict == "failed").count();
        Report { url, passed: checks.len() - failed, failed, state_checked, checks }
    }
}

/// The status that a handler should have in the end for the booking whose events come out of order.
#[derive(Clone, Debug)]
pub(crate) struct Ordered {
    pub(crate) id: String,
    /// For an invented booking the status of its newest event. Its older events have [`OUTDATED`].
    pub(crate) status: String,
    pub(crate) is_invented: bool,
}

/// The status in the older events, which come later.
pub(crate) const OUTDATED: &str = "processing";

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub(crate) struct Ledger {
    /// Event id → how often it was handled.
    events: BTreeMap<String, u64>,
    /// Booking id → the status that the handler has for it.
    #[serde(default)]
    bookings: BTreeMap<String, String>,
}

impl Ledger {
    /// Whether every genuine event was handled at least once, perhaps after the response.
    pub(crate) fn has_settled(&self, checks: &[DrillCheck]) -> bool {
        genuine(checks).into_iter().all(|id| self.events.contains_key(id))
    }

    /// What the handler did wrong: the index of the check with the event, and a sentence.
    pub(crate) fn faults(&self, checks: &[DrillCheck], ordered: &Ordered) -> Vec<(usize, String)> {
        let (genuine, mut judged) = (genuine(checks), BTreeSet::new());
        let mut faults = Vec::new();
        for (place, check) in checks.iter().enumerate() {
            for delivery in check.deliveries.iter().filter(|it| it.counts) {
                let id = &delivery.event_id;
                if !judged.insert(id) {
                    continue;
                }
                let times = self.events.get(id).copied().unwrap_or(0);
                let fault = match (genuine.contains(id.as_str()), times) {
                    (true, 1) | (false, 0) => continue,
                    (true, 0) => format!("{id} was not processed"),
                    (true, _) => format!("{id} was processed {times} times"),
                    (false, _) => format!("{id} was processed, although it is forged"),
                };
                faults.push((place, fault));
            }
        }
        // The check of the order is the last. An invented booking has no status to read.
        let Ordered { id, status, .. } = ordered;
        let held = self.bookings.get(id).map_or("unknown", String::as_str);
        if held != status && (held == OUTDATED || !ordered.is_invented) {
            let fault = format!("{id} is {status}, but your handler has {held}");
            faults.push((checks.len() - 1, fault));
        }
        faults
    }
}

fn genuine(checks: &[DrillCheck]) -> BTreeSet<&str> {
    let deliveries = checks.iter().flat_map(|check| &check.deliveries);
    deliveries.filter(|it| it.counts && it.is_genuine).map(|it| it.event_id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::handler::HandlerResponse;

    #[test]
    fn a_response_of_the_expected_class_is_right() {
        for (is_genuine, outcome, right) in [
            (true, Ok(200), true),
            (true, Ok(302), false),
            (true, Ok(409), false),
            (true, Ok(500), false),
            (true, Err(NoReply::TooLate), false),
            (false, Ok(401), true),
            (false, Ok(200), false),
            (false, Ok(302), false),
            (false, Ok(500), false),
            (false, Err(NoReply::Broken("reset".into(), None)), false),
        ] {
            let outcome = outcome.map(|status| HandlerResponse {
                status,
                headers: serde_json::Map::new(),
                body: String::new(),
                truncated: false,
            });
            let elapsed = std::time::Duration::from_millis(5);
            let fault = fault(is_genuine, &HandlerVerdict { outcome, elapsed });
            assert_eq!(fault.is_none(), right, "{is_genuine}: {fault:?}");
        }
    }

    fn check(deliveries: &[(&str, bool)]) -> DrillCheck {
        let deliveries = deliveries.iter().map(|(id, is_genuine)| Delivery {
            event_id: (*id).to_owned(),
            signature: None,
            body: Vec::new(),
            is_genuine: *is_genuine,
            at_once: false,
            counts: true,
        });
        DrillCheck { deliveries: deliveries.collect(), ..DrillCheck::default() }
    }

    #[test]
    fn the_state_shows_what_was_lost_doubled_believed_or_outdated() {
        let checks = [
            check(&[("lost", true), ("fine", true)]),
            check(&[("twice", true)]),
            check(&[("forged", false), ("poisoned", false)]),
            check(&[("poisoned", true), ("twice", false)]),
        ];
        // Of an invented booking, only the status of an older event is known to be wrong.
        for (held, invented, known) in
            [("confirmed", false, false), (OUTDATED, true, true), ("seated", false, true)]
        {
            let state = format!(
                r#"{{"events": {{"fine": 1, "twice": 2, "forged": 1, "own": 9}}, "bookings": {{"bk": "{held}"}}}}"#
            );
            let ledger: Ledger = serde_json::from_str(&state).unwrap();
            assert!(!ledger.has_settled(&checks));
            for (is_invented, is_wrong) in [(true, invented), (false, known)] {
                let ordered =
                    Ordered { id: "bk".to_owned(), status: "confirmed".to_owned(), is_invented };
                let faults = ledger.faults(&checks, &ordered);
                let places: Vec<usize> = faults.iter().map(|(place, _)| *place).collect();
                let expected = [&[0, 1, 2, 2][..], &vec![3; usize::from(is_wrong)]].concat();
                assert_eq!(places, expected, "{held} {is_invented}");
            }
        }
    }
}
