//! Forwards stored events to the app: in order within a booking, concurrently across bookings.
//!
//! It asks the store for the oldest waiting event of each booking. An event waits until the app has answered 2xx, or the
//! schedule is used up; until then the booking's later events are not asked for. So order, restarts and pauses need no
//! memory but the numbers of the events in flight.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Notify, watch};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{sleep, timeout};

use super::app::{App, Signing};
use super::listener_event::{DeliveryOutcome, Reporter};
use super::schedule::Schedule;
use super::store::{AppAnswer, QueuedDelivery, Store};
use crate::outcome::{Error, Result};

const MAX_IN_FLIGHT: usize = 64;
/// How long to wait before using the database again after a failure.
const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// The longest sleep. After the machine itself was suspended, the clock is read again within this time.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// Forwards events and retries those that fail.
pub(super) struct Forwarder {
    pub(super) app: Arc<App>,
    pub(super) store: Store,
    pub(super) schedule: Schedule,
    pub(super) reporter: Arc<Reporter>,
    /// The service's clock minus this computer's.
    pub(super) clock: watch::Receiver<SignedDuration>,
    /// Told when an event was stored that is to be forwarded.
    pub(super) arrived: Arc<Notify>,
}

/// The attempts in flight, with the numbers of their events.
#[derive(Default)]
struct InFlight {
    tasks: JoinSet<()>,
    numbers: HashMap<Id, i64>,
}

impl InFlight {
    fn begin(&mut self, number: i64, attempt: impl Future<Output = ()> + Send + 'static) {
        let task = self.tasks.spawn(attempt);
        self.numbers.insert(task.id(), number);
    }

    /// Waits until an attempt has ended, also one that panicked: its event is still waiting, and is taken again.
    async fn next_end(&mut self) -> Option<()> {
        let mut ended = self.tasks.join_next_with_id().await?;
        loop {
            let task = ended.map_or_else(|failed| failed.id(), |(task, ())| task);
            self.numbers.remove(&task);
            match self.tasks.try_join_next_with_id() {
                Some(next) => ended = next,
                None => return Some(()),
            }
        }
    }

    fn has_room(&self) -> bool {
        self.numbers.len() < MAX_IN_FLIGHT
    }

    fn contains(&self, number: i64) -> bool {
        self.numbers.values().any(|it| *it == number)
    }
}

impl Forwarder {
    /// Forwards what is waiting and what arrives until `stop`, then waits up to `grace` for attempts in flight. The next
    /// listener marks those without an answer as unknown.
    pub(super) async fn run(self: Arc<Self>, stop: impl Future<Output = ()>, grace: Duration) {
        let mut stop = pin!(stop);
        let mut in_flight = InFlight::default();
        let mut clock = self.clock.clone();
        let mut offset = *clock.borrow_and_update();
        loop {
            let pause = match self.begin_due(&mut in_flight).await {
                Ok(pause) => pause,
                Err(error) => {
                    self.report_unwritten(&error);
                    WRITE_PAUSE
                }
            };
            tokio::select! {
                () = &mut stop => break,
                () = self.arrived.notified() => {}
                Some(()) = in_flight.next_end() => {}
                Ok(()) = clock.changed() => {
                    let before = std::mem::replace(&mut offset, *clock.borrow_and_update());
                    // A clock that was set back, as by a reset, takes the retries with it.
                    if offset < before
                        && let Err(error) = self.store.bring_forward(before - offset).await
                    {
                        self.report_unwritten(&error);
                    }
                }
                () = sleep(pause.min(LONGEST_SLEEP)) => {}
            }
        }
        let ended = async { while in_flight.next_end().await.is_some() {} };
        let _ = timeout(grace, ended).await;
    }

    /// Begins the attempts that are due. Returns how long to wait for the next one.
    async fn begin_due(self: &Arc<Self>, in_flight: &mut InFlight) -> Result<Duration> {
        if !in_flight.has_room() {
            return Ok(LONGEST_SLEEP);
        }
        let now = self.now();
        // Among so many are as many as have room that are not in flight.
        for turn in self.store.turns(now, 2 * MAX_IN_FLIGHT).await? {
            if in_flight.contains(turn.number) {
                continue;
            }
            let pause = turn
                .next_attempt_at
                .map_or(SignedDuration::ZERO, |at| at.duration_since(now));
            if pause.is_positive() {
                return Ok(pause.unsigned_abs());
            }
            in_flight.begin(turn.number, self.clone().forward(turn.number));
            if !in_flight.has_room() {
                break;
            }
        }
        Ok(LONGEST_SLEEP)
    }

    /// Makes one attempt, and records it before and after.
    async fn forward(self: Arc<Self>, number: i64) {
        let url = self.app.url().to_owned();
        let delivery = match self.store.begin_attempt(number, url).await {
            Ok(Some(delivery)) => delivery,
            Ok(None) => return,
            Err(error) => {
                self.report_unwritten(&error);
                return sleep(WRITE_PAUSE).await;
            }
        };
        let (event, attempt) = (delivery.event.clone(), delivery.attempt);
        let answer = answered(post(self.app.clone(), delivery)).await;
        // If the answer were lost, the app would get the event again.
        let (state, next) = loop {
            let schedule = self.schedule.clone();
            let ended =
                self.store
                    .end_attempt(number, attempt, answer.clone(), schedule, self.now());
            match ended.await {
                Ok(ended) => break ended,
                Err(error) => {
                    self.report_unwritten(&error);
                    sleep(WRITE_PAUSE).await;
                }
            }
        };
        // By this computer's clock, unless the service's is moved until then.
        let offset = *self.clock.borrow();
        let outcome = DeliveryOutcome::Forwarded {
            attempt,
            answer,
            state,
            next_at: next.map(|at| at.saturating_sub(offset).unwrap_or(at)),
        };
        self.reporter.report(Some(event), outcome);
    }

    /// The time by the service's clock.
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        now.saturating_add(*self.clock.borrow()).unwrap_or(now)
    }

    fn report_unwritten(&self, error: &Error) {
        let why = error.message.clone();
        self.reporter.report(None, DeliveryOutcome::Unwritten(why));
    }
}

async fn post(app: Arc<App>, delivery: QueuedDelivery) -> AppAnswer {
    app.post(delivery, Signing::IfExpired).await
}

/// The answer to a post. A panic is a failed attempt, so that the event is retried and then given up like any other, and
/// does not hold up its booking for ever.
async fn answered(post: impl Future<Output = AppAnswer> + Send + 'static) -> AppAnswer {
    let failed = |_: JoinError| AppAnswer {
        status: Err("bookctl could not send it, because of a mistake of its own".to_owned()),
        latency_ms: 0,
        request: None,
        response: None,
    };
    tokio::spawn(post).await.unwrap_or_else(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_attempt_that_panics_has_failed_and_is_not_in_flight_any_more() {
        let answer = answered(async { panic!("in an attempt, as the test wants it") }).await;
        assert!(!answer.is_delivered() && answer.status.is_err());
        let mut in_flight = InFlight::default();
        in_flight.begin(7, async { panic!("in an attempt, as the test wants it") });
        assert!(in_flight.contains(7));
        assert_eq!(in_flight.next_end().await, Some(()));
        assert!(!in_flight.contains(7));
    }
}
