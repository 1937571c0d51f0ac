//! Pass-through: the service is told what the app answers, and tries again by itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use tokio::sync::Mutex as Gate;

use super::app::App;
use super::notice::{Reporter, What};
use super::slate::Slate;
use super::store::{Delivery, Intent, Receipt, Store, StoreError};

/// What the service is answered where the app gave no answer at all.
const NO_ANSWER: u16 = 502;
/// What it is answered where earlier events of the booking go first.
const BEHIND: u16 = 503;

pub(super) struct Passing {
    pub(super) app: Arc<App>,
    pub(super) store: Store,
    pub(super) reporter: Arc<Reporter>,
    pub(super) slate: Arc<Slate>,
    /// One in flight for each booking.
    pub(super) gates: Gates,
}

/// A gate for each booking that has something in flight, or at the gate.
#[derive(Default)]
pub(super) struct Gates(Mutex<HashMap<String, Arc<Gate<()>>>>);

impl Gates {
    fn of(&self, lane: &str) -> Arc<Gate<()>> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(lane.to_owned()).or_default().clone()
    }

    /// Forgets a gate that nobody stands at.
    fn leave(&self, lane: &str) {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One for the map, one for who leaves.
        if gates
            .get(lane)
            .is_some_and(|gate| Arc::strong_count(gate) <= 2)
        {
            gates.remove(lane);
        }
    }
}

impl Passing {
    /// Passes a delivery on; the status that the service is answered.
    pub(super) async fn pass(&self, delivery: Delivery) -> Result<u16, StoreError> {
        let lane = delivery.event.lane().to_owned();
        let gate = self.gates.of(&lane);
        let status = {
            let _in_flight = gate.lock().await;
            self.pass_in_turn(delivery).await
        };
        self.gates.leave(&lane);
        status
    }

    async fn pass_in_turn(&self, delivery: Delivery) -> Result<u16, StoreError> {
        let event = delivery.event.clone();
        let number = match self.store.receive(delivery, Intent::Pass).await? {
            Receipt::New { number, .. } => number,
            Receipt::Duplicate => {
                self.reporter.tell(Some(event), What::Duplicate);
                return Ok(200);
            }
            Receipt::Behind => {
                let why = "earlier events of its booking go first";
                self.reporter
                    .tell(Some(event), What::Refused(why.to_owned()));
                return Ok(BEHIND);
            }
        };
        let Some(parcel) = self.store.begin(number, self.app.url().to_owned()).await? else {
            return Ok(200);
        };
        let attempt = parcel.attempt;
        if attempt == 1 {
            self.reporter.count_received();
        }
        let answer = self.app.take_noted(parcel, number, &self.slate).await;
        // On the disk before the service is told that the app has it.
        let now = Timestamp::now();
        let settled = self
            .store
            .settle(number, attempt, answer.clone(), None, now)
            .await?;
        let status = answer.status.clone().unwrap_or(NO_ANSWER);
        self.reporter.tell(
            Some(event),
            What::Forwarded {
                attempt,
                answer,
                state: settled.state,
                next_at: None,
            },
        );
        Ok(status)
    }
}
