//! Reads attempts: the request of each, its runs, and what they prove.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::Journal;
use super::runs::{Evidence, Outcome, State, state_of};
use super::scope::Maker;
use crate::model::request::canonical;
use crate::outcome::{Error, Result};
use crate::platform::sha256::sha256;
use crate::platform::sql::{Answer, Row, Statements, Value, values};

/// One time that an attempt was sent.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Numbered from 1 within the attempt.
    pub(crate) number: u32,
    /// The id of the process, unless the run was recovered.
    pub(crate) process: Option<u32>,
    pub(crate) outcome: Outcome,
    pub(crate) http_status: Option<u16>,
    pub(crate) booking_id: Option<String>,
    /// RFC 3339.
    pub(crate) started_at: String,
    /// RFC 3339.
    pub(crate) ended_at: Option<String>,
    /// Who began it, unless the run was recovered.
    pub(crate) maker: Option<Maker>,
    /// Distinguishes it from every other run, wherever it was begun.
    pub(super) token: String,
    pub(super) abandoned: bool,
    pub(super) account: Option<String>,
}

impl Run {
    pub(super) fn evidence(&self) -> Evidence<'_> {
        Evidence {
            outcome: self.outcome,
            abandoned: self.abandoned,
            account: self.account.as_deref(),
        }
    }
}

/// An idempotency key and the request that was to be sent under it.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) idempotency_key: String,
    pub(crate) state: State,
    pub(crate) profile: Option<String>,
    /// The service that it goes to. An idempotency key is never sent to another service.
    pub(crate) origin: String,
    /// As it was sent, and as it is sent again.
    pub(crate) request: Json,
    /// What was asked for in the contract's shape, where the request has another one.
    asked: Option<Json>,
    asked_hash: Option<String>,
    pub(crate) booking_id: Option<String>,
    /// RFC 3339.
    pub(crate) created_at: String,
    /// Whether the stored request still matches its hash.
    pub(crate) is_intact: bool,
    /// The hash of the request as it was sent, including the guest.
    request_hash: String,
    /// When its guest was deleted (RFC 3339). The request is incomplete since then.
    pub(crate) forgotten_at: Option<String>,
    /// In the order in which they began.
    pub(crate) runs: Vec<Run>,
}

const COLUMNS: &str = "idempotency_key, state, profile, origin, request, booking_id, created_at, request_hash, forgotten_at, asked, asked_hash";

fn attempt(mut row: Row) -> Answer<Attempt> {
    let text: String = row.take(4)?;
    let request: Json = serde_json::from_str(&text).unwrap_or_default();
    let request_hash: String = row.take(7)?;
    let asked: Option<String> = row.take(9)?;
    Ok(Attempt {
        idempotency_key: row.take(0)?,
        state: State::parse(&row.take::<String>(1)?),
        profile: row.take(2)?,
        origin: row.take(3)?,
        booking_id: row.take(5)?,
        created_at: row.take(6)?,
        is_intact: request_hash == self::request_hash(&request),
        request,
        request_hash,
        forgotten_at: row.take(8)?,
        asked: asked.and_then(|text| serde_json::from_str(&text).ok()),
        asked_hash: row.take(10)?,
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

/// The runs of an attempt, in the order in which they began.
pub(super) fn runs(statements: &dyn Statements, key: &str) -> Answer<Vec<Run>> {
    in_order(statements.query(&runs_of_one(), values![key])?)
}

fn in_order(rows: Vec<Row>) -> Answer<Vec<Run>> {
    let runs = rows.into_iter().map(|row| Ok(run(row)?.1));
    runs.collect()
}

pub(super) fn find(statements: &dyn Statements, key: &str) -> Answer<Option<Attempt>> {
    Ok(find_beside(statements, key, "", &[])?.0)
}

/// The same, for a transaction that changes it: others wait until the transaction ends.
pub(super) fn hold(statements: &dyn Statements, key: &str) -> Answer<Option<Attempt>> {
    Ok(hold_beside(statements, key, &[])?.0)
}

/// The same, and the rows of further queries, all of which are sent together.
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

impl Attempt {
    pub(super) fn evidence(&self) -> impl Iterator<Item = Evidence<'_>> {
        self.runs.iter().map(Run::evidence)
    }

    /// What was asked for, in the contract's shape.
    pub(crate) fn asked(&self) -> &Json {
        self.asked.as_ref().unwrap_or(&self.request)
    }

    /// Whether the attempt asks for exactly this, in the contract's shape, however it was written for the service.
    pub(crate) fn asks_for(&self, asked: &Json) -> bool {
        match &self.asked_hash {
            Some(hashed) => *hashed == request_hash(asked),
            None => self.is_of(asked),
        }
    }

    /// Whether this asks for the same as the attempt, whose request is then sent again as it was sent before.
    pub(crate) fn repeats(&self, asked: &Json) -> bool {
        self.is_intact && self.asks_for(asked)
    }

    /// Whether the attempt is for exactly this request.
    pub(crate) fn is_of(&self, request: &Json) -> bool {
        self.request_hash == request_hash(request)
    }
}

/// The state that follows from the runs of an attempt.
pub(super) fn derived(runs: &[Run]) -> State {
    state_of(runs.iter().map(Run::evidence))
}

impl Journal {
    /// From here on, treats attempts of every account as this organization's, because its API key was changed.
    pub(crate) fn take_any_account(&mut self) {
        self.scope.takes_any_account = true;
    }

    /// Whether the attempt may be sent, or its booking read, with the present API key.
    pub(crate) fn owns(&self, attempt: &Attempt) -> bool {
        self.scope.may_send(attempt.evidence())
    }

    /// The open attempts at all services, oldest first.
    pub(crate) fn open_attempts(&self) -> Result<Vec<Attempt>> {
        self.read(|statements| several(statements, "WHERE state = 'unsettled'", &[]))
    }

    /// All attempts at all services, oldest first.
    pub(crate) fn attempts(&self) -> Result<Vec<Attempt>> {
        self.read(|statements| several(statements, "", &[]))
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
        let mut attempts = self.open_attempts()?;
        attempts.retain(|attempt| attempt.origin == self.scope.origin);
        Ok(attempts)
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

pub(super) fn request_hash(request: &Json) -> String {
    hex::encode(sha256([canonical(request).as_bytes()]))
}

#[cfg(test)]
mod tests;
