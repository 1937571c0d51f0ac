//! `/sandbox/organization`: the settings of the service's dashboard.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::access::KEYS;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::store::Tx;

pub(super) fn show(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    Reply::ok(&find(tx, request)?)
}

/// The settings of every organization.
pub(super) fn state(tx: &Tx<'_>) -> Result<Value, ApiError> {
    let ids: BTreeSet<&str> = KEYS.iter().map(|it| it.organization).collect();
    let settings: Vec<_> = ids
        .into_iter()
        .map(|id| tx.organization(id))
        .collect::<Result<_, _>>()?;
    Ok(json!({"organizations": settings}))
}

/// Replaces the settings that the body names.
pub(super) fn merge(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let organization = find(tx, request)?.merge(&request.fields()?)?;
    tx.save_organization(&organization)?;
    Reply::ok(&organization)
}

/// The organization that `?organization=` names, else the main one.
fn find(tx: &Tx<'_>, request: &ParsedRequest) -> Result<Organization, ApiError> {
    let id = match request.query("organization") {
        None => Organization::MAIN,
        Some(name) => Organization::named(&name).ok_or(ApiError::OrganizationUnknown)?,
    };
    Ok(tx.organization(id)?)
}
