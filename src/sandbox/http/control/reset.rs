//! `POST /sandbox/reset`: a fresh sandbox.

use serde_json::json;

use super::super::call::Call;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::store::Ledger;

pub(super) fn reset(ledger: &Ledger<'_>, _call: &Call) -> Outcome {
    ledger.reset()?;
    Reply::ok(&json!({"reset": true}))
}
