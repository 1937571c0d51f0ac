//! Forwards stored events to the app: in order within a booking, concurrently across bookings.
//!
//! It asks the store for the oldest waiting event of each booking. An event waits until the app has
//! answered 2xx, or the schedule is used up; until then the booking's later events are not asked
//! for. So order, restarts and pauses need no memory but the numbers of the events in flight.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::handler::{Handler, HeaderLine};
use super::reporter::{ForwardAttempt, ForwardOutcome, ListenerEvent};
use super::signature::sign;
use super::store::{EventState, ReceivedDelivery, Webhooks};
use crate::outcome::{Error, Result};
use crate::secrets::Secret;
use crate::service::mapping::Dialect;
use crate::service::time::duration::duration;

const MAX_IN_FLIGHT: usize = 64;
/// How long to wait before using the database again after a failure.
const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// The longest sleep: after a suspend, the clock is read again within this time.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// The pauses between the attempts of a delivery. After the last, the event is abandoned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule(Vec<Duration>);

impl Default for Schedule {
    /// The service's own ("Events", 6): 30 seconds, 2 minutes, 10 minutes.
    fn default() -> Self {
        Schedule([30, 120, 600].map(Duration::from_secs).into())
    }
}

impl Schedule {
    /// Parses `30s,2m,10m`; `none` means no retries.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Schedule(Vec::new()));
        }
        let pauses = text.split(',').map(duration).collect::<Result<_, _>>();
        pauses.map(Schedule).map_err(|error| error.to_string())
    }

    /// When to try again after `failures` failed attempts; `None` if the schedule is used up.
    fn next(&self, failures: u32, now: Timestamp) -> Option<Timestamp> {
        let pause = *self.0.get(failures.saturating_sub(1) as usize)?;
        let pause = SignedDuration::try_from(pause).unwrap_or(SignedDuration::MAX);
        Some(now.saturating_add(pause).unwrap_or(Timestamp::MAX))
    }
}

pub(super) struct Forwarder {
    pub(super) app: App,
    pub(super) store: Webhooks,
    pub(super) schedule: Schedule,
    pub(super) reporter: UnboundedSender<ListenerEvent>,
    pub(super) arrived: Arc<Notify>,
}

impl Forwarder {
    /// Forwards waiting and new events until `stop`, then waits up to `grace` for attempts.
    pub(super) async fn run(self: Arc<Self>, stop: impl Future<Output = ()>, grace: Duration) {
        let mut stop = pin!(stop);
        // The attempts in flight, which end with the numbers of their events.
        let mut attempts = JoinSet::new();
        let mut in_flight = HashSet::new();
        loop {
            let pause = match self.begin_due(&mut attempts, &mut in_flight).await {
                Ok(pause) => pause,
                Err(error) => {
                    self.report_unwritten(&error);
                    WRITE_PAUSE
                }
            };
            tokio::select! {
                () = &mut stop => break,
                () = self.arrived.notified() => {}
                Some(Ok(number)) = attempts.join_next() => {
                    in_flight.remove(&number);
                    while let Some(Ok(number)) = attempts.try_join_next() {
                        in_flight.remove(&number);
                    }
                }
                () = sleep(pause) => {}
            }
        }
        let ended = async { while attempts.join_next().await.is_some() {} };
        let _ = timeout(grace, ended).await;
    }

    /// Begins the attempts that are due. Returns how long to wait for the next one.
    async fn begin_due(
        self: &Arc<Self>,
        attempts: &mut JoinSet<i64>,
        in_flight: &mut HashSet<i64>,
    ) -> Result<Duration> {
        let now = Timestamp::now();
        // Among so many are as many as have room that are not in flight.
        for (number, next) in self.store.next_events(now, 2 * MAX_IN_FLIGHT as u32).await? {
            if in_flight.len() == MAX_IN_FLIGHT {
                break;
            }
            if in_flight.contains(&number) {
                continue;
            }
            let pause = next.map_or(SignedDuration::ZERO, |at| at.duration_since(now));
            if pause.is_positive() {
                return Ok(pause.unsigned_abs().min(LONGEST_SLEEP));
            }
            in_flight.insert(number);
            let forwarded = self.clone().forward(number);
            attempts.spawn(async move {
                // An attempt that panics is made again, and does not hold up its booking for ever.
                if tokio::spawn(forwarded).await.is_err() {
                    sleep(WRITE_PAUSE).await;
                }
                number
            });
        }
        Ok(LONGEST_SLEEP)
    }

    async fn forward(self: Arc<Self>, number: i64) {
        let url = self.app.handler.url.to_string();
        let begun = self.store.begin_attempt(number, url, false).await;
        let (delivery, attempt, failures) = match begun {
            Ok(Some(begun)) => begun,
            Ok(None) => return,
            Err(error) => {
                self.report_unwritten(&error);
                return sleep(WRITE_PAUSE).await;
            }
        };
        let headers = self.app.headers(&delivery, attempt, Timestamp::now());
        let reaction = self.app.handler.post(&headers, &delivery.body).await;
        let next = self.schedule.next(failures + 1, Timestamp::now());
        let (outcome, state, next) = match next {
            _ if reaction.is_delivered() => {
                (ForwardOutcome::Delivered, EventState::Delivered, None)
            }
            Some(next) => (ForwardOutcome::Failed, EventState::Waiting, Some(next)),
            None => (ForwardOutcome::Abandoned, EventState::Abandoned, None),
        };
        let becomes = Some((state, next));
        let end = || self.store.end_attempt(number, attempt, reaction.clone(), becomes);
        // If the response were lost, the app would get the event again.
        while let Err(error) = end().await {
            self.report_unwritten(&error);
            sleep(WRITE_PAUSE).await;
        }
        let _ = self.reporter.send(ListenerEvent {
            attempt: Some(ForwardAttempt::new(attempt, &reaction)),
            next_attempt_at: next,
            ..ListenerEvent::new(Some(delivery.event), outcome)
        });
    }

