//! Pass-through forwarding: the service receives the app's status and does the retrying.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use tokio::sync::Mutex as AsyncMutex;

use super::ack_log::AckLog;
use super::app::App;
use super::event::Event;
use super::forwarder::Forwarder;
use super::listener_event::{DeliveryOutcome, Reporter};
use super::store::{Intent, Receipt, ReceivedDelivery, Store, StoreError};

/// The status sent to the service when the app did not answer.
const NO_ANSWER: u16 = 502;
/// The status sent to the service when an earlier event of the booking is still to be forwarded.
const BEHIND: u16 = 503;

/// Forwards deliveries while the service waits.
pub(super) struct PassThrough {
    app: Arc<App>,
    store: Store,
    reporter: Arc<Reporter>,
    ack_log: Arc<AckLog>,
    /// Allow one delivery in flight per booking.
    locks: BookingLocks,
}

/// A lock for each booking that has deliveries in flight, by [`Event::ordering_key`](super::Event::ordering_key).
#[derive(Default)]
struct BookingLocks(Mutex<HashMap<String, Arc<AsyncMutex<()>>>>);

impl BookingLocks {
    fn get(&self, key: &str) -> Arc<AsyncMutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        locks.entry(key.to_owned()).or_default().clone()
    }

    /// Removes the lock unless another delivery waits for it.
    fn release(&self, key: &str) {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Two references: the map's and the caller's.
        let is_unused = |lock: &Arc<AsyncMutex<()>>| Arc::strong_count(lock) <= 2;
        if locks.get(key).is_some_and(is_unused) {
            locks.remove(key);
        }
    }
}

impl PassThrough {
    /// Pass-through to the app of a forwarder, which shares its store and log.
    pub(super) fn new(forwarder: &Forwarder) -> Self {
        PassThrough {
            app: forwarder.app.clone(),
            store: forwarder.store.clone(),
            reporter: forwarder.reporter.clone(),
            ack_log: forwarder.ack_log.clone(),
            locks: BookingLocks::default(),
        }
    }

    /// Forwards a delivery once its booking's earlier ones have ended; returns the event as it is stored, and the status for
    /// the service.
    pub(super) async fn forward(
        &self,
        delivery: ReceivedDelivery,
    ) -> Result<(Event, u16), StoreError> {
        let key = delivery.event.ordering_key().to_owned();
        let lock = self.locks.get(&key);
        let status = {
            let _in_flight = lock.lock().await;
            self.forward_now(delivery).await
        };
        self.locks.release(&key);
        status
    }

    async fn forward_now(&self, delivery: ReceivedDelivery) -> Result<(Event, u16), StoreError> {
        let (event, receipt) = self.store.receive(delivery, Intent::PassThrough).await?;
        let number = match receipt {
            Receipt::New { number, .. } => number,
            Receipt::Duplicate => {
                self.reporter
                    .report(Some(event.clone()), DeliveryOutcome::Duplicate);
                return Ok((event, 200));
            }
            Receipt::Behind => {
                let why = "earlier events of the booking are delivered first".to_owned();
                self.reporter
                    .report(Some(event.clone()), DeliveryOutcome::Refused(why));
                return Ok((event, BEHIND));
            }
        };
        let url = self.app.url().to_owned();
        let Some(delivery) = self.store.begin_attempt(number, url).await? else {
            return Ok((event, 200));
        };
        let attempt = delivery.attempt;
        if attempt == 1 {
            self.reporter.count_received();
        }
        let answer = self.app.post_and_log(delivery, &self.ack_log).await;
        // The answer is on the disk before the service learns of it.
        let now = Timestamp::now();
        let ended = self
            .store
            .end_attempt(number, attempt, answer.clone(), None, now)
            .await?;
        let status = answer.status.clone().unwrap_or(NO_ANSWER);
        let outcome = DeliveryOutcome::Forwarded {
            attempt,
            answer,
            state: ended.state,
            next_at: None,
        };
        self.reporter.report(Some(event.clone()), outcome);
        Ok((event, status))
    }
}
