//! `GET /sandbox/keys`: the API keys.

use serde_json::{Value, json};

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::access::{KEYS, keys_of};
use crate::sandbox::rules::scope::Scope;
use crate::sandbox::store::Tx;

pub(super) fn list(tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    let added = tx.added_organizations()?;
    let added = added.iter().flat_map(|it| keys_of(&it.id));
    let keys: Vec<Value> = KEYS
        .iter()
        .cloned()
        .chain(added)
        .map(|key| {
            json!({
                "key": key.secret,
                "kind": key.kind.as_str(),
                "organization": key.organization,
                "scopes": key.scopes.iter().copied().map(Scope::as_str).collect::<Vec<_>>(),
                "purpose": key.purpose,
            })
        })
        .collect();
    Reply::ok(&json!({"keys": keys}))
}
