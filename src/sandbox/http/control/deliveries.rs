//! `/sandbox/deliveries`: every attempt to deliver an event.

use serde_json::json;

use super::super::call::Call;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::refusal::Refusal;
use crate::sandbox::store::Ledger;
use crate::sandbox::wire::id::Kind;

pub(super) fn list(ledger: &Ledger<'_>, _call: &Call) -> Outcome {
    Reply::ok(&json!({"deliveries": ledger.deliveries(None)?}))
}

/// Starts a delivery's schedule anew, whatever came of it.
pub(super) fn resend(ledger: &Ledger<'_>, call: &Call) -> Outcome {
    let event = Kind::Event
        .number(call.id())
        .ok_or(Refusal::DeliveryNotFound)?;
    if !ledger.resend(event)? {
        return Err(Refusal::DeliveryNotFound);
    }
    let delivery = ledger.deliveries(Some(event))?.pop();
    Reply::ok(&delivery.ok_or(Refusal::DeliveryNotFound)?)
}
