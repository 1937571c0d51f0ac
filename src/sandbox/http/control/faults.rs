//! `/sandbox/faults`: faults that requests and webhooks meet on purpose.

use serde_json::{Map, Value, json};

use crate::sandbox::http::endpoints::ENDPOINTS;
use crate::sandbox::http::reply::{HandlerResult, Reply};
use crate::sandbox::http::request::Request;
use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::fault::{Fault, matches_path};
use crate::sandbox::store::{Tx, random};
use crate::sandbox::wire::{IdKind, without_nulls};

fn document((number, fault): (i64, Fault)) -> Value {
    let mut fields = Map::from_iter([("id".to_owned(), json!(IdKind::FAULT.id(number)))]);
    fields.extend(json!(fault).as_object().cloned().unwrap_or_default());
    without_nulls(Value::Object(fields))
}

pub(super) fn list(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    Reply::ok(&state(tx, request.organization.as_deref())?)
}

/// All, or those that happen to an organization alone.
pub(super) fn state(tx: &Tx<'_>, organization: Option<&str>) -> Result<Value> {
    let faults = tx.faults(organization)?.into_iter().map(document);
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
    Reply::created(&document((tx.add_fault(&fault)?, fault)))
}

pub(super) fn remove(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let number = IdKind::FAULT.number(&request.id).ok_or(ApiError::FAULT_NOT_FOUND)?;
    if tx.delete_faults(Some(number), request.organization.as_deref())? == 0 {
        return Err(ApiError::FAULT_NOT_FOUND);
    }
    list(tx, request)
}

pub(super) fn clear(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    tx.delete_faults(None, request.organization.as_deref())?;
    list(tx, request)
}
