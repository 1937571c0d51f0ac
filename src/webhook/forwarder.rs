//! Forwards stored events to the app: in order within a booking, concurrently across bookings.
//!
//! The store sets `next_at` only for the first waiting event of each booking. So at most one event of a booking is in
//! flight, and the events that a killed listener had in flight are due again.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::ack_log::AckLog;
use super::app::App;
use super::listener_event::{DeliveryOutcome, Reporter};
use super::schedule::Schedule;
use super::store::Store;

/// The largest number of attempts in flight.
const MAX_IN_FLIGHT: usize = 64;
/// How long to wait before writing to the database again after a failure.
const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// The longest sleep. After the machine itself was suspended, the clock is read again within this time.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// Forwards events and retries those that fail.
pub(super) struct Forwarder {
    pub(super) app: Arc<App>,
    pub(super) store: Store,
    pub(super) schedule: Schedule,
    pub(super) reporter: Arc<Reporter>,
    pub(super) ack_log: Arc<AckLog>,
    /// The service's clock minus this computer's.
    pub(super) clock: watch::Receiver<SignedDuration>,
}

/// When to send an event, and its number.
type Turn = (Timestamp, i64);

impl Forwarder {
    /// Forwards the events that are `due` and those from `arrivals` until `stop`, then waits up to `grace` for attempts
    /// in flight. The next listener marks those without an answer as unknown.
    pub(super) async fn run(
        self,
        due: Vec<(i64, Timestamp)>,
        mut arrivals: mpsc::UnboundedReceiver<i64>,
        stop: impl Future<Output = ()>,
        grace: Duration,
    ) {
        let mut stop = pin!(stop);
        let forwarder = Arc::new(self);
        let mut turns: BTreeSet<Turn> = due.into_iter().map(|(number, at)| (at, number)).collect();
        let mut in_flight = JoinSet::new();
        let mut clock = forwarder.clock.clone();
        let mut offset = *clock.borrow_and_update();
        loop {
            let now = forwarder.now();
            while in_flight.len() < MAX_IN_FLIGHT
                && let Some(turn) = turns.first().copied()
                && turn.0 <= now
            {
                turns.remove(&turn);
                in_flight.spawn(forwarder.clone().forward(turn.1));
            }
            let pause = match turns.first() {
                Some((at, _)) if in_flight.len() < MAX_IN_FLIGHT => {
                    at.duration_since(now).unsigned_abs()
                }
                _ => LONGEST_SLEEP,
            };
            tokio::select! {
                () = &mut stop => break,
                Some(number) = arrivals.recv() => {
                    turns.insert((Timestamp::UNIX_EPOCH, number));
                }
                Some(done) = in_flight.join_next() => turns.extend(done.into_iter().flatten()),
                Ok(()) = clock.changed() => {
                    let before = std::mem::replace(&mut offset, *clock.borrow_and_update());
                    // A clock that was set back, as by a reset, takes the retries with it.
                    if offset < before {
                        let back = before - offset;
                        let earlier = |at: Timestamp| at.saturating_sub(back).unwrap_or(at);
                        turns = turns.into_iter().map(|(at, number)| (earlier(at), number)).collect();
                    }
                }
                () = sleep(pause.min(LONGEST_SLEEP)) => {}
            }
        }
        let _ = timeout(grace, async {
            while in_flight.join_next().await.is_some() {}
        })
        .await;
    }

    /// Makes one attempt; returns the retry and the booking's next event, if they are due.
    async fn forward(self: Arc<Self>, number: i64) -> Vec<Turn> {
        let delivery = loop {
            match self
                .store
                .begin_attempt(number, self.app.url().to_owned())
                .await
            {
                Ok(Some(delivery)) => break delivery,
                Ok(None) => return Vec::new(),
                Err(error) => self.pause(&error.to_string()).await,
            }
        };
        let (event, attempt) = (delivery.event.clone(), delivery.attempt);
        let answer = self.app.post_and_log(delivery, &self.ack_log).await;
        // If the answer were lost, the app would get the event again.
        let ended = loop {
            let (schedule, now) = (Some(self.schedule.clone()), self.now());
            let ended = self
                .store
                .end_attempt(number, attempt, answer.clone(), schedule, now);
            match ended.await {
                Ok(ended) => break ended,
                Err(error) => self.pause(&error.to_string()).await,
            }
        };
        self.reporter.report(
            Some(event),
            DeliveryOutcome::Forwarded {
                attempt,
                answer,
                state: ended.state,
                // By this computer's clock, unless the service's is moved until then.
                next_at: ended
                    .next_at
                    .map(|at| at.saturating_sub(*self.clock.borrow()).unwrap_or(at)),
            },
        );
        let again = ended.next_at.map(|at| (at, number));
        let released = ended.released.map(|number| (Timestamp::UNIX_EPOCH, number));
        again.into_iter().chain(released).collect()
    }

    /// The time by the service's clock.
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        now.saturating_add(*self.clock.borrow()).unwrap_or(now)
    }

    async fn pause(&self, why: &str) {
        self.reporter
            .report(None, DeliveryOutcome::Unwritten(why.to_owned()));
        sleep(WRITE_PAUSE).await;
    }
}
