//! Copies a journal in a file into another one: what a machine did before its team shared a journal.
//!
//! Nothing that is there is replaced, except by what is newer, so that a copy can be repeated. A run that was copied is known by
//! its token.

use std::path::Path;

use serde::Serialize;

use super::attempts::hold_beside;
use super::protocol::Attempt;
use super::save::save;
use super::scope::Scope;
use super::{Journal, protocol};
use crate::outcome::{Error, Result};
use crate::platform::sql::{Answer, Row, Statements, values};

#[derive(Debug, Default, Serialize)]
pub(crate) struct Copied {
    pub(crate) attempts: u32,
    pub(crate) bookings: u32,
    /// The keys under which the other journal has another request, or one of another service.
    pub(crate) refused: Vec<String>,
}

pub(crate) fn copy(from: &Path, into: &mut Journal) -> Result<Copied> {
    if !from.is_file() {
        return Err(
            Error::journal(format!("there is no journal {}", from.display())).hint(
                "name the file of a journal: `bookctl journal status` of that computer shows it",
            ),
        );
    }
    let source = Journal::open(from, String::new(), None)?;
    let mut copied = Copied::default();
    for attempt in source.attempts()? {
        let key = attempt.idempotency_key.clone();
        match into.write(|statements, scope| copy_attempt(statements, scope, &attempt))? {
            true => copied.attempts += 1,
            false => copied.refused.push(key),
        }
    }
    for booking in source.read(|statements| all(statements, BOOKINGS, booking))? {
        let sightings = source.read(|statements| {
            let rows = statements.query(SIGHTINGS, values![&booking.origin, &booking.id])?;
            rows.into_iter().map(sighting).collect::<Answer<Vec<_>>>()
        })?;
        into.write(|statements, _| copy_booking(statements, &booking, &sightings))?;
        copied.bookings += 1;
    }
    Ok(copied)
}

fn all<T>(
    statements: &dyn Statements,
    query: &str,
    read: impl Fn(Row) -> Answer<T>,
) -> Answer<Vec<T>> {
    statements
        .query(query, &[])?
        .into_iter()
        .map(read)
        .collect()
}

/// Copies an attempt with its runs. Returns `false` if the key stands for another request there.
fn copy_attempt(statements: &dyn Statements, scope: &Scope, attempt: &Attempt) -> Answer<bool> {
    let mut attempt = attempt.clone();
    for run in &mut attempt.runs {
        run.maker.get_or_insert_with(|| scope.maker.clone());
    }
    let (there, _) = hold_beside(statements, &attempt.idempotency_key, &[])?;
    let Some(now) = protocol::copy(there.clone(), attempt) else {
        return Ok(false);
    };
    save(statements, there.as_ref(), Some(&now))?;
    Ok(true)
}

const BOOKINGS: &str = "
    SELECT origin, id, profile, idempotency_key, status, document, created_at, seen_at, forgotten_at, gone_at, terms
    FROM bookings ORDER BY created_at";

struct BookingRow {
    origin: String,
    id: String,
    profile: Option<String>,
    key: Option<String>,
    status: String,
    document: String,
    created_at: String,
    seen_at: String,
    forgotten_at: Option<String>,
    gone_at: Option<String>,
    terms: Option<String>,
}

fn booking(mut row: Row) -> Answer<BookingRow> {
    Ok(BookingRow {
        origin: row.take(0)?,
        id: row.take(1)?,
        profile: row.take(2)?,
        key: row.take(3)?,
        status: row.take(4)?,
        document: row.take(5)?,
        created_at: row.take(6)?,
        seen_at: row.take(7)?,
        forgotten_at: row.take(8)?,
        gone_at: row.take(9)?,
        terms: row.take(10)?,
    })
}

const SIGHTINGS: &str = "
    SELECT number, status, facts, seen_at FROM sightings WHERE origin = ?1 AND booking_id = ?2 ORDER BY number";

fn sighting(mut row: Row) -> Answer<(u32, String, String, String)> {
    Ok((row.take(0)?, row.take(1)?, row.take(2)?, row.take(3)?))
}

