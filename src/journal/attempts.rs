//! Reads and writes attempts: the request of each, its runs, and what they prove.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value as Json;
use uuid::Uuid;

use super::Journal;
use super::guests::MARKED;
use super::protocol::Attempt;
use super::runs::{Actor, Outcome, Run, State};
use super::wish::RecordedRequest;
use crate::outcome::{Code, Error, Result};
use crate::platform::shell;
use crate::platform::sql::{Sql, SqlFailure, SqlResult, SqlRow, Value, values};
use crate::service::documents::wish::Wish;

fn attempt(row: &SqlRow) -> SqlResult<Attempt> {
    let json = |text: String| serde_json::from_str(&text).map_err(|_| SqlFailure::Unreadable);
    let requested: Option<String> = row.get("asked")?;
    Ok(Attempt {
        idempotency_key: row.get("idempotency_key")?,
        origin: row.get("origin")?,
        profile: row.get("profile")?,
        account: row.get("account")?,
        request: RecordedRequest {
            body: json(row.get("request")?)?,
            hash: row.get("request_hash")?,
            requested: requested.map(json).transpose()?,
            asked_hash: row.get("asked_hash")?,
        },
        forgotten_at: row.get("forgotten_at")?,
        created_at: row.get("created_at")?,
        runs: Vec::new(),
        state: State::parse(&row.get::<String>("state")?),
        booking_id: row.get("booking_id")?,
        http_status: row.get("http_status")?,
    })
}

fn run(row: &SqlRow) -> SqlResult<Run> {
    let user: Option<String> = row.get("username")?;
    Ok(Run {
        number: row.get("number")?,
        token: row.get("token")?,
        account: row.get("account")?,
        maker: user.zip(row.get("host")?).map(|(user, host)| Actor { user, host }),
        process: row.get("process")?,
        outcome: Outcome::parse(&row.get::<String>("outcome")?),
        abandoned: row.get("abandoned")?,
        http_status: row.get("http_status")?,
        error_code: row.get("error_code")?,
        request_id: row.get("request_id")?,
        booking_id: row.get("booking_id")?,
        started_at: row.get("started_at")?,
        ended_at: row.get("ended_at")?,
    })
}

