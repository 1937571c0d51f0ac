//! `/sandbox/clock`: the clocks of the organizations, which can be moved ahead and stopped.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::sandbox::http::reply::{HandlerResult, Reply};
use crate::sandbox::http::request::Request;
use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::fields::{parse_advance, rfc3339, typed};
use crate::sandbox::store::Tx;
use crate::sandbox::wire::{WireTime, without_nulls};

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

/// Of one organization, or of all: then its own fields are those of the main one.
pub(super) fn state(tx: &Tx<'_>) -> Result<Value> {
    let clocks = if tx.is_of_all() { Some(tx.clocks()?) } else { None };
    Ok(without_nulls(json!({
        "now": WireTime(tx.now),
        "offset_seconds": tx.offset_seconds(),
        "frozen": tx.is_frozen.then_some(true),
        "next_due_at": tx.wait()?.map(|it| WireTime(add_clamped(tx.now, it))),
        "organizations": clocks,
    })))
}

fn add_clamped(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(Timestamp::MAX)
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
        ClockChange::Next(true) => advance(tx, "next", tx.wait()?.ok_or(ApiError::NOTHING_DUE)?)?,
        ClockChange::Advance(by) => {
            let demand = "must be a duration of 1s to ten years, such as 21m, 1h30m, 2d or 90s";
            let by = parse_advance(&by).ok_or_else(|| ApiError::invalid("advance", demand))?;
            advance(tx, "advance", by)?
        }
        ClockChange::Set(at) => {
            let demand =
                "must be a time with an offset before the year 9000, as 2026-12-01T19:30:00Z";
            let at = rfc3339(&at).ok_or_else(|| ApiError::invalid("set", demand))?;
            if let Some(ahead) = tx.clocks()?.iter().find(|it| at < it.now.0) {
                let of = &ahead.id;
                let why =
                    format!("is before the sandbox's clock ({of}); only a reset moves it back");
                return Err(ApiError::invalid("set", why));
            }
            check(at, "set")?;
            tx.set(at)?
        }
        _ => {
            return Err(ApiError::invalid("freeze", "must be true, as next and resume"));
        }
    };
    show(&changed, request)
}

fn advance<'a>(tx: &Tx<'a>, field: &str, by: SignedDuration) -> Result<Tx<'a>> {
    for clock in tx.clocks()? {
        check(add_clamped(clock.now.0, by), field)?;
    }
    Ok(tx.advance(by)?)
}

fn check(at: Timestamp, field: &str) -> Result<()> {
    if at > FARTHEST {
        return Err(ApiError::invalid(field, "leads past the year 9000"));
    }
    Ok(())
}
