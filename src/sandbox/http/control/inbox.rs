//! `GET /sandbox/inbox`: the text messages that were sent.

use serde_json::json;

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::store::Tx;

pub(super) fn list(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let organization = super::organization_asked(tx, request)?;
    Reply::ok(&json!({"messages": tx.messages(None, organization.as_deref())?}))
}
