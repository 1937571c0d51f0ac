//! `GET /sandbox/keys`: the keys that there are.

use serde_json::{Value, json};

use super::super::call::Call;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::access::{KEYS, Scope};
use crate::sandbox::store::Ledger;

pub(super) fn list(_ledger: &Ledger<'_>, _call: &Call) -> Outcome {
    let keys: Vec<Value> = KEYS
        .iter()
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
