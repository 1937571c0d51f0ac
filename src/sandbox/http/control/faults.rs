//! `/sandbox/faults`: faults that requests meet on purpose.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::endpoints::ENDPOINTS;
use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::fault::{Fault, FaultRequest, covers, ignored_fields};
use crate::sandbox::store::{Tx, WaitingFault};
use crate::sandbox::wire::id::IdKind;

#[derive(Serialize)]
struct FaultDocument<'a> {
    id: String,
    on: String,
    #[serde(flatten)]
    fault: &'a Fault,
    times: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    organization: Option<&'a str>,
    /// The fields of the request that made it which had no effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<&'a str>,
}

impl<'a> FaultDocument<'a> {
    fn of(waiting: &'a WaitingFault) -> Self {
        let request = &waiting.request;
        Self {
            id: IdKind::Fault.id(waiting.number),
            on: request.target.as_text(),
            fault: &request.fault,
            times: request.times.map_or(json!("always"), |it| json!(it)),
            rate: request.chance.map(|it| it.rate),
            seed: request.chance.map(|it| it.seed),
            organization: request.organization.as_deref(),
            ignored: Vec::new(),
        }
    }
}

pub(super) fn list(tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    Reply::ok(&state(tx)?)
}

pub(super) fn state(tx: &Tx<'_>) -> Result<Value, ApiError> {
    let faults = tx.faults()?;
    let faults: Vec<_> = faults.iter().map(FaultDocument::of).collect();
    Ok(json!({"faults": faults}))
}

pub(super) fn add(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let is_served = |method: &str, path: &str| {
        let mut endpoints = ENDPOINTS.iter();
        endpoints.any(|it| it.method == method && covers(it.path, path))
    };
    let body = request.fields()?;
    let mut request = FaultRequest::read(&body, is_served, tx.new_seed())?;
    if let Some(name) = &request.organization {
        request.organization = Some(super::organization::named(tx, name)?.id.clone());
    }
    let added = tx.add_fault(request)?;
    Reply::created(&FaultDocument {
        ignored: ignored_fields(&body, &added.request.fault),
        ..FaultDocument::of(&added)
    })
}

pub(super) fn remove(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let number = IdKind::Fault.number(request.id());
    match number.map(|number| tx.delete_fault(number)).transpose()? {
        Some(true) => list(tx, request),
        _ => Err(ApiError::FaultNotFound),
    }
}

pub(super) fn clear(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    tx.clear_faults()?;
    list(tx, request)
}