/// The attempts that meet a condition, oldest first, each with its runs.
pub(super) fn load_where(
    statements: &dyn Sql,
    condition: &str,
    values: &[Value<'_>],
    lock: &str,
) -> SqlResult<Vec<Attempt>> {
    let attempts = format!("SELECT * FROM attempts {condition} ORDER BY created_at{lock}");
    let runs = format!(
        "SELECT * FROM runs WHERE idempotency_key IN (SELECT idempotency_key FROM attempts {condition})
         ORDER BY idempotency_key, number"
    );
    let found = statements.query_batch(&[(&attempts, values), (&runs, values)])?;
    let [attempts, runs] = found.as_slice() else {
        return Err(SqlFailure::Unreadable);
    };
    let mut of_key: HashMap<String, Vec<Run>> = HashMap::new();
    for row in runs {
        of_key.entry(row.get("idempotency_key")?).or_default().push(run(row)?);
    }
    let mut found = Vec::new();
    for row in attempts {
        let mut attempt = attempt(row)?;
        attempt.runs = of_key.remove(&attempt.idempotency_key).unwrap_or_default();
        found.push(attempt);
    }
    Ok(found)
}

const WITH_KEY: &str = "WHERE idempotency_key = ?1";

/// The attempt under a key, for a transaction that changes it: others wait for its end.
pub(super) fn load_for_update(statements: &dyn Sql, key: &str) -> SqlResult<Option<Attempt>> {
    Ok(load_where(statements, WITH_KEY, values![key], " FOR UPDATE")?.pop())
}

/// The condition for the open attempts at a service (?1).
pub(super) const OPEN: &str = "WHERE state = 'unresolved' AND origin = ?1";

impl Attempt {
    pub(crate) fn canonical(&self) -> &Json {
        self.request.canonical()
    }

    pub(crate) fn wish(&self) -> Wish {
        self.request.wish()
    }

    /// Whether this is the same request as the attempt's, which is then sent again unchanged.
    pub(crate) fn repeats(&self, requested: &Json) -> bool {
        self.request.is_intact() && self.request.asks_for(requested)
    }
}

impl Journal {
    /// Whether the attempt may be sent, or its booking read, with the present API key.
    pub(crate) fn owns(&self, attempt: &Attempt) -> bool {
        self.scope.may_send(&attempt.runs)
    }

    /// The open attempts at all services, oldest first.
    pub(crate) fn open_attempts(&self) -> Result<Vec<Attempt>> {
        self.read(|statements, _| load_where(statements, "WHERE state = 'unresolved'", &[], ""))
    }

    pub(crate) fn attempts(&self) -> Result<Vec<Attempt>> {
        self.read(|statements, _| load_where(statements, "", &[], ""))
    }

    /// The attempts at this service that made the booking, or were answered with it, oldest first.
    pub(crate) fn attempts_of(&self, booking_id: &str) -> Result<Vec<Attempt>> {
        self.read(|statements, scope| {
            let row = values![&scope.origin, booking_id];
            let answered = "WHERE origin = ?1 AND (booking_id = ?2 OR idempotency_key IN
                (SELECT idempotency_key FROM bookings WHERE origin = ?1 AND id = ?2))";
            load_where(statements, answered, row, "")
        })
    }

    /// The same with the booking that answered an unresolved one, though not as that asked.
    pub(crate) fn with_marked(&self, mut attempts: Vec<Attempt>) -> Result<Vec<Attempt>> {
        let marked = format!("SELECT id, idempotency_key FROM bookings WHERE {MARKED}");
        let marked: HashMap<String, String> = self.read(|statements, _| {
            let rows = statements.query(&marked, &[])?;
            rows.iter().map(|row| Ok((row.get("idempotency_key")?, row.get("id")?))).collect()
        })?;
        for attempt in attempts.iter_mut().filter(|it| it.booking_id.is_none()) {
            attempt.booking_id = marked.get(&attempt.idempotency_key).cloned();
        }
        Ok(attempts)
    }

    pub(crate) fn attempt(&self, key: &str) -> Result<Option<Attempt>> {
        self.read(|statements, _| Ok(load_where(statements, WITH_KEY, values![key], "")?.pop()))
    }

    /// The open attempts at this service, whichever API key made them, and also those that another
    /// process is sending now.
    pub(crate) fn open_attempts_here(&self) -> Result<Vec<Attempt>> {
        self.read(|statements, scope| load_where(statements, OPEN, values![&scope.origin], ""))
    }

    /// Adds the runs that are missing to prove the state of each attempt's row: they cannot be read
    /// in a damaged journal.
    pub(super) fn rebuild_runs(&self) -> Result<()> {
        self.write(|statements, _| {
            for before in load_where(statements, "", &[], "")? {
                let mut attempt = before.clone();
                if attempt.recover(Uuid::now_v7().to_string()) {
                    save(statements, Some(&before), Some(&attempt))?;
                }
            }
            Ok(())
        })
    }
}

/// Writes an attempt and its runs, or removes it. Repeated if another process added it meanwhile.
pub(super) fn save(
    statements: &dyn Sql,
    before: Option<&Attempt>,
    now: Option<&Attempt>,
) -> SqlResult<()> {
    let Some(attempt) = now else {
        for table in ["attempts", "runs"] {
            let delete = format!("DELETE FROM {table} WHERE idempotency_key = ?1");
            if let Some(before) = before {
                statements.execute_deferred(&delete, values![&before.idempotency_key])?;
            }
        }
        return Ok(());
    };
    write_attempt(statements, before.is_some(), attempt)?;
    for run in &attempt.runs {
        let same = |it: &&Run| it.number == run.number;
        let before = before.and_then(|it| it.runs.iter().find(same));
        if before != Some(run) {
            write_run(statements, before.is_some(), attempt, run)?;
        }
    }
    Ok(())
}

