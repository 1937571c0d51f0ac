//! Judging a handler's responses.

use serde::Serialize;
use serde_json::{Value, json};

use super::plan::PlannedCheck;
use crate::webhook::handler::{NoReply, Reaction};

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) url: String,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    /// Whether the handler's own state was looked at.
    pub(crate) state_checked: bool,
    pub(crate) checks: Vec<Finding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Ok,
    Failed,
    Skipped,
}

#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) check: &'static str,
    pub(crate) verdict: Verdict,
    section: &'static str,
    pub(crate) why: &'static str,
    /// The expected responses in order, without repetitions.
    pub(crate) expected: String,
    /// The statuses in order, or why there was none.
    pub(crate) answers: Vec<Value>,
    slowest_ms: u32,
    /// What is wrong, as sentences, each once.
    pub(crate) faults: Vec<String>,
    /// Why the check was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'static str>,
    /// What the handler's state does not show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unseen: Option<String>,
}

impl Finding {
    /// Judges a check by its responses, of which there are none if it was skipped.
    pub(crate) fn new(
        planned: &PlannedCheck,
        reactions: &[Reaction],
        skipped: Option<&'static str>,
    ) -> Self {
        let PlannedCheck { check, deliveries } = planned;
        let mut expected: Vec<&str> = deliveries
            .iter()
            .map(|it| if it.is_genuine { "2xx" } else { "4xx" })
            .collect();
        expected.dedup();
        let mut finding = Finding {
            check: check.name,
            verdict: skipped.map_or(Verdict::Ok, |_| Verdict::Skipped),
            section: check.section,
            why: check.why,
            expected: expected.join(", "),
            answers: reactions.iter().map(answer).collect(),
            slowest_ms: reactions
                .iter()
                .map(Reaction::latency_ms)
                .max()
                .unwrap_or(0),
            faults: Vec::new(),
            skipped,
            unseen: None,
        };
        for (delivery, reaction) in deliveries.iter().zip(reactions) {
            if let Some(fault) = fault(delivery.is_genuine, reaction)
                && !finding.faults.contains(&fault)
            {
                finding.fail(fault);
            }
        }
        finding
    }

    /// Adds a fault to a check that was run.
    pub(crate) fn fail(&mut self, fault: String) {
        if self.verdict != Verdict::Skipped {
            self.verdict = Verdict::Failed;
            self.faults.push(fault);
        }
    }
}

fn answer(reaction: &Reaction) -> Value {
    match &reaction.outcome {
        Ok(reply) => json!(reply.status),
        Err(NoReply::TooLate) => json!("too late"),
        Err(_) => json!("no answer"),
    }
}

fn fault(is_genuine: bool, reaction: &Reaction) -> Option<String> {
    let status = match &reaction.outcome {
        Ok(reply) => reply.status,
        Err(why) => return Some(format!("your handler did not respond: {why}")),
    };
    match (is_genuine, status) {
        (true, 200..=299) | (false, 400..=499) => None,
        (true, 300..=399) => Some(format!(
            "your handler redirected it ({status}): the service follows no redirects, and counts this as a failure"
        )),
        (true, 400..=499) => Some(format!("your handler refused it ({status})")),
        (true, _) => Some(format!("your handler failed ({status})")),
        (false, 200..=299) => Some(format!("your handler accepted it ({status})")),
        (false, _) => Some(format!(
            "your handler did not refuse it, but responded with {status}"
        )),
    }
}

impl Report {
    pub(crate) fn new(url: String, state_checked: bool, checks: Vec<Finding>) -> Self {
        let count = |verdict| checks.iter().filter(|it| it.verdict == verdict).count();
        Report {
            url,
            passed: count(Verdict::Ok),
            failed: count(Verdict::Failed),
            skipped: count(Verdict::Skipped),
            state_checked,
            checks,
        }
    }

    /// Whether every delivery was refused, the valid ones too.
    pub(crate) fn all_refused(&self) -> bool {
        let mut answers = self.checks.iter().flat_map(|check| &check.answers);
        answers.all(|it| it.as_u64().is_some_and(|it| (400..500).contains(&it)))
    }

    /// The status of every response, if all are the same failure: it says nothing about the single checks.
    pub(crate) fn only_failure(&self) -> Option<u64> {
        let mut answers = self.checks.iter().flat_map(|check| &check.answers);
        let first = answers.next()?.as_u64().filter(|it| *it >= 500)?;
        answers
            .all(|it| it.as_u64() == Some(first))
            .then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::webhook::handler::Reply;

    #[test]
    fn a_response_of_the_expected_class_is_right() {
        for (is_genuine, outcome, right) in [
            (true, Ok(200), true),
            (true, Ok(204), true),
            (true, Ok(302), false),
            (true, Ok(409), false),
            (true, Ok(500), false),
            (true, Err(NoReply::TooLate), false),
            (false, Ok(400), true),
            (false, Ok(401), true),
            (false, Ok(200), false),
            (false, Ok(302), false),
            (false, Ok(500), false),
            (false, Err(NoReply::Broken("reset".into())), false),
        ] {
            let outcome = outcome.map(|status| Reply {
                status,
                headers: serde_json::Map::new(),
                body: String::new(),
                truncated: false,
            });
            let elapsed = Duration::from_millis(5);
            let reaction = Reaction { outcome, elapsed };
            let fault = fault(is_genuine, &reaction);
            assert_eq!(
                fault.is_none(),
                right,
                "{is_genuine} {reaction:?}: {fault:?}"
            );
        }
    }
}
