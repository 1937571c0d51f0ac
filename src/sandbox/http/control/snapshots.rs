//! `/sandbox/snapshots`: states of the sandbox that can be restored. `/sandbox/snapshot`: its present state as a document.

use serde_json::{Value, json};

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::fields::{FieldErrors, Fields};
use crate::sandbox::store::{Snapshot, Tx};

pub(super) fn list(tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    Reply::ok(&json!({"snapshots": tx.snapshots()?}))
}

/// Keeps the present state under a name.
pub(super) fn save(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let body = request.fields()?;
    let mut errors = FieldErrors::default();
    errors.unknown(&body, &["name"]);
    let name = errors.required("name", Fields::of(&body).text("name")?);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_some_and(|it| it.len() > 100 || !it.chars().all(is_plain)) {
        errors.add(
            "name",
            "must be at most 100 letters, digits, dots, dashes and underscores",
        );
    }
    let name = errors.finish(name)?;
    Reply::created(&tx.save_snapshot(name)?)
}

/// Goes back to the state of a name.
pub(super) fn restore(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let snapshot = tx.saved_snapshot(request.id())?;
    let tx = tx.restore(&snapshot)?;
    restored(&tx, request)
}

pub(super) fn remove(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    match tx.delete_snapshot(request.id())? {
        true => Reply::ok(&json!({"name": request.id(), "deleted": true})),
        false => Err(ApiError::SnapshotNotFound),
    }
}

/// The present state.
pub(super) fn read(tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    Reply::ok(&tx.snapshot()?)
}

/// Goes back to the state in the body.
pub(super) fn replace(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let body = Value::Object(request.fields()?);
    let snapshot: Snapshot = serde_json::from_value(body).map_err(|error| {
        ApiError::invalid(
            "snapshot",
            format!("must be a snapshot that a sandbox has saved: {error}"),
        )
    })?;
    let tx = tx.restore_foreign(&snapshot)?;
    restored(&tx, request)
}

/// The clock, which a restore has set.
fn restored(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    super::clock::show(tx, request)
}