/// Copies a booking, and the states in which it was seen. The other journal adds the last of them by itself.
fn copy_booking(
    statements: &dyn Statements,
    booking: &BookingRow,
    sightings: &[(u32, String, String, String)],
) -> Answer<()> {
    let BookingRow { origin, id, .. } = booking;
    let known = "SELECT 1 FROM bookings WHERE origin = ?1 AND id = ?2 FOR UPDATE";
    if statements.first(known, values![origin, id])?.is_none() {
        let before = sightings.split_last().map_or(&[][..], |(_, before)| before);
        for (number, status, facts, seen_at) in before {
            statements.execute(
                "INSERT INTO sightings (origin, booking_id, number, status, facts, seen_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (origin, booking_id, number) DO NOTHING",
                values![origin, id, *number, status, facts, seen_at],
            )?;
        }
    }
    let (document, terms) = match booking.forgotten_at {
        Some(_) => ("", None),
        None => (booking.document.as_str(), booking.terms.as_deref()),
    };
    statements.execute(
        "INSERT INTO bookings (origin, id, profile, idempotency_key, status, document, created_at, seen_at, forgotten_at, gone_at, terms)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
         WHERE ?9 IS NOT NULL OR NOT EXISTS (SELECT 1 FROM attempts
                                             WHERE origin = ?1 AND booking_id = ?2 AND forgotten_at IS NOT NULL)
         ON CONFLICT (origin, id) DO UPDATE SET status = excluded.status, document = excluded.document,
             seen_at = excluded.seen_at, gone_at = excluded.gone_at, terms = excluded.terms, search = NULL, day = NULL
         WHERE bookings.forgotten_at IS NULL AND excluded.forgotten_at IS NULL AND bookings.seen_at < excluded.seen_at",
        values![
            origin,
            id,
            &booking.profile,
            &booking.key,
            &booking.status,
            document,
            &booking.created_at,
            &booking.seen_at,
            &booking.forgotten_at,
            &booking.gone_at,
            terms,
        ],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::State;
    use serde_json::{Value, json};

    fn journal(folder: &tempfile::TempDir, name: &str) -> (std::path::PathBuf, Journal) {
        let path = folder.path().join(name);
        let journal = Journal::open(&path, "o".into(), None).unwrap();
        (path, journal)
    }

    fn request() -> Value {
        json!({"venue_id": "v", "party_size": 2, "customer": {"name": "Ada Lovelace"}})
    }

    fn forget(journal: &mut Journal) {
        journal.forget_next("", jiff::Timestamp::now()).unwrap();
    }

    /// A8.
    #[test]
    fn an_attempt_that_a_copy_opens_has_its_guest_although_that_was_deleted_there() {
        let folder = tempfile::tempdir().unwrap();
        let (_, mut team) = journal(&folder, "team.db");
        let refused = team.run("order-1", &request());
        team.end_refused(&refused, 409).unwrap();
        forget(&mut team);
        let (path, mut laptop) = journal(&folder, "laptop.db");
        laptop.run("order-1", &request());
        assert_eq!(copy(&path, &mut team).unwrap().attempts, 1);
        let attempt = team.attempt("order-1").unwrap().unwrap();
        assert_eq!(attempt.state, State::Unsettled);
        assert!(attempt.request.is_intact() && attempt.forgotten_at.is_none());
        assert_eq!(attempt.request.body, request());
        assert_eq!(attempt.runs.len(), 2);
    }

    /// A8.
    #[test]
    fn what_was_abandoned_and_forgotten_stays_so_when_it_is_copied_again() {
        let folder = tempfile::tempdir().unwrap();
        let (_, mut team) = journal(&folder, "team.db");
        let (path, mut laptop) = journal(&folder, "laptop.db");
        let under_way = laptop.run("order-1", &request());
        copy(&path, &mut team).unwrap();
        assert_eq!(team.abandon("order-1").unwrap(), State::Abandoned);
        forget(&mut team);
        for ends in [false, true] {
            if ends {
                laptop.end_in_doubt(&under_way, &request(), None).unwrap();
            }
            copy(&path, &mut team).unwrap();
            let attempt = team.attempt("order-1").unwrap().unwrap();
            assert_eq!(attempt.state, State::Abandoned, "{ends}");
            assert!(attempt.forgotten_at.is_some() && attempt.runs.len() == 1);
        }
    }

    #[test]
    fn a_copied_run_is_known_by_its_token_and_may_have_ended_since() {
        let folder = tempfile::tempdir().unwrap();
        let (_, mut team) = journal(&folder, "team.db");
        let (path, mut laptop) = journal(&folder, "laptop.db");
        let run = laptop.run("order-1", &request());
        laptop.run("order-2", &request());
        copy(&path, &mut team).unwrap();
        let made = json!({"id": "bk_1", "status": "confirmed"});
        let made = crate::model::booking::Booking::from_document(made.into()).unwrap();
        laptop.end_booked(&run, &made, 201).unwrap();
        let copied = copy(&path, &mut team).unwrap();
        assert_eq!((copied.attempts, copied.bookings), (2, 1));
        let settled = team.attempt("order-1").unwrap().unwrap();
        assert_eq!(settled.state, State::Settled);
        assert_eq!(settled.booking_id.as_deref(), Some("bk_1"));
        assert_eq!(settled.runs.len(), 1);
        assert_eq!(team.open_attempts().unwrap().len(), 1);
    }

    #[test]
    fn a_key_that_stands_for_another_request_there_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let (_, mut team) = journal(&folder, "team.db");
        team.run("order-1", &json!({"party_size": 9}));
        let (path, mut laptop) = journal(&folder, "laptop.db");
        laptop.run("order-1", &request());
        let copied = copy(&path, &mut team).unwrap();
        assert_eq!(
            (copied.attempts, copied.refused),
            (0, vec!["order-1".to_owned()])
        );
        assert_eq!(team.attempt("order-1").unwrap().unwrap().runs.len(), 1);
    }
}
