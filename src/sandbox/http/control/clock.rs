//! `/sandbox/clock`: the sandbox's clock, which can be moved ahead and stopped.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::advance::parse_advance;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::fields::{FieldErrors, Fields, rfc3339};
use crate::sandbox::store::Tx;
use crate::sandbox::wire::moment::Moment;

/// 9000-01-01. Later times could not be represented with the deadlines that follow them.
const FARTHEST: Timestamp = Timestamp::constant(221_845_392_000, 0);

pub(super) fn show(tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    Reply::ok(&state(tx)?)
}

pub(super) fn state(tx: &Tx<'_>) -> Result<Value, ApiError> {
    let mut clock = json!({"now": Moment(tx.now), "offset_seconds": tx.offset_seconds()});
    if tx.is_frozen() {
        clock["frozen"] = json!(true);
    }
    if let Some(next) = tx.next_due()? {
        clock["next_due_at"] = json!(Moment(next));
    }
    Ok(clock)
}

enum Change {
    /// To this moment, which is not past.
    To(Timestamp),
    Freeze,
    Resume,
}

/// Moves the clock ahead, and applies what is due by then; or stops it, or lets it go on.
pub(super) fn change(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let changed = match read(tx, &request.fields()?)? {
        Change::To(at) => tx.move_to(at)?,
        Change::Freeze => tx.freeze()?,
        Change::Resume => tx.resume()?,
    };
    show(&changed, request)
}

fn read(tx: &Tx<'_>, body: &Map<String, Value>) -> Result<Change, ApiError> {
    let fields = Fields::of(body);
    let mut errors = FieldErrors::default();
    let Some(name) = name_of_change(body, &mut errors) else {
        return errors.finish(None);
    };
    let change = match name {
        "advance" => advanced(tx, fields, &mut errors)?.map(Change::To),
        "set" => {
            let at = fields.text(name)?.and_then(rfc3339);
            if at.is_none() {
                errors.add(
                    name,
                    "must be a time with an offset before the year 9000, as 2026-12-01T19:30:00Z",
                );
            } else if at.is_some_and(|at| at < tx.now) {
                errors.add(
                    name,
                    "is before the sandbox's clock; only a reset takes it back",
                );
            }
            at.map(Change::To)
        }
        "next" => match affirmed(name, fields, &mut errors)? {
            true => Some(Change::To(tx.next_due()?.ok_or(ApiError::NothingDue)?)),
            false => None,
        },
        name => {
            affirmed(name, fields, &mut errors)?;
            Some(match name {
                "freeze" => Change::Freeze,
                _ => Change::Resume,
            })
        }
    };
    if matches!(change, Some(Change::To(at)) if at > FARTHEST) {
        errors.add(name, "leads past the year 9000");
    }
    errors.finish(change)
}

/// The field that says what to change. There must be exactly one.
fn name_of_change(body: &Map<String, Value>, errors: &mut FieldErrors) -> Option<&'static str> {
    const CHANGES: [&str; 5] = ["advance", "set", "freeze", "resume", "next"];
    errors.unknown(body, &CHANGES);
    let is_given = |name: &&str| body.get(*name).is_some_and(|it| !it.is_null());
    let mut given = CHANGES.into_iter().filter(is_given);
    let name = given.next();
    match (name, given.next()) {
        (None, _) => errors.add(
            "advance",
            "is required, or one of set, next, freeze and resume",
        ),
        (Some(name), Some(second)) => errors.add(second, format!("cannot be given with {name}")),
        (Some(_), None) => {}
    }
    name
}

/// The time at which `advance` ends.
fn advanced(
    tx: &Tx<'_>,
    fields: Fields<'_>,
    errors: &mut FieldErrors,
) -> Result<Option<Timestamp>, ApiError> {
    let by = errors
        .required("advance", fields.text("advance")?)
        .map(parse_advance);
    if by == Some(None) {
        errors.add(
            "advance",
            "must be a duration ahead of at most ten years, as 21m, 1h30m, 2d or 90s",
        );
    }
    let ahead = |by| tx.now.saturating_add(by).unwrap_or(Timestamp::MAX);
    Ok(by.flatten().map(ahead))
}

/// Whether a field says true, which is the only thing that it may say.
fn affirmed(name: &str, fields: Fields<'_>, errors: &mut FieldErrors) -> Result<bool, ApiError> {
    let says = fields.flag(name)? == Some(true);
    if !says {
        errors.add(name, "must be true");
    }
    Ok(says)
}
