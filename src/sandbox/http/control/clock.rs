//! `/sandbox/clock`: the sandbox's clock, which can be moved ahead.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::advance::parse_advance;
use crate::sandbox::rules::fields::{FieldErrors, Fields};
use crate::sandbox::store::Tx;
use crate::sandbox::wire::moment::Moment;

/// 9000-01-01. Later times could not be represented with the deadlines that follow them.
const FARTHEST: Timestamp = Timestamp::constant(221_845_392_000, 0);

pub(super) fn show(tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    Reply::ok(&state(tx))
}

/// The clock.
pub(super) fn state(tx: &Tx<'_>) -> Value {
    json!({"now": Moment(tx.now), "offset_seconds": tx.offset_seconds()})
}

/// Moves the clock ahead, and applies what is due by then.
pub(super) fn advance(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let body = request.fields()?;
    let mut errors = FieldErrors::default();
    let by = errors
        .required("advance", Fields::of(&body).text("advance")?)
        .map(parse_advance);
    if by == Some(None) {
        errors.add(
            "advance",
            "must be a duration ahead, as 21m, 1h30m, 2d or 90s",
        );
    }
    let by = by.flatten();
    let leads_too_far = |by| tx.now.saturating_add(by).is_ok_and(|then| then > FARTHEST);
    if by.is_some_and(leads_too_far) {
        errors.add("advance", "leads past the year 9000");
    }
    let by = errors.finish(by)?;
    show(&tx.advance(by)?, request)
}
