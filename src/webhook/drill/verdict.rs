//! Judging a consumer's answers.

use std::time::Duration;

use serde_json::{Value, json};

use super::check::{Check, Expect};
use crate::webhook::post::{NoReply, Reaction};

#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) check: Check,
    pub(crate) reactions: Vec<Reaction>,
    /// What is wrong, as sentences; empty if the check passed.
    pub(crate) faults: Vec<String>,
    pub(crate) unseen: Option<String>,
    /// Why the check was not run.
    pub(crate) skipped: Option<&'static str>,
}

/// Judges a check by its answers; returns what is wrong, each once.
pub(crate) fn judge(check: &Check, reactions: &[Reaction], deadline: Duration) -> Vec<String> {
    let mut faults = Vec::new();
    for (delivery, reaction) in check.deliveries.iter().zip(reactions) {
        if let Some(fault) = fault(delivery.expect, reaction, deadline)
            && !faults.contains(&fault)
        {
            faults.push(fault);
        }
    }
    faults
}

fn fault(expect: Expect, reaction: &Reaction, deadline: Duration) -> Option<String> {
    let status = match &reaction.outcome {
        Ok(reply) => reply.status,
        Err(NoReply::TooLate) => {
            return Some(format!(
                "your handler did not respond within {} s",
                deadline.as_secs_f32()
            ));
        }
        Err(NoReply::Broken(why) | NoReply::NotReached(why)) => {
            return Some(format!("your handler did not respond: {why}"));
        }
    };
    match (expect, status) {
        (Expect::Taken, 200..=299) | (Expect::Refused, 400..=499) => None,
        (Expect::Taken, 300..=399) => Some(format!(
            "your handler redirected it ({status}): the service follows no redirects, and counts this as a failure"
        )),
        (Expect::Taken, 400..=499) => Some(format!("your handler refused it ({status})")),
        (Expect::Taken, _) => Some(format!("your handler failed ({status})")),
        (Expect::Refused, 200..=299) => Some(format!("your handler accepted it ({status})")),
        (Expect::Refused, _) => Some(format!(
            "your handler did not refuse it, but responded with {status}"
        )),
    }
}

impl Finding {
    /// `ok`, `failed` or `skipped`.
    pub(crate) fn verdict(&self) -> &'static str {
        match (self.skipped, self.faults.is_empty()) {
            (Some(_), _) => "skipped",
            (None, true) => "ok",
            (None, false) => "failed",
        }
    }

    /// The expected answers in order, without repetitions.
    pub(crate) fn expected(&self) -> String {
        let mut words: Vec<&str> = self
            .check
            .deliveries
            .iter()
            .map(|it| it.expect.as_str())
            .collect();
        words.dedup();
        words.join(", ")
    }

    /// The answers in order, with a count for equal neighbours.
    pub(crate) fn answered(&self) -> String {
        let mut runs: Vec<(String, usize)> = Vec::new();
        for reaction in &self.reactions {
            let word = answer(reaction);
            match runs.last_mut() {
                Some((last, count)) if *last == word => *count += 1,
                _ => runs.push((word, 1)),
            }
        }
        let runs = runs.into_iter().map(|(word, count)| match count {
            1 => word,
            count => format!("{word} ×{count}"),
        });
        runs.collect::<Vec<_>>().join(", ")
    }

    fn slowest_ms(&self) -> u64 {
        let slowest = self.reactions.iter().map(|it| it.elapsed).max();
        u64::try_from(slowest.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
    }

    fn to_json(&self) -> Value {
        let answers = self
            .reactions
            .iter()
            .map(|reaction| match reaction.status() {
                Some(status) => json!(status),
                None => json!(answer(reaction)),
            });
        let mut row = json!({
            "check": self.check.name,
            "verdict": self.verdict(),
            "section": self.check.section,
            "why": self.check.why,
            "expected": self.expected(),
            "answers": answers.collect::<Vec<_>>(),
            "slowest_ms": self.slowest_ms(),
            "faults": self.faults,
        });
        if let Some(why) = self.skipped {
            row["skipped"] = json!(why);
        }
        if let Some(what) = &self.unseen {
            row["unseen"] = json!(what);
        }
        row
    }
}

fn answer(reaction: &Reaction) -> String {
    match &reaction.outcome {
        Ok(reply) => reply.status.to_string(),
        Err(NoReply::TooLate) => "too late".to_owned(),
        Err(_) => "no answer".to_owned(),
    }
}

#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) url: String,
    pub(crate) findings: Vec<Finding>,
    pub(crate) state_checked: bool,
}

impl Report {
    pub(crate) fn count(&self, verdict: &str) -> usize {
        let of = self.findings.iter().filter(|it| it.verdict() == verdict);
        of.count()
    }

    /// Whether every delivery was refused, the valid ones too.
    pub(crate) fn all_refused(&self) -> bool {
        let mut answers = self.findings.iter().flat_map(|finding| &finding.reactions);
        !self.findings.is_empty()
            && answers.all(|it| it.status().is_some_and(|it| (400..500).contains(&it)))
    }

    /// The status of every answer, if all are the same failure: it says nothing about the single checks.
    pub(crate) fn only_failure(&self) -> Option<u16> {
        let mut answers = self.findings.iter().flat_map(|finding| &finding.reactions);
        let first = answers.next()?.status().filter(|it| *it >= 500)?;
        answers
            .all(|it| it.status() == Some(first))
            .then_some(first)
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "url": self.url,
            "passed": self.count("ok"),
            "failed": self.count("failed"),
            "skipped": self.count("skipped"),
            "state_checked": self.state_checked,
            "checks": self.findings.iter().map(Finding::to_json).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::post::Reply;

    fn reaction(outcome: Result<u16, NoReply>) -> Reaction {
        Reaction {
            outcome: outcome.map(|status| Reply {
                status,
                body: String::new(),
            }),
            elapsed: Duration::from_millis(5),
        }
    }

    #[test]
    fn an_answer_of_the_expected_class_is_right() {
        for (expect, outcome, right) in [
            (Expect::Taken, Ok(200), true),
            (Expect::Taken, Ok(204), true),
            (Expect::Taken, Ok(302), false),
            (Expect::Taken, Ok(409), false),
            (Expect::Taken, Ok(500), false),
            (Expect::Taken, Err(NoReply::TooLate), false),
            (Expect::Refused, Ok(400), true),
            (Expect::Refused, Ok(401), true),
            (Expect::Refused, Ok(200), false),
            (Expect::Refused, Ok(302), false),
            (Expect::Refused, Ok(500), false),
            (Expect::Refused, Err(NoReply::Broken("reset".into())), false),
        ] {
            let reaction = reaction(outcome);
            let fault = fault(expect, &reaction, Duration::from_secs(10));
            assert_eq!(fault.is_none(), right, "{expect:?} {reaction:?}: {fault:?}");
        }
    }
}