fn write_attempt(statements: &dyn Sql, is_known: bool, attempt: &Attempt) -> SqlResult<()> {
    const CHANGED: &str = "ON CONFLICT (idempotency_key) DO UPDATE SET account = excluded.account, state = excluded.state,
         booking_id = excluded.booking_id, http_status = excluded.http_status, updated_at = excluded.updated_at,
         request = excluded.request, request_hash = excluded.request_hash, asked = excluded.asked,
         asked_hash = excluded.asked_hash, forgotten_at = excluded.forgotten_at";
    let write = format!(
        "INSERT INTO attempts (idempotency_key, origin, profile, account, state, request, request_hash, asked, asked_hash,
                               booking_id, http_status, created_at, updated_at, forgotten_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) {}",
        if is_known { CHANGED } else { "" }
    );
    let request = &attempt.request;
    let row = values![
        &attempt.idempotency_key,
        &attempt.origin,
        &attempt.profile,
        &attempt.account,
        attempt.state.as_str(),
        request.body.to_string(),
        &request.hash,
        request.requested.as_ref().map(ToString::to_string),
        &request.asked_hash,
        &attempt.booking_id,
        attempt.http_status,
        &attempt.created_at,
        Timestamp::now().to_string(),
        &attempt.forgotten_at,
    ];
    statements.insert(&write, row)
}

fn write_run(statements: &dyn Sql, is_known: bool, attempt: &Attempt, run: &Run) -> SqlResult<()> {
    const ENDED: &str = "ON CONFLICT (idempotency_key, number) DO UPDATE SET outcome = excluded.outcome,
         abandoned = excluded.abandoned, http_status = excluded.http_status, error_code = excluded.error_code,
         request_id = excluded.request_id, booking_id = excluded.booking_id, ended_at = excluded.ended_at";
    let write = format!(
        "INSERT INTO runs (idempotency_key, number, account, process, outcome, abandoned, http_status, booking_id, started_at,
                           ended_at, username, host, token, error_code, request_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) {}",
        if is_known { ENDED } else { "" }
    );
    let row = values![
        &attempt.idempotency_key,
        run.number,
        &run.account,
        run.process,
        run.outcome.as_str(),
        run.abandoned,
        run.http_status,
        &run.booking_id,
        &run.started_at,
        &run.ended_at,
        run.maker.as_ref().map(|maker| maker.user.as_str()),
        run.maker.as_ref().map(|maker| maker.host.as_str()),
        &run.token,
        &run.error_code,
        &run.request_id,
    ];
    statements.insert(&write, row)
}

/// The error (7) for an abandoned attempt: only naming its key sends it again.
pub(crate) fn abandoned(attempt: &Attempt) -> Error {
    let wish = attempt.wish();
    let flag = |(name, field): (&str, &str)| Some(shell::flag(name, &wish.text(field)?));
    let flags = [
        ("--at", "datetime"),
        ("--party", "party_size"),
        ("--name", "customer.name"),
        ("--email", "customer.email"),
        ("--phone", "customer.phone"),
        ("--end-user", "end_user"),
    ];
    let mut words: Vec<String> = flags.into_iter().filter_map(flag).collect();
    words.extend(wish.text("payment_collection").map(|_| "--payment vendor".to_owned()));
    words.push(shell::flag("--idempotency-key", &attempt.idempotency_key));
    let book = shell::command("book", &wish.venue(), &words.join(" "));
    Error::new(Code::Abandoned, "the request was abandoned; nothing was sent")
        .hint(format!("to book it all the same: {book}"))
        .idempotency_key(&attempt.idempotency_key)
}

/// The error for an attempt of another organization. That organization has idempotency keys of its
/// own, so sending the attempt with its API key would book a second time.
pub(crate) fn another_account(attempt: &Attempt) -> Error {
    let profile = attempt.profile.as_ref();
    let of = profile.map_or(String::new(), |profile| format!(" (profile {profile})"));
    Error::config(format!(
        "this idempotency key was first sent with another API key{of}; nothing was sent"
    ))
    .hint(
        "use the profile or key it was made with; if both keys belong to the same organization, pass \
         --same-organization; for another organization use another idempotency key or batch name",
    )
    .idempotency_key(&attempt.idempotency_key)
}

#[cfg(test)]
mod tests;
