//! `/sandbox/faults`: faults that requests meet on purpose.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::endpoints::ENDPOINTS;
use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::fault::{Fault, FaultRequest, covers};
use crate::sandbox::store::{Tx, WaitingFault};
use crate::sandbox::wire::id::IdKind;

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
            id: IdKind::Fault.id(waiting.number),
            on: format!("{} {}", request.method, request.path),
            fault: &request.fault,
            times: request.times,
        }
    }
}

pub(super) fn list(tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    Reply::ok(&state(tx)?)
}

/// Every fault.
pub(super) fn state(tx: &Tx<'_>) -> Result<Value, ApiError> {
    let faults = tx.faults()?;
    let faults: Vec<_> = faults.iter().map(FaultDocument::of).collect();
    Ok(json!({"faults": faults}))
}

/// Adds a fault.
pub(super) fn add(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let request = FaultRequest::read(&request.fields()?, |method, path| {
        ENDPOINTS
            .iter()
            .any(|it| it.method == method && covers(it.path, path))
    })?;
    Reply::created(&FaultDocument::of(&tx.add_fault(request)?))
}

/// Deletes all faults.
pub(super) fn clear(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    tx.clear_faults()?;
    list(tx, request)
}
