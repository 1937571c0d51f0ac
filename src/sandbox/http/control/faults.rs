//! `/sandbox/faults`: failures on purpose.

use serde::Serialize;
use serde_json::json;

use super::super::call::Call;
use super::super::endpoints::ENDPOINTS;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::fault::{Fault, FaultRequest, covers};
use crate::sandbox::store::{Ledger, WaitingFault};
use crate::sandbox::wire::id::Kind;

#[derive(Serialize)]
struct FaultDocument<'a> {
    id: String,
    on: String,
    #[serde(flatten)]
    fault: &'a Fault,
    times: u32,
}

impl<'a> FaultDocument<'a> {
    fn of(waiting: &'a WaitingFault) -> Self {
        let request = &waiting.request;
        Self {
            id: Kind::Fault.id(waiting.number),
            on: format!("{} {}", request.method, request.path),
            fault: &request.fault,
            times: request.times,
        }
    }
}

pub(super) fn list(ledger: &Ledger<'_>, _call: &Call) -> Outcome {
    let faults = ledger.faults()?;
    let faults: Vec<_> = faults.iter().map(FaultDocument::of).collect();
    Reply::ok(&json!({"faults": faults}))
}

/// Asks for a fault.
pub(super) fn add(ledger: &Ledger<'_>, call: &Call) -> Outcome {
    let request = FaultRequest::read(&call.fields()?, |method, path| {
        ENDPOINTS
            .iter()
            .any(|it| it.method == method && covers(it.path, path))
    })?;
    Reply::created(&FaultDocument::of(&ledger.add_fault(request)?))
}

/// Takes all faults back.
pub(super) fn clear(ledger: &Ledger<'_>, call: &Call) -> Outcome {
    ledger.clear_faults()?;
    list(ledger, call)
}
