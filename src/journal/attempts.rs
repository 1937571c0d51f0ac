//! Reads attempts: the request of each, its runs, and what they prove.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::Journal;
use super::protocol::Attempt;
use super::runs::{Maker, Outcome, Run, State};
use super::wish::Request;
use crate::outcome::{Error, Result};
use crate::platform::sql::{Answer, Row, Statements, Trouble, Value, values};

const COLUMNS: &str = "idempotency_key, state, profile, origin, account, request, request_hash, asked, asked_hash, booking_id,
    http_status, created_at, forgotten_at";

/// An attempt without its runs.
pub(super) fn attempt(mut row: Row) -> Answer<Attempt> {
    let (body, asked): (String, Option<String>) = (row.take(5)?, row.take(7)?);
    let json = |text: &str| serde_json::from_str(text).map_err(|_| Trouble::Unreadable);
    Ok(Attempt {
        idempotency_key: row.take(0)?,
        state: State::parse(&row.take::<String>(1)?),
        profile: row.take(2)?,
        origin: row.take(3)?,
        account: row.take(4)?,
        request: Request {
            body: json(&body)?,
            hash: row.take(6)?,
            asked: asked.as_deref().map(json).transpose()?,
            asked_hash: row.take(8)?,
        },
        booking_id: row.take(9)?,
        http_status: row.take(10)?,
        created_at: row.take(11)?,
        forgotten_at: row.take(12)?,
        runs: Vec::new(),
    })
}

const RUN: &str = "idempotency_key, number, process, outcome, http_status, booking_id, started_at, ended_at, abandoned, account, username, host, token";

fn runs_of_one() -> String {
    format!("SELECT {RUN} FROM runs WHERE idempotency_key = ?1 ORDER BY number")
}

/// A run, and the key of its attempt.
fn run(mut row: Row) -> Answer<(String, Run)> {
    let (user, host): (Option<String>, Option<String>) = (row.take(10)?, row.take(11)?);
    let run = Run {
        number: row.take(1)?,
        process: row.take(2)?,
        outcome: Outcome::parse(&row.take::<String>(3)?),
        http_status: row.take(4)?,
        booking_id: row.take(5)?,
        started_at: row.take(6)?,
        ended_at: row.take(7)?,
        abandoned: row.take(8)?,
        account: row.take(9)?,
        maker: user.zip(host).map(|(user, host)| Maker { user, host }),
        token: row.take(12)?,
    };
    Ok((row.take(0)?, run))
}

fn in_order(rows: Vec<Row>) -> Answer<Vec<Run>> {
    let runs = rows.into_iter().map(|row| Ok(run(row)?.1));
    runs.collect()
}

pub(super) fn find(statements: &dyn Statements, key: &str) -> Answer<Option<Attempt>> {
    Ok(find_beside(statements, key, "", &[])?.0)
}

