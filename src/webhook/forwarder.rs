//! Takes waiting events to the app: in order within a booking, side by side across bookings.
//!
//! Which event has its turn is the store's to say: it hands out the first of each booking alone. So there is one of
//! a booking in flight at most, and what a listener that died had in hand is simply due again.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::app::App;
use super::notice::{Reporter, What};
use super::schedule::Schedule;
use super::slate::Slate;
use super::store::Store;

/// Attempts that are under way at once.
const AT_ONCE: usize = 64;
/// How long to wait where the file cannot be written.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest sleep: a machine that was asleep itself finds out what the clock says.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

pub(super) struct Forwarder {
    pub(super) app: Arc<App>,
    pub(super) store: Store,
    pub(super) schedule: Schedule,
    pub(super) reporter: Arc<Reporter>,
    pub(super) slate: Arc<Slate>,
}

/// An event that is to be sent, and when.
type Turn = (Timestamp, i64);

impl Forwarder {
    /// Forwards what is `due`, and what `arrivals` bring, until `stop`; then waits for what is in flight, `grace` at
    /// most. What is not answered by then is noted as in doubt by the next listener.
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
        loop {
            let now = Timestamp::now();
            while in_flight.len() < AT_ONCE
                && let Some(turn) = turns.first().copied()
                && turn.0 <= now
            {
                turns.remove(&turn);
                in_flight.spawn(forwarder.clone().forward(turn.1));
            }
            let pause = match turns.first() {
                Some((at, _)) if in_flight.len() < AT_ONCE => at.duration_since(now).unsigned_abs(),
                _ => LONGEST_SLEEP,
            };
            tokio::select! {
                () = &mut stop => break,
                Some(number) = arrivals.recv() => {
                    turns.insert((Timestamp::UNIX_EPOCH, number));
                }
                Some(done) = in_flight.join_next() => turns.extend(done.into_iter().flatten()),
                () = sleep(pause.min(LONGEST_SLEEP)) => {}
            }
        }
        let _ = timeout(grace, async {
            while in_flight.join_next().await.is_some() {}
        })
        .await;
    }

    /// One attempt; the turns that come of it.
    async fn forward(self: Arc<Self>, number: i64) -> Vec<Turn> {
        let parcel = loop {
            match self.store.begin(number, self.app.url().to_owned()).await {
                Ok(Some(parcel)) => break parcel,
                Ok(None) => return Vec::new(),
                Err(error) => self.pause(&error.to_string()).await,
            }
        };
        let (event, attempt) = (parcel.event.clone(), parcel.attempt);
        let answer = self.app.take_noted(parcel, number, &self.slate).await;
        // What the app answered must not be forgotten: it would get the event again.
        let settled = loop {
            let (schedule, now) = (Some(self.schedule.clone()), Timestamp::now());
            let settled = self
                .store
                .settle(number, attempt, answer.clone(), schedule, now);
            match settled.await {
                Ok(settled) => break settled,
                Err(error) => self.pause(&error.to_string()).await,
            }
        };
        self.reporter.tell(
            Some(event),
            What::Forwarded {
                attempt,
                answer,
                state: settled.state,
                next_at: settled.next_at,
            },
        );
        let again = settled.next_at.map(|at| (at, number));
        let released = settled
            .released
            .map(|number| (Timestamp::UNIX_EPOCH, number));
        again.into_iter().chain(released).collect()
    }

    async fn pause(&self, why: &str) {
        self.reporter.tell(None, What::Unwritten(why.to_owned()));
        sleep(PAUSE).await;
    }
}
