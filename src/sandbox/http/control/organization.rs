//! `/sandbox/organization`: the settings of the service's dashboard. `/sandbox/organizations`:
//! organizations that are added, one for each test, say. `/sandbox/keys`: the keys of all.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::sandbox::http::reply::{HandlerResult, Reply};
use crate::sandbox::http::request::Request;
use crate::sandbox::rules::access::{BOOKINGS_CREATE, KeyKind, built_in_keys, keys_of};
use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::fields::typed;
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::store::Tx;
use crate::sandbox::wire::without_nulls;

pub(super) fn show(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    Reply::ok(&find(tx, request)?)
}

pub(super) fn state(tx: &Tx<'_>, organization: Option<&str>) -> Result<Value> {
    Ok(json!({ "organizations": all(tx, organization)? }))
}

pub(super) fn merge(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let organization = find(tx, request)?.merge(&request.fields()?)?;
    tx.save_organization(&organization)?;
    Reply::ok(&organization)
}

pub(super) fn list(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let organizations = all(tx, request.organization.as_deref())?;
    let organizations: Vec<Value> = organizations.iter().map(document).collect();
    Reply::ok(&json!({ "organizations": organizations }))
}

fn all(tx: &Tx<'_>, wanted: Option<&str>) -> Result<Vec<Organization>> {
    let mut organizations = Vec::new();
    for id in Organization::BUILT_IN {
        organizations.extend(tx.organization(id)?);
    }
    organizations.extend(tx.added_organizations()?);
    organizations.retain(|it| wanted.is_none_or(|id| it.id == id));
    Ok(organizations)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddOrganization {
    name: Option<String>,
}

pub(super) fn add(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let added: AddOrganization = typed(&Value::Object(request.fields()?))?;
    Reply::created(&document(&tx.add_organization(added.name.as_deref())?))
}

pub(super) fn remove(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let organization = named(tx, &request.id)?;
    if !request.is_about(&organization.id) {
        return Err(ApiError::ORGANIZATION_UNKNOWN);
    }
    if Organization::is_built_in(&organization.id) {
        return Err(ApiError::ORGANIZATION_BUILT_IN);
    }
    let deliveries = tx.sent_deliveries(Some(&organization.id))?;
    tx.delete_organization(&organization.id)?;
    request.judge_leaving(Some(&organization.id), &deliveries);
    Reply::ok(&json!({"id": organization.id, "object": "organization", "deleted": true}))
}

/// What its user needs of an organization: its keys, each by what it is for, and its secret.
fn document(organization: &Organization) -> Value {
    let mut keys = Map::new();
    for key in keys_of(&organization.id) {
        let may_write = key.scopes.contains(&BOOKINGS_CREATE);
        let field = match key.kind {
            KeyKind::Live if !may_write => "readonly",
            KeyKind::Live => "live",
            KeyKind::Test => "test",
            KeyKind::Beta => "beta",
        };
        keys.insert(field.to_owned(), json!(key.secret));
    }
    without_nulls(json!({
        "id": organization.id,
        "keys": keys,
        "webhook_secret": organization.webhook_secret,
        "name": organization.name,
    }))
}

pub(super) fn keys(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let added = tx.added_organizations()?;
    let added = added.iter().flat_map(|it| keys_of(&it.id));
    let keys = built_in_keys().chain(added).filter(|it| request.is_about(&it.organization));
    let keys = keys.map(|key| {
        json!({
            "key": key.secret,
            "kind": key.kind,
            "organization": key.organization,
            "scopes": key.scopes,
            "purpose": key.purpose,
        })
    });
    Reply::ok(&json!({"keys": keys.collect::<Vec<_>>()}))
}

fn find(tx: &Tx<'_>, request: &Request) -> Result<Organization> {
    named(tx, request.organization.as_deref().unwrap_or(Organization::MAIN))
}

pub(super) fn named(tx: &Tx<'_>, name: &str) -> Result<Organization> {
    tx.organization(&Organization::id_of(name))?.ok_or(ApiError::ORGANIZATION_UNKNOWN)
}
