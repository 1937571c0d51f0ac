//! `/sandbox/faults`: faults that requests and webhooks meet on purpose.

use serde::Serialize;
use serde_json::{Value, json};

use crate::sandbox::http::endpoints::ENDPOINTS;
use crate::sandbox::http::reply::{HandlerResult, Reply};
use crate::sandbox::http::request::Request;
use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::fault::{Fault, matches_path};
use crate::sandbox::store::{Tx, random};
use crate::sandbox::wire::IdKind;

#[derive(Serialize)]
struct FaultDocument {
    id: String,
    #[serde(flatten)]
    fault: Fault,
}

impl FaultDocument {
    fn from_row((number, fault): (i64, Fault)) -> Self {
        let id = IdKind::FAULT.id(number);
        Self { id, fault }
    }
}

pub(super) fn list(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    Reply::ok(&state(tx, request.organization.as_deref())?)
}

/// All, or those that happen to an organization alone.
pub(super) fn state(tx: &Tx<'_>, organization: Option<&str>) -> Result<Value> {
    let faults = tx.faults(organization)?.into_iter().map(FaultDocument::from_row);
    Ok(json!({"faults": faults.collect::<Vec<_>>()}))
}

pub(super) fn add(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let is_served = |method: &str, path: &str| {
        ENDPOINTS.iter().any(|it| it.method == method && matches_path(it.path, path))
    };
    let mut fault = Fault::read(&request.fields()?, is_served, random())?;
    if let Some(name) = &fault.organization {
        let named = super::organization::named(tx, name)?.id;
        if request.organization.as_ref().is_some_and(|it| *it != named) {
            return Err(ApiError::invalid("organization", "is another one than the query's"));
        }
        fault.organization = Some(named);
    }
    fault.organization = fault.organization.or_else(|| request.organization.clone());
    Reply::created(&FaultDocument::from_row((tx.add_fault(&fault)?, fault)))
}

pub(super) fn remove(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let organization = request.organization.as_deref();
    let number = IdKind::FAULT.number(&request.id);
    let found = tx.faults(organization)?.into_iter().find(|it| Some(it.0) == number);
    let (number, _) = found.ok_or(ApiError::FAULT_NOT_FOUND)?;
    tx.delete_fault(number)?;
    list(tx, request)
}

pub(super) fn clear(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    tx.clear_faults(request.organization.as_deref())?;
    list(tx, request)
}
