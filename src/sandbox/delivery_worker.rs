//! The delivery worker: posts events to the organizations' webhook URLs ("Events", 6).

use std::collections::HashSet;
use std::error::Error;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use reqwest::{Client, redirect};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval_at};

use super::rules::delivery::DeliveryAttempt;
use super::rules::signature::sign;
use super::store::{PendingDelivery, Store};

/// How long an endpoint may take to respond.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Most attempts in flight: below the shortest listen queue of common servers, that of Python's.
const CONCURRENCY: usize = 8;
/// Longest time between two looks at the sandbox's clock.
const CLOCK_CHECK: Duration = Duration::from_secs(1);

/// Delivers due events every `interval` of the sandbox's clock, for as long as it is polled. The clock
/// can be moved ahead, so it is read more often than that.
pub(crate) async fn run(store: &Store, interval: Duration) {
    let check = interval.min(CLOCK_CHECK);
    let mut checks = interval_at(tokio::time::Instant::now() + check, check);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last = store.recent_now();
    let mut worker = DeliveryWorker {
        store,
        client: None,
        in_flight: JoinSet::new(),
        busy: HashSet::new(),
    };
    loop {
        tokio::select! {
            _ = checks.tick() => {
                worker.busy.clear();
                // Read from the database: another process may have moved it.
                let now = store.now().unwrap_or(last);
                if interval <= check || now.duration_since(last).unsigned_abs() >= interval {
                    last = now;
                    worker.start_due().await;
                }
            }
            Some(done) = worker.in_flight.join_next() => {
                match done {
                    Ok((delivery, attempt)) => worker.record(delivery, attempt).await,
                    // A lost attempt becomes due again when its lease ends.
                    Err(_) => worker.busy.clear(),
                }
            }
        }
    }
}

struct DeliveryWorker<'a> {
    store: &'a Store,
    /// Built for the first attempt, because it reads the system's certificates.
    client: Option<Client>,
    in_flight: JoinSet<(PendingDelivery, DeliveryAttempt)>,
    /// Bookings with an event in flight. Each has one at a time, so that its events arrive in order unless one
    /// fails; cleared at every check, so that a slow response does not hold up the next event.
    busy: HashSet<i64>,
}

impl DeliveryWorker<'_> {
    /// Starts the attempts that are due, up to [`CONCURRENCY`]. If the store fails, the next check
    /// tries again.
    async fn start_due(&mut self) {
        let most = CONCURRENCY - self.in_flight.len();
        let due = self.store.read(|tx| Ok(tx.has_due_deliveries()?)).await;
        if most == 0 || due != Ok(true) {
            return;
        }
        let busy = self.busy.clone();
        let taken = self
            .store
            .write(move |tx| Ok(tx.take_due_deliveries(most, busy)?));
        for delivery in taken.await.unwrap_or_default() {
            self.busy.insert(delivery.booking);
            let client = self.client();
            self.in_flight.spawn(async move {
                let attempt = attempt(client, &delivery).await;
                (delivery, attempt)
            });
        }
    }

    /// Records an attempt, then starts others that are due.
    async fn record(&mut self, delivery: PendingDelivery, attempt: DeliveryAttempt) {
        self.busy.remove(&delivery.booking);
        let recorded = self
            .store
            .write(move |tx| Ok(tx.record_attempt(&delivery, &attempt)?));
        if recorded.await.is_ok() {
            self.start_due().await;
        }
    }

    fn client(&mut self) -> Option<Client> {
        if self.client.is_none() {
            self.client = Client::builder()
                .redirect(redirect::Policy::none())
                .timeout(TIMEOUT)
                .no_proxy()
                .http1_title_case_headers()
                .build()
                .ok();
        }
        self.client.clone()
    }
}

/// Posts an event, signed with the real time.
async fn attempt(client: Option<Client>, delivery: &PendingDelivery) -> DeliveryAttempt {
    let started = Instant::now();
    let outcome = match client {
        None => Err("the HTTP client could not be built".to_owned()),
        Some(client) => client
            .post(&delivery.url)
            .header("content-type", "application/json")
            .header(
                "booking-signature",
                sign(&delivery.secret, Timestamp::now(), delivery.body.as_bytes()),
            )
            .header("booking-delivery-attempt", delivery.number)
            .body(delivery.body.clone())
            .send()
            .await
            .map(|response| response.status().as_u16())
            .map_err(|error| reason(&error)),
    };
    DeliveryAttempt {
        outcome,
        latency_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

/// Why there was no response: the innermost cause, which does not repeat the URL.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer within 10 seconds".to_owned();
    }
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
