//! The delivery worker: posts events to the organizations' webhook URLs ("Events", 6).

use std::collections::HashSet;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use reqwest::Client;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval_at};

use super::rules::delivery::{Content, DeliveryAttempt, sign};
use super::rules::fault::FaultKind;
use super::store::{PendingDelivery, Store, Tx};
use crate::outcome;
use crate::platform::http_client::{self, header_fields};

const TIMEOUT: Duration = Duration::from_secs(10);
/// How much of an answer's body is kept, and how long it may take to come after the status.
const KEPT: usize = 16 * 1024;
const BODY_TIMEOUT: Duration = Duration::from_secs(1);
/// Most attempts in flight: a slow handler seldom delays those of other organizations.
const CONCURRENCY: usize = 32;
/// Longest time between two looks for due events.
const CHECK: Duration = Duration::from_secs(1);

/// Delivers due events every `interval`, and when a clock was moved unless the interval is long,
/// for as long as it is polled.
pub(crate) async fn run(store: &Store, interval: Duration) {
    let check = interval.min(CHECK);
    let mut checks = interval_at(tokio::time::Instant::now() + check, check);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut moves = store.moves.subscribe();
    // A command on the sandbox ends within a second and has to begin nothing.
    let mut is_staying = false;
    let mut last = Instant::now();
    let mut worker =
        DeliveryWorker { store, client: None, in_flight: JoinSet::new(), busy: HashSet::new() };
    loop {
        tokio::select! {
            _ = checks.tick() => {
                is_staying = true;
                worker.busy.clear();
            }
            Ok(_) = moves.changed(), if is_staying => {}
            Some(done) = worker.in_flight.join_next() => {
                match done {
                    Ok((delivery, attempt)) => worker.record(delivery, attempt).await,
                    // A lost attempt becomes due again when its lease ends.
                    Err(_) => worker.busy.clear(),
                }
                continue;
            }
        }
        if interval <= check || last.elapsed() >= interval {
            last = Instant::now();
            worker.start_due().await;
        }
    }
}

struct DeliveryWorker<'a> {
    store: &'a Store,
    /// Built for the first attempt, because it reads the system's certificates.
    client: Option<Client>,
    in_flight: JoinSet<(PendingDelivery, DeliveryAttempt)>,
    /// Bookings with an event in flight. Each has one at a time, so that its events arrive in
    /// order; cleared at every check, so that a slow response does not delay the next event.
    busy: HashSet<i64>,
}

impl DeliveryWorker<'_> {
    /// Starts the due attempts, up to [`CONCURRENCY`]. After an error, the next check does.
    async fn start_due(&mut self) {
        let most = CONCURRENCY - self.in_flight.len();
        let due = self.store.read(None, |tx| Ok(tx.has_due_deliveries()?)).await;
        if most == 0 || due != Ok(true) {
            return;
        }
        if self.client.is_none() {
            let builder = http_client::builder(true, Some(Vec::new())).timeout(TIMEOUT);
            self.client = http_client::build(builder).ok();
        }
        let busy = self.busy.clone();
        let taken = self.store.write(None, move |tx| Ok(tx.take_due_deliveries(most, busy)?));
        for delivery in taken.await.unwrap_or_default() {
            self.busy.insert(delivery.booking);
            let client = self.client.clone();
            self.in_flight.spawn(async move {
                let fault = delivery.fault;
                let mut attempt = match fault {
                    Some(FaultKind::Drop) if delivery.is_after => {
                        let _lost = attempt(client, &delivery).await;
                        DeliveryAttempt::failed("a fault dropped the response")
                    }
                    Some(FaultKind::Drop) => DeliveryAttempt::failed("a fault dropped the webhook"),
                    Some(FaultKind::Duplicate) => {
                        let _first = attempt(client.clone(), &delivery).await;
                        attempt(client, &delivery).await
                    }
                    _ => attempt(client, &delivery).await,
                };
                attempt.fault = fault;
                (delivery, attempt)
            });
        }
    }

    async fn record(&mut self, delivery: PendingDelivery, attempt: DeliveryAttempt) {
        self.busy.remove(&delivery.booking);
        let owner = Some(delivery.organization.clone());
        let record = move |tx: &Tx<'_>| Ok(tx.record_attempt(&delivery, &attempt)?);
        let recorded = self.store.write(owner, record);
        if recorded.await.is_ok() {
            self.start_due().await;
        }
    }
}

/// Posts an event, signed with the real time.
async fn attempt(client: Option<Client>, delivery: &PendingDelivery) -> DeliveryAttempt {
    let started = Instant::now();
    let Some(client) = client else {
        return DeliveryAttempt::failed("the HTTP client could not be built");
    };
    let mut attempt = DeliveryAttempt::default();
    let body = &delivery.body;
    let hours = i64::from(delivery.fault == Some(FaultKind::Old));
    let signed_at = Timestamp::now() - SignedDuration::from_hours(hours);
    let signature = sign(&delivery.secret, signed_at, body.as_bytes());
    let mut request = client.post(&delivery.url).header("content-type", "application/json");
    if delivery.fault != Some(FaultKind::Unsigned) {
        request = request.header("booking-signature", signature);
    }
    let request = request.header("booking-delivery-attempt", delivery.number).body(body.clone());
    let response = match request.build() {
        Ok(request) => {
            attempt.request = Some(Content {
                headers: header_fields(request.headers()),
                body: body.clone(),
                truncated: false,
            });
            client.execute(request).await
        }
        Err(error) => Err(error),
    };
    attempt.latency_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    match response {
        Ok(mut response) => {
            attempt.status = Some(response.status().as_u16());
            let headers = header_fields(response.headers());
            let (body, truncated) = http_client::beginning(&mut response, KEPT, BODY_TIMEOUT).await;
            attempt.response = Some(Content { headers, body, truncated });
        }
        Err(error) if error.is_timeout() => {
            attempt.error = Some("no response within 10 seconds".to_owned());
        }
        // The innermost cause, which does not repeat the URL.
        Err(error) => attempt.error = Some(outcome::reason(&error)),
    }
    attempt
}
