//! `/sandbox/clock`: the sandbox's time, which can be moved ahead.

use jiff::Timestamp;
use serde_json::json;

use super::super::call::Call;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::advance::parse_advance;
use crate::sandbox::rules::fields::{Complaints, Fields};
use crate::sandbox::store::Ledger;
use crate::sandbox::wire::moment::Moment;

/// 9000-01-01: what is later can be neither written nor counted on from.
const FARTHEST: Timestamp = Timestamp::constant(221_845_392_000, 0);

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
    let by = by.flatten();
    let leads_too_far = |by| {
        ledger
            .now
            .saturating_add(by)
            .is_ok_and(|then| then > FARTHEST)
    };
    if by.is_some_and(leads_too_far) {
        complaints.add("advance", "leads past the year 9000");
    }
    let by = complaints.settle(by)?;
    show(&ledger.advance(by)?, call)
}
