//! Copies a journal in a file into another one: what a machine did before its team shared a journal.
//!
//! Nothing that is there is replaced, except by what is newer, so that a copy can be repeated. A run that was copied is known by
//! its token.

use std::path::Path;

use jiff::Timestamp;

use super::Journal;
use super::attempts::runs;
use super::proof::derive;
use super::scope::Scope;
use crate::outcome::{Error, Result};
use crate::platform::sql::{Answer, Row, Statements, values};

#[derive(Debug, Default)]
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
    for attempt in source.read(|statements| all(statements, ATTEMPTS, attempt))? {
        let of = values![&attempt.key];
        let runs = source.read(|statements| {
            let rows = statements.query(RUNS, of)?;
            rows.into_iter().map(run).collect::<Answer<Vec<_>>>()
        })?;
        let is_same =
            into.write(|statements, scope| copy_attempt(statements, scope, &attempt, &runs))?;
        match is_same {
            true => copied.attempts += 1,
            false => copied.refused.push(attempt.key),
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

const ATTEMPTS: &str = "
    SELECT idempotency_key, origin, profile, account, state, request, request_hash, asked, asked_hash, created_at,
           updated_at, forgotten_at
    FROM attempts ORDER BY created_at";

struct AttemptRow {
    key: String,
    origin: String,
    profile: Option<String>,
    account: Option<String>,
    state: String,
    request: String,
    request_hash: String,
    asked: Option<String>,
    asked_hash: Option<String>,
    created_at: String,
    updated_at: String,
    forgotten_at: Option<String>,
}

fn attempt(mut row: Row) -> Answer<AttemptRow> {
    Ok(AttemptRow {
        key: row.take(0)?,
        origin: row.take(1)?,
        profile: row.take(2)?,
        account: row.take(3)?,
        state: row.take(4)?,
        request: row.take(5)?,
        request_hash: row.take(6)?,
        asked: row.take(7)?,
        asked_hash: row.take(8)?,
        created_at: row.take(9)?,
        updated_at: row.take(10)?,
        forgotten_at: row.take(11)?,
    })
}

const RUNS: &str = "
    SELECT account, process, outcome, abandoned, http_status, booking_id, started_at, ended_at, username, host, token
    FROM runs WHERE idempotency_key = ?1 ORDER BY number";

struct RunRow {
    account: Option<String>,
    process: Option<i64>,
    outcome: String,
    abandoned: i64,
    http_status: Option<u16>,
    booking_id: Option<String>,
    started_at: String,
    ended_at: Option<String>,
    user: Option<String>,
    host: Option<String>,
    token: String,
}

fn run(mut row: Row) -> Answer<RunRow> {
    Ok(RunRow {
        account: row.take(0)?,
        process: row.take(1)?,
        outcome: row.take(2)?,
        abandoned: row.take(3)?,
        http_status: row.take(4)?,
        booking_id: row.take(5)?,
        started_at: row.take(6)?,
        ended_at: row.take(7)?,
        user: row.take(8)?,
        host: row.take(9)?,
        token: row.take(10)?,
    })
}

/// Copies an attempt with its runs. Returns `false` if the key stands for another request there.
fn copy_attempt(
    statements: &dyn Statements,
    scope: &Scope,
    attempt: &AttemptRow,
    copied: &[RunRow],
) -> Answer<bool> {
    let AttemptRow { key, .. } = attempt;
    statements.execute(
        "INSERT INTO attempts (idempotency_key, origin, profile, account, state, request, request_hash, asked, asked_hash,
                               created_at, updated_at, forgotten_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (idempotency_key) DO NOTHING",
        values![
            key,
            &attempt.origin,
            &attempt.profile,
            &attempt.account,
            &attempt.state,
            &attempt.request,
            &attempt.request_hash,
            &attempt.asked,
            &attempt.asked_hash,
            &attempt.created_at,
            &attempt.updated_at,
            &attempt.forgotten_at,
        ],
    )?;
    let same = "SELECT origin = ?2 AND request_hash = ?3 FROM attempts WHERE idempotency_key = ?1 FOR UPDATE";
    let same = statements.first(same, values![key, &attempt.origin, &attempt.request_hash])?;
    if !same.map_or(Ok(false), |mut row| row.take(0))? {
        return Ok(false);
    }
    for run in copied {
        copy_run(statements, scope, key, run)?;
    }
    let now = Timestamp::now().to_string();
    derive(statements, key, &runs(statements, key)?, None, &now)?;
    Ok(true)
}

fn copy_run(statements: &dyn Statements, scope: &Scope, key: &str, run: &RunRow) -> Answer<()> {
    // One that was under way when it was copied may have ended since.
    let known = statements.execute(
        "UPDATE runs SET outcome = ?3, abandoned = ?4, http_status = ?5, booking_id = ?6, ended_at = ?7
         WHERE idempotency_key = ?1 AND token = ?2 AND outcome = 'under_way'",
        values![
            key,
            &run.token,
            &run.outcome,
            run.abandoned,
            run.http_status,
            &run.booking_id,
            &run.ended_at
        ],
    )?;
    if known > 0 {
        return Ok(());
    }
    statements.execute(
        "INSERT INTO runs (idempotency_key, number, token, account, process, outcome, abandoned, http_status, booking_id,
                           started_at, ended_at, username, host)
         SELECT ?1, 1 + coalesce((SELECT max(number) FROM runs WHERE idempotency_key = ?1), 0), ?2, ?3, ?4, ?5, ?6, ?7, ?8,
                ?9, ?10, ?11, ?12
         WHERE NOT EXISTS (SELECT 1 FROM runs WHERE idempotency_key = ?1 AND token = ?2)",
        values![
            key,
            &run.token,
            &run.account,
            run.process,
            &run.outcome,
            run.abandoned,
            run.http_status,
            &run.booking_id,
            &run.started_at,
            &run.ended_at,
            run.user.as_ref().unwrap_or(&scope.maker.user),
            run.host.as_ref().unwrap_or(&scope.maker.host),
        ],
    )?;
    Ok(())
}

const BOOKINGS: &str = "
    SELECT origin, id, profile, idempotency_key, status, document, created_at, seen_at, forgotten_at, gone_at
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
    let document = match booking.forgotten_at {
        Some(_) => "",
        None => booking.document.as_str(),
    };
    statements.execute(
        "INSERT INTO bookings (origin, id, profile, idempotency_key, status, document, created_at, seen_at, forgotten_at, gone_at)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
         WHERE ?9 IS NOT NULL OR NOT EXISTS (SELECT 1 FROM attempts
                                             WHERE origin = ?1 AND booking_id = ?2 AND forgotten_at IS NOT NULL)
         ON CONFLICT (origin, id) DO UPDATE SET status = excluded.status, document = excluded.document,
             seen_at = excluded.seen_at, gone_at = excluded.gone_at, search = NULL, day = NULL
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
        ],
    )?;
    Ok(())
}
