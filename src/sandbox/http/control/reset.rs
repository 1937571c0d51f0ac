//! `POST /sandbox/reset`: deletes everything.

use serde_json::json;

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::store::Tx;

pub(super) fn reset(tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    tx.reset()?;
    Reply::ok(&json!({"reset": true}))
}