    fn report_unwritten(&self, error: &Error) {
        let unwritten = ListenerEvent::because(ForwardOutcome::Unwritten, error.message.clone());
        let _ = self.reporter.send(unwritten);
    }
}

/// The age at which a listener replaces a signature: a handler would refuse an older one.
pub(crate) const MAX_SIGNATURE_AGE: SignedDuration = SignedDuration::from_secs(60);

/// Headers that belong to a connection or are set by the HTTP client, and are not forwarded.
const HOP_BY_HOP: &str = "connection content-length expect host keep-alive proxy-authenticate proxy-authorization te trailer \
                          transfer-encoding upgrade";

pub(crate) struct App {
    pub(crate) handler: Handler,
    pub(crate) dialect: Dialect,
    /// Makes a new signature if the received one is older than this; `None` forwards all headers.
    pub(crate) signing: Option<(Secret, SignedDuration)>,
    pub(crate) headers: Vec<HeaderLine>,
}

impl App {
    /// The headers as received, without the connection's, with our attempt number, a signature if
    /// due, and the user's.
    pub(crate) fn headers(
        &self,
        delivery: &ReceivedDelivery,
        attempt: u32,
        now: Timestamp,
    ) -> Vec<HeaderLine> {
        let mut headers = delivery.headers.clone();
        headers.retain(|(name, _)| !HOP_BY_HOP.split(' ').any(|it| it == name));
        let mut set = |name: &str, value: String| {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.push((name.to_owned(), value));
        };
        if let Some((secret, most)) = &self.signing {
            set(&self.dialect.attempt_header(), attempt.to_string());
            if now.duration_since(delivery.received_at) > *most {
                let signature = sign(secret, now.as_second(), &delivery.body);
                set(&self.dialect.signature_header(), signature);
            }
        }
        for (name, value) in &self.headers {
            set(name, value.clone());
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_own_schedule_abandons_after_fourth_failed_attempt() {
        let next = |failures| {
            let next = Schedule::default().next(failures, Timestamp::UNIX_EPOCH);
            next.map(Timestamp::as_second)
        };
        assert_eq!([1, 2, 3, 4].map(next), [Some(30), Some(120), Some(600), None]);
        assert_eq!(Schedule::parse("30s,2m,10m"), Ok(Schedule::default()));
        assert_eq!(Schedule::parse("none"), Ok(Schedule(Vec::new())));
        for text in ["", "30s,", "soon"] {
            assert!(Schedule::parse(text).is_err(), "{text}");
        }
    }
    use crate::webhook::event::Event;
    use crate::webhook::handler::{DEADLINE, endpoint};

    fn sent(most: Option<SignedDuration>, seconds_later: i64) -> Vec<HeaderLine> {
        let line = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let app = App {
            handler: Handler::new(endpoint("http://127.0.0.1:9/").unwrap(), DEADLINE, None, None)
                .unwrap(),
            dialect: Dialect::default(),
            signing: most.map(|most| (Secret::new("whsec".to_owned()), most)),
            headers: vec![line(("X-Mine", "yes"))],
        };
        let received_at = Timestamp::from_second(1_000).unwrap();
        let came = [
            ("host", "elsewhere"),
            ("content-length", "2"),
            ("booking-signature", "t=1000,v1=theirs"),
            ("booking-delivery-attempt", "7"),
            ("x-twice", "a"),
            ("x-twice", "b"),
        ];
        let delivery = ReceivedDelivery {
            event: Event::default(),
            headers: came.map(line).into(),
            body: b"{}".to_vec(),
            received_at,
        };
        let later = SignedDuration::from_secs(seconds_later);
        app.headers(&delivery, 2, received_at + later)
    }

    fn values<'a>(headers: &'a [HeaderLine], name: &str) -> Vec<&'a str> {
        let of_name = headers.iter().filter(|(it, _)| it.eq_ignore_ascii_case(name));
        of_name.map(|(_, value)| value.as_str()).collect()
    }

    #[test]
    fn headers_are_forwarded_but_for_those_of_the_connection() {
        let headers = sent(Some(MAX_SIGNATURE_AGE), 1);
        for (name, expected) in [
            ("host", &[][..]),
            ("content-length", &[]),
            ("booking-signature", &["t=1000,v1=theirs"]),
            ("booking-delivery-attempt", &["2"]),
            ("x-mine", &["yes"]),
            ("x-twice", &["a", "b"]),
        ] {
            assert_eq!(values(&headers, name), expected, "{name}");
        }
    }

    #[test]
    fn a_signature_that_an_app_would_find_too_old_is_replaced() {
        for (most, later, begins) in [
            (Some(MAX_SIGNATURE_AGE), 61, "t=1061,v1="),
            (Some(SignedDuration::MIN), 1, "t=1001,v1="),
            (None, 9_999, "t=1000,v1=theirs"),
        ] {
            let headers = sent(most, later);
            let signatures = values(&headers, "booking-signature");
            assert_eq!(signatures.len(), 1);
            assert!(signatures[0].starts_with(begins), "{signatures:?}");
        }
        let received = sent(None, 9_999);
        assert_eq!(values(&received, "booking-delivery-attempt"), ["7"]);
    }
}