/// The same, for a transaction that changes it: others wait until the transaction ends. And the rows of further queries,
/// all of which are sent together.
pub(super) fn hold_beside(
    statements: &dyn Statements,
    key: &str,
    beside: &[(&str, &[Value<'_>])],
) -> Answer<(Option<Attempt>, Vec<Vec<Row>>)> {
    find_beside(statements, key, " FOR UPDATE", beside)
}

fn find_beside(
    statements: &dyn Statements,
    key: &str,
    lock: &str,
    beside: &[(&str, &[Value<'_>])],
) -> Answer<(Option<Attempt>, Vec<Vec<Row>>)> {
    let attempts = format!("SELECT {COLUMNS} FROM attempts WHERE idempotency_key = ?1{lock}");
    let (runs, key) = (runs_of_one(), values![key]);
    let mut queries: Vec<(&str, &[Value<'_>])> = vec![(&attempts, key), (&runs, key)];
    queries.extend_from_slice(beside);
    let mut found = statements.together(&queries)?.into_iter();
    let (attempts, runs) = (
        found.next().unwrap_or_default(),
        found.next().unwrap_or_default(),
    );
    let found_attempt = match attempts.into_iter().next() {
        Some(row) => Some(Attempt {
            runs: in_order(runs)?,
            ..attempt(row)?
        }),
        None => None,
    };
    Ok((found_attempt, found.collect()))
}

/// All attempts, oldest first.
pub(super) fn every(statements: &dyn Statements) -> Answer<Vec<Attempt>> {
    several(statements, "", &[])
}

/// The attempts that meet a condition, oldest first, each with its runs.
fn several(
    statements: &dyn Statements,
    condition: &str,
    values: &[Value<'_>],
) -> Answer<Vec<Attempt>> {
    let attempts = format!("SELECT {COLUMNS} FROM attempts {condition} ORDER BY created_at");
    let runs = format!(
        "SELECT {RUN} FROM runs
         WHERE idempotency_key IN (SELECT idempotency_key FROM attempts {condition})
         ORDER BY idempotency_key, number"
    );
    let found = statements.together(&[(&attempts, values), (&runs, values)])?;
    let mut found = found.into_iter();
    let rows = found.next().unwrap_or_default().into_iter();
    let mut attempts: Vec<Attempt> = rows.map(attempt).collect::<Answer<_>>()?;
    let mut of_key: HashMap<String, Vec<Run>> = HashMap::new();
    for row in found.next().unwrap_or_default() {
        let (key, run) = run(row)?;
        of_key.entry(key).or_default().push(run);
    }
    for attempt in &mut attempts {
        attempt.runs = of_key.remove(&attempt.idempotency_key).unwrap_or_default();
    }
    Ok(attempts)
}

const OPEN: &str = "WHERE state = 'unsettled' AND origin = ?1";

/// The query for the open attempts at a service.
pub(super) fn open_here() -> String {
    format!("SELECT {COLUMNS} FROM attempts {OPEN}")
}

impl Attempt {
    /// What was asked for, in the contract's shape.
    pub(crate) fn asked(&self) -> &Json {
        self.request.asked()
    }

    /// Whether this asks for the same as the attempt, whose request is then sent again as it was sent before.
    pub(crate) fn repeats(&self, asked: &Json) -> bool {
        self.request.is_intact() && self.request.asks_for(asked)
    }
}

impl Journal {
    /// From here on, treats attempts of every account as this organization's, because its API key was changed.
    pub(crate) fn take_any_account(&mut self) {
        self.scope.takes_any_account = true;
    }

    /// Whether the attempt may be sent, or its booking read, with the present API key.
    pub(crate) fn owns(&self, attempt: &Attempt) -> bool {
        self.scope.may_send(&attempt.runs)
    }

    /// The open attempts at all services, oldest first.
    pub(crate) fn open_attempts(&self) -> Result<Vec<Attempt>> {
        self.read(|statements| several(statements, "WHERE state = 'unsettled'", &[]))
    }

    /// All attempts at all services, oldest first.
    pub(crate) fn attempts(&self) -> Result<Vec<Attempt>> {
        self.read(every)
    }

    /// The attempts at this service that made the booking, or ended with it, oldest first.
    pub(crate) fn attempts_of(&self, booking_id: &str) -> Result<Vec<Attempt>> {
        let condition = "WHERE origin = ?1 AND booking_id = ?2";
        self.read(|statements| {
            several(
                statements,
                condition,
                values![&self.scope.origin, booking_id],
            )
        })
    }

    /// The attempt under a key, whatever its state.
    pub(crate) fn attempt(&self, key: &str) -> Result<Option<Attempt>> {
        self.read(|statements| find(statements, key))
    }

    /// The open attempts at this service, whichever API key made them, and also those that another process is sending now.
    pub(crate) fn open_attempts_here(&self) -> Result<Vec<Attempt>> {
        self.read(|statements| several(statements, OPEN, values![&self.scope.origin]))
    }
}

/// The key of another attempt at a service that has the same booking.
pub(super) const OTHER_ATTEMPT: &str = "
    SELECT idempotency_key FROM attempts WHERE origin = ?1 AND booking_id = ?2 AND idempotency_key <> ?3 LIMIT 1";

/// The error for an attempt of another organization. That organization has idempotency keys of its own, so sending the
/// attempt with its API key would book a second time.
pub(crate) fn another_account(attempt: &Attempt) -> Error {
    let profile = attempt.profile.as_ref();
    let of = profile.map_or(String::new(), |profile| format!(" (profile {profile})"));
    Error::config(format!(
        "the attempt with this idempotency key was made with another API key{of}; nothing was sent"
    ))
    .hint(
        "use the profile or key it was made with; if both keys belong to the same organization, pass \
         --same-organization; for another organization use another idempotency key or batch name",
    )
    .idempotency_key(&attempt.idempotency_key)
}

#[cfg(test)]
mod tests;
