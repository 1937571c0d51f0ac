//! `/sandbox/clock`: the sandbox's time, which can be moved ahead.

use serde_json::json;

use super::super::call::Call;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::advance::parse_advance;
use crate::sandbox::rules::fields::{Complaints, Fields};
use crate::sandbox::store::Ledger;
use crate::sandbox::wire::moment::Moment;

pub(super) fn show(ledger: &Ledger<'_>, _call: &Call) -> Outcome {
    Reply::ok(&json!({"now": Moment(ledger.now), "offset_seconds": ledger.offset_seconds()}))
}

/// Moves the clock ahead, and lets happen what is due by then.
pub(super) fn advance(ledger: &Ledger<'_>, call: &Call) -> Outcome {
    let body = call.fields()?;
    let mut complaints = Complaints::default();
    let by = complaints
        .required("advance", Fields::of(&body).text("advance")?)
        .map(parse_advance);
    if by == Some(None) {
        complaints.add(
            "advance",
            "must be a duration ahead, as 21m, 1h30m, 2d or 90s",
        );
    }
    let by = complaints.settle(by.flatten())?;
    show(&ledger.advance(by)?, call)
}
