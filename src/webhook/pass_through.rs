//! Pass-through forwarding: the service receives the app's status and does the retrying.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use tokio::sync::Mutex as AsyncMutex;

use super::event::Event;
use super::forwarder::Forwarder;
use super::listener_event::DeliveryOutcome;
use super::store::{Intent, Receipt, ReceivedDelivery};
use crate::outcome::Result;

/// The status sent to the service when the app did not answer.
const NO_ANSWER: u16 = 502;
/// The status sent to the service when an earlier event of the booking is still to be forwarded.
const BEHIND: u16 = 503;

/// Forwards deliveries while the service waits.
pub(super) struct PassThrough {
    forwarder: Arc<Forwarder>,
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
    pub(super) fn new(forwarder: Arc<Forwarder>) -> Self {
        PassThrough {
            forwarder,
            locks: BookingLocks::default(),
        }
    }

    /// Forwards a delivery once its booking's earlier ones have ended; returns the event as it is stored, and the status for
    /// the service.
    pub(super) async fn forward(&self, delivery: ReceivedDelivery) -> Result<(Event, u16)> {
        let key = delivery.event.ordering_key().to_owned();
        let lock = self.locks.get(&key);
        let status = {
            let _in_flight = lock.lock().await;
            self.forward_now(delivery).await
        };
        self.locks.release(&key);
        status
    }

    async fn forward_now(&self, delivery: ReceivedDelivery) -> Result<(Event, u16)> {
        let forwarder = &self.forwarder;
        let (event, receipt) = forwarder
            .store
            .receive(delivery, Intent::PassThrough)
            .await?;
        let number = match receipt {
            Receipt::New { number, .. } => number,
            Receipt::Duplicate => {
                let outcome = DeliveryOutcome::Duplicate;
                forwarder.reporter.report(Some(event.clone()), outcome);
                return Ok((event, 200));
            }
            Receipt::Behind => {
                let why = "earlier events of the booking are delivered first".to_owned();
                let outcome = DeliveryOutcome::Refused(why);
                forwarder.reporter.report(Some(event.clone()), outcome);
                return Ok((event, BEHIND));
            }
        };
        let Some((_, attempt, answer)) = forwarder.attempt(number).await? else {
            return Ok((event, 200));
        };
        if attempt == 1 {
            forwarder.reporter.count_received();
        }
        // The answer is on the disk before the service learns of it.
        let (state, next) = forwarder
            .store
            .end_attempt(number, attempt, answer.clone(), None, Timestamp::now())
            .await?;
        let status = answer.status.clone().unwrap_or(NO_ANSWER);
        forwarder.report(event.clone(), attempt, answer, state, next);
        Ok((event, status))
    }
}
