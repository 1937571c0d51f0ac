//! Copies a journal from a file: what a computer did before its team shared a journal.
//!
//! Nothing that is there is replaced, except by what is newer, so that a copy can be repeated.

use std::path::Path;

use serde::Serialize;

use super::attempts::{load_for_update, save};
use super::batch_rows::copy_row;
use super::bookings::{self, KeptBooking, SeenBooking};
use super::protocol::Attempt;
use super::scope::Scope;
use super::writes::copy_write;
use super::{Journal, protocol};
use crate::outcome::{Error, Result};
use crate::platform::sql::{Sql, SqlResult, SqlRow, values};

#[derive(Debug, Default, Serialize)]
pub(crate) struct Copied {
    pub(crate) attempts: u32,
    pub(crate) bookings: u32,
    /// The keys under which the other journal has another request, or one of another service.
    pub(crate) refused: Vec<String>,
}

pub(crate) fn copy(from: &Path, into: &Journal) -> Result<Copied> {
    if !from.is_file() {
        let what = format!("there is no journal {}", from.display());
        return Err(Error::journal(what)
            .hint("`bookctl journal status` on that computer shows where its file is"));
    }
    let source = Journal::open(from, Scope::default())?;
    let mut copied = Copied::default();
    for attempt in source.attempts()? {
        if into.write(|statements, scope| copy_attempt(statements, scope, &attempt))? {
            copied.attempts += 1;
        } else {
            copied.refused.push(attempt.idempotency_key);
        }
    }
    let all = "SELECT * FROM bookings ORDER BY created_at";
    for booking in source.read(|statements, _| statements.query(all, &[]))? {
        into.write(|statements, scope| copy_booking(statements, scope, &booking))?;
        copied.bookings += 1;
    }
    let rows = source.read(|statements, _| statements.query("SELECT * FROM batch_rows", &[]))?;
    into.write(|statements, scope| {
        rows.iter().try_for_each(|row| copy_row(statements, scope, row))
    })?;
    // What has an unknown outcome is not repeated blindly there either.
    let writes = source.read(|statements, _| statements.query("SELECT * FROM writes", &[]))?;
    into.write(|statements, _| writes.iter().try_for_each(|row| copy_write(statements, row)))?;
    Ok(copied)
}

/// Copies an attempt with its runs. Returns `false` if the key stands for another request there.
fn copy_attempt(statements: &dyn Sql, scope: &Scope, attempt: &Attempt) -> SqlResult<bool> {
    let mut attempt = attempt.clone();
    for run in &mut attempt.runs {
        run.maker.get_or_insert_with(|| scope.maker.clone());
    }
    let there = load_for_update(statements, &attempt.idempotency_key)?;
    let Some(now) = protocol::copy(there.clone(), attempt) else {
        return Ok(false);
    };
    save(statements, there.as_ref(), Some(&now))?;
    Ok(true)
}

/// Copies a booking that is newer than what is known there. A guest that was deleted in either of
/// them does not come back.
fn copy_booking(statements: &dyn Sql, scope: &Scope, row: &SqlRow) -> SqlResult<()> {
    let stored = KeptBooking::read(row)?;
    let booking = &stored.booking;
    let (id, origin) = (booking.id(), row.get::<String>("origin")?);
    let forgotten_at: Option<String> = row.get("forgotten_at")?;
    let held = bookings::load_for_update(statements, &origin, id)?;
    let is_outdated = match &held {
        Some(held) => {
            held.is_forgotten || stored.is_forgotten || held.booking.left_at >= booking.left_at
        }
        None => !stored.is_forgotten && bookings::is_forgotten(statements, &origin, id)?,
    };
    if is_outdated {
        return Ok(());
    }
    let seen = SeenBooking {
        origin: &origin,
        created_at: Some(&row.get::<String>("created_at")?),
        key: stored.idempotency_key.as_deref(),
        requested: None,
        terms: stored.terms.as_ref(),
        changes: stored.changes.as_ref(),
        is_forgotten: stored.is_forgotten,
    };
    bookings::store(statements, scope, held.as_ref(), booking, &seen)?;
    let mark = "UPDATE bookings SET forgotten_at = ?3 WHERE origin = ?1 AND id = ?2";
    statements.execute_deferred(mark, values![&origin, id, &forgotten_at]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::tests::open;
    use crate::journal::{BookingWrite, RowLine, State};
    use crate::outcome::Exit;
    use serde_json::{Value, json};

    fn journal(folder: &tempfile::TempDir, name: &str) -> (std::path::PathBuf, Journal) {
        let path = folder.path().join(name);
        let journal = open(&path, "o");
        (path, journal)
    }

    fn request() -> Value {
        json!({"venue_id": "v", "party_size": 2, "customer": {"name": "Ada Lovelace"}})
    }

    #[test]
    fn a_copied_run_is_known_by_its_token_and_may_have_ended_since() {
        let folder = tempfile::tempdir().unwrap();
        let (_, team) = journal(&folder, "team.db");
        let (path, laptop) = journal(&folder, "laptop.db");
        let run = laptop.run("order-1", &request());
        laptop.run("order-2", &request());
        copy(&path, &team).unwrap();
        let made = json!({"id": "bk_1", "status": "confirmed"});
        let made = crate::service::documents::booking::Booking::from_document(made.into()).unwrap();
        laptop.end_booked(&run, &made, 201).unwrap();
        laptop.begin_batch("friday", &["r1", "r2"].into()).unwrap();
        let line = RowLine {
            idempotency_key: "order-1".to_owned(),
            exit: Exit::Done,
            booking: Some(made.document.clone()),
            error: None,
        };
        laptop.end_row("friday", "r1", &line).unwrap();
        laptop.end_batch("friday", Exit::PartialBatch, &[]).unwrap();
        let write = |outcome: &str| BookingWrite {
            sent_at: "2026-11-28T03:00:00Z".parse().unwrap(),
            kind: "cancel".to_owned(),
            outcome: outcome.to_owned(),
            facts: json!({}),
        };
        for outcome in ["unknown", "done"] {
            laptop.store_write("bk_1", &write(outcome)).unwrap();
            copy(&path, &team).unwrap();
            assert_eq!(team.writes("bk_1").unwrap()[0].outcome, outcome);
        }
        let copied = copy(&path, &team).unwrap();
        assert_eq!((copied.attempts, copied.bookings), (2, 1));
        let record = team.batch("friday").unwrap();
        assert_eq!((record.rows.len(), record.exit), (2, Some(Exit::PartialBatch)));
        let row = record.rows["r1"].as_ref().unwrap();
        assert_eq!(row.booking.as_ref().unwrap().text(), made.document.text());
        let settled = team.attempt("order-1").unwrap().unwrap();
        assert_eq!(settled.state, State::Resolved);
        assert_eq!(settled.booking_id.as_deref(), Some("bk_1"));
        assert_eq!(settled.runs.len(), 1);
        assert_eq!(team.open_attempts().unwrap().len(), 1);
    }

    #[test]
    fn a_key_that_stands_for_another_request_there_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let (_, team) = journal(&folder, "team.db");
        team.run("order-1", &json!({"party_size": 9}));
        let (path, laptop) = journal(&folder, "laptop.db");
        laptop.run("order-1", &request());
        let copied = copy(&path, &team).unwrap();
        assert_eq!(copied.attempts, 0);
        assert_eq!(copied.refused, ["order-1"]);
        assert_eq!(team.attempt("order-1").unwrap().unwrap().runs.len(), 1);
    }
}
