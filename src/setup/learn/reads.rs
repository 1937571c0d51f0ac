//! The calls of learning: few, reads alone, and at most half of what a rate limit leaves.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::{LearnOptions, LearnReport};
use crate::app::Parts;
use crate::outcome::{Code, Error, Result};
use crate::service::client::{Call, Failure};
use crate::service::mapping::Mapping;

pub(crate) const MOST_CALLS: usize = 25;

/// A document, or why the service refuses it.
pub(crate) type Reply = Result<Value>;

/// Whether another call, after `sent`, leaves others half of what the rate limit had left.
fn has_room(first: u32, sent: u32) -> bool {
    (u64::from(sent) + 1) * 2 <= u64::from(first)
}

pub(crate) struct Reads<'a> {
    pub(crate) parts: &'a mut Parts,
    pub(crate) options: &'a LearnOptions,
    pub(crate) report: LearnReport,
    /// What each rate limit left at the first call, and how many calls followed.
    pub(crate) left: BTreeMap<&'static str, (u32, u32)>,
}

impl Reads<'_> {
    pub(crate) fn mapping(&self) -> &Mapping {
        self.parts.api.facts.mapping()
    }

    /// Sends a read. The reason has no HTTP status where it was not sent.
    pub(crate) async fn send(&mut self, call: Call) -> Result<Reply> {
        let limit = call.rate_limit_name();
        let left = limit.and_then(|name| self.left.get(name));
        let is_spent = left.is_some_and(|(first, sent)| !has_room(*first, *sent));
        if call.is_write() || self.report.calls >= MOST_CALLS || is_spent {
            let spent = "no call is left, or the rate limit leaves too little";
            return Ok(Err(Error::new(Code::RateLimited, spent)));
        }
        self.parts.api.admit(&call, Duration::ZERO).await?;
        self.report.calls += 1;
        let client = self.parts.api.client()?;
        let _progress = self.parts.ui.out.progress("reading");
        let answer = client.send(&call).await;
        let remaining = client.rate_limit.get().flatten().map(|it| it.remaining);
        if let Some(name) = limit {
            // Without a header nothing limits but the count of calls.
            let first = remaining.map_or(u32::MAX, |it| it.saturating_add(1));
            self.left.entry(name).or_insert((first, 0)).1 += 1;
        }
        self.parts.api.record_rate_limit(&call);
        match answer {
            Ok(answer) => Ok(Ok(answer.document.value().clone())),
            Err(failure @ Failure::Refused(_)) => Ok(Err(failure.into_error(&call))),
            Err(failure) => Err(failure.into_error(&call)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_a_rate_limit_leaves_is_kept_for_others() {
        for (first, sent, expected) in
            [(10, 4, true), (10, 5, false), (1, 0, false), (2, 0, true), (u32::MAX, 24, true)]
        {
            assert_eq!(has_room(first, sent), expected, "{first} {sent}");
        }
    }
}
