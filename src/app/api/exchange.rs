//! The one place that sends what a command asks of the service.

use std::time::{Duration, Instant};

use super::Api;
use crate::app::in_flight::InFlight;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::service::client::refusal::KeySender;
use crate::service::client::{Answer, Call, Failure, retry};

/// What a call does at the service.
pub(crate) enum Effect<'a> {
    /// Nothing: what may be temporary is sent again.
    Read,
    /// Something, or that is not known: it is sent once. Meanwhile an interrupt says this.
    Change(InFlight),
    /// A booking: it is sent again under the same key. `appears_in` says whether a refusal shows
    /// the booking all the same.
    Create { key: &'a str, sender: KeySender, appears_in: &'a dyn Fn(&Document) -> bool },
}

/// How an exchange ended.
pub(crate) enum Verdict<T = Answer> {
    Done(T),
    /// The service has certainly done nothing.
    Rejected(Failure),
    NothingSent(Error),
    /// No answer says what was done.
    Unknown(Failure),
}

impl Verdict {
    fn judge(call: &Call, sent: Result<Answer, Failure>) -> Self {
        match sent {
            Ok(answer) => Verdict::Done(answer),
            Err(failure) if failure.sent_nothing() => {
                Verdict::NothingSent(failure.into_error(call))
            }
            Err(failure) if failure.is_certain_refusal() => Verdict::Rejected(failure),
            Err(failure) => Verdict::Unknown(failure),
        }
    }
}

impl Api {
    /// What a verdict is to a person.
    pub(crate) fn result<T>(&self, verdict: Verdict<T>, call: &Call) -> Result<T> {
        match verdict {
            Verdict::Done(done) => Ok(done),
            Verdict::NothingSent(error) => Err(error),
            Verdict::Rejected(failure) => Err(failure.into_error(call)),
            Verdict::Unknown(failure) => Err(self.unknown(failure, call)),
        }
    }

    /// The error of an unknown outcome, which says how to find out. A read that failed has none.
    pub(crate) fn unknown(&self, failure: Failure, call: &Call) -> Error {
        let error = failure.into_error(call);
        match error.exit {
            Exit::OutcomeUnknown => self.in_flight.borrow().explain_unknown(error),
            _ => error,
        }
    }

    /// Sends a call as soon as its rate limit allows it, and again after one that the service
    /// reports; `--max-wait` limits the wait. A create is admitted by its run in the journal.
    pub(crate) async fn exchange(&self, call: &Call, effect: Effect<'_>) -> Verdict {
        self.admitted(call, &effect).await.unwrap_or_else(Verdict::NothingSent)
    }

    async fn admitted(&self, call: &Call, effect: &Effect<'_>) -> Result<Verdict> {
        let is_read = matches!(effect, Effect::Read);
        let mut allowed = self.max_wait();
        loop {
            allowed = self.admit(call, allowed).await?;
            let (sent, _) = self.send(call, effect).await?;
            // A successful read does not wait for the disk: the next write takes it along.
            if !is_read || sent.is_err() {
                self.records.keep_rate_limits();
            }
            // After a rate limit too, the service has done nothing.
            if !is_read && sent.as_ref().is_err_and(|it| !it.may_have_been_carried_out()) {
                self.in_flight.take();
            }
            match sent {
                Err(failure) if failure.may_be_waited_out(call) => {
                    allowed = self.pause_for_rate_limit(failure, call, allowed).await?;
                }
                sent => return Ok(Verdict::judge(call, sent)),
            }
        }
    }

    /// Sends a call, and again as its effect allows. Returns what came last, and whether an earlier
    /// try of a create may have booked.
    pub(crate) async fn send(
        &self,
        call: &Call,
        effect: &Effect<'_>,
    ) -> Result<(Result<Answer, Failure>, bool)> {
        let client = self.client()?;
        let mut in_doubt = false;
        let in_flight = match effect {
            Effect::Read => None,
            Effect::Change(in_flight) => Some(in_flight.clone()),
            Effect::Create { key, .. } => Some(InFlight::Creating((*key).to_owned())),
        };
        let doing = match &in_flight {
            None => "waiting for the service".to_owned(),
            Some(in_flight) => format!("sending {}", in_flight.noun()),
        };
        in_flight.map(|it| self.in_flight.replace(it));
        let _progress = (!call.is_control).then(|| self.requesting(&doing));
        let began = Instant::now();
        let sent = match effect {
            Effect::Read => {
                let left = || client.connection.timeout.saturating_sub(began.elapsed());
                let again =
                    |failure: &mut Failure, tried| retry::after_read(failure, tried, left());
                client.send_until(call, again).await
            }
            Effect::Change(_) => client.send(call).await,
            Effect::Create { sender, appears_in, .. } => {
                let again = |failure: &mut Failure, tried| -> Option<Duration> {
                    if let Failure::Refused(refusal) = failure {
                        refusal.shows_the_booking = appears_in(&refusal.body);
                        refusal.judge_conflict(if in_doubt { KeySender::Others } else { *sender });
                    }
                    in_doubt |= failure.may_have_been_carried_out();
                    retry::after_create(failure, tried)
                };
                client.send_until(call, again).await
            }
        };
        self.observe_rate_limit(call);
        Ok((sent, in_doubt))
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;
    use serde_json::json;

    use super::*;
    use crate::service::client::refusal::Refusal;

    #[test]
    fn verdict_says_what_a_failure_proves() {
        let refused = |status| {
            Failure::Refused(Box::new(Refusal::new(
                status,
                &HeaderMap::new(),
                json!({"error": "no"}).into(),
            )))
        };
        let call = Call::post("/v1/bookings/bk_1/cancel", json!({}));
        let judge = |failure| match Verdict::judge(&call, Err(failure)) {
            Verdict::Done(_) => "done",
            Verdict::Rejected(_) => "rejected",
            Verdict::NothingSent(_) => "nothing sent",
            Verdict::Unknown(_) => "unknown",
        };
        for (failure, verdict) in [
            (Failure::not_sent("a header is wrong"), "nothing sent"),
            (refused(422), "rejected"),
            (refused(500), "unknown"),
            (Failure::timed_out(Duration::ZERO), "unknown"),
        ] {
            assert_eq!(judge(failure), verdict);
        }
    }
}
