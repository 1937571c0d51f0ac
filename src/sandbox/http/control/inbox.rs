//! `GET /sandbox/inbox`: the text messages that were sent.

use serde_json::json;

use super::super::call::Call;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::store::Ledger;

pub(super) fn list(ledger: &Ledger<'_>, _call: &Call) -> Outcome {
    Reply::ok(&json!({"messages": ledger.messages()?}))
}
