//! The calls of learning: few, reads alone, and at most half of what a rate limit leaves.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::{LearnOptions, LearnReport};
use crate::app::Parts;
use crate::json::Document;
use crate::outcome::{Code, Error, Result};
use crate::service::client::{Call, Failure, SlotQuery, VenueQuery, session, show_call};
use crate::service::mapping::Mapping;

pub(crate) const MOST_CALLS: usize = 25;

/// A call that learning can send. There is no other way to make one: nothing can be changed.
pub(crate) enum LearnCall {
    Index,
    Venues(VenueQuery),
    Slots(SlotQuery),
    Sessions,
    Booking(String),
}

impl LearnCall {
    fn call(&self, mapping: &Mapping) -> Result<Call> {
        match self {
            LearnCall::Index => Ok(Call::get("/v1/")),
            LearnCall::Venues(query) => query.call(mapping),
            LearnCall::Slots(query) => query.call(mapping),
            LearnCall::Sessions => Ok(session::list(&[])),
            LearnCall::Booking(id) => Ok(show_call(id)),
        }
    }
}

/// A document, or why there is none.
pub(crate) enum Reply {
    Sample(Value),
    Nothing(Error),
}

pub(crate) fn body(error: &Error) -> &Value {
    error.body.as_ref().map_or(&Value::Null, Document::value)
}

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
    /// Sends a read. Returns the document, or why there is none; no HTTP status if not sent.
    pub(crate) async fn send(&mut self, read: &LearnCall) -> Result<Reply> {
        let call = read.call(self.parts.api.facts.mapping())?;
        let limit = call.rate_limit_name();
        let left = limit.and_then(|name| self.left.get(name));
        let is_spent = left.is_some_and(|(first, sent)| !has_room(*first, *sent));
        if self.report.calls >= MOST_CALLS || is_spent {
            let spent = "no call is left, or the rate limit leaves too little";
            return Ok(Reply::Nothing(Error::new(Code::RateLimited, spent)));
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
            Ok(answer) => Ok(Reply::Sample(answer.document.value().clone())),
            Err(failure @ Failure::Refused(_)) => Ok(Reply::Nothing(failure.into_error(&call))),
            Err(failure) => Err(failure.into_error(&call)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_call_of_learning_changes_anything() {
        let booking = LearnCall::Booking("b/cancel".to_owned());
        for read in [LearnCall::Index, LearnCall::Sessions, booking] {
            let call = read.call(&Mapping::default()).unwrap();
            assert!(!call.is_write(), "{}", call.name());
        }
    }

    #[test]
    fn half_of_what_a_rate_limit_leaves_is_kept_for_others() {
        for (first, sent, expected) in
            [(10, 4, true), (10, 5, false), (1, 0, false), (2, 0, true), (u32::MAX, 24, true)]
        {
            assert_eq!(has_room(first, sent), expected, "{first} {sent}");
        }
    }
}
