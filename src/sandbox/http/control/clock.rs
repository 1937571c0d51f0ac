//! `/sandbox/clock`: the sandbox's clock, which can be moved ahead and stopped.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::sandbox::http::reply::{HandlerResult, Reply};
use crate::sandbox::http::request::Request;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::fields::{parse_advance, rfc3339, typed};
use crate::sandbox::store::Tx;
use crate::sandbox::wire::WireTime;

/// 9000-01-01. Later times could not be represented with the deadlines that follow them.
const FARTHEST: Timestamp = Timestamp::constant(221_845_392_000, 0);

/// The body has one of these fields; of the last three, the value is true.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ClockChange {
    Advance(String),
    Set(String),
    /// To the next thing that is due.
    Next(bool),
    Freeze(bool),
    Resume(bool),
}

pub(super) fn show(tx: &Tx<'_>, _request: &Request) -> HandlerResult {
    Reply::ok(&state(tx)?)
}

pub(super) fn state(tx: &Tx<'_>) -> Result<Value, ApiError> {
    let mut clock = json!({"now": WireTime(tx.now), "offset_seconds": tx.offset_seconds()});
    if tx.is_frozen() {
        clock["frozen"] = json!(true);
    }
    if let Some(next) = tx.next_due()? {
        clock["next_due_at"] = json!(WireTime(next));
    }
    Ok(clock)
}

/// Moves the clock ahead, and applies what is due by then; or stops it, or lets it go on.
pub(super) fn change(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let body = request.fields()?;
    if body.len() != 1 {
        let demand = "is required alone, or one of set, next, freeze and resume";
        return Err(ApiError::invalid("advance", demand));
    }
    let changed = match typed(&Value::Object(body))? {
        ClockChange::Freeze(true) => tx.freeze()?,
        ClockChange::Resume(true) => tx.resume()?,
        ClockChange::Next(true) => {
            move_to(tx, "next", tx.next_due()?.ok_or(ApiError::NOTHING_DUE)?)?
        }
        ClockChange::Advance(by) => {
            let demand = "must be a duration of 1s to ten years, such as 21m, 1h30m, 2d or 90s";
            let by = parse_advance(&by).ok_or_else(|| ApiError::invalid("advance", demand))?;
            let at = tx.now.saturating_add(by).unwrap_or(Timestamp::MAX);
            move_to(tx, "advance", at)?
        }
        ClockChange::Set(at) => {
            let demand =
                "must be a time with an offset before the year 9000, as 2026-12-01T19:30:00Z";
            let at = rfc3339(&at).ok_or_else(|| ApiError::invalid("set", demand))?;
            move_to(tx, "set", at)?
        }
        _ => {
            let demand = "must be true, as next and resume";
            return Err(ApiError::invalid("freeze", demand));
        }
    };
    show(&changed, request)
}

fn move_to<'a>(tx: &Tx<'a>, field: &str, at: Timestamp) -> Result<Tx<'a>, ApiError> {
    if at < tx.now {
        let why = "is before the sandbox's clock; only a reset moves it back";
        return Err(ApiError::invalid(field, why));
    }
    if at > FARTHEST {
        return Err(ApiError::invalid(field, "leads past the year 9000"));
    }
    Ok(tx.move_to(at)?)
}
