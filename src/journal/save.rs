//! Writes what has become of an attempt: the difference to what was loaded.

use jiff::Timestamp;
use uuid::Uuid;

use super::Journal;
use super::attempts::every;
use super::protocol::Attempt;
use super::runs::Run;
use crate::outcome::Result;
use crate::platform::sql::{Answer, Statements, values};

/// Writes an attempt and its runs as they are now. An attempt that is none any more is removed. If another process has added
/// the attempt in between, this is a conflict, and the transaction is repeated.
pub(super) fn save(
    statements: &dyn Statements,
    before: Option<&Attempt>,
    now: Option<&Attempt>,
) -> Answer<()> {
    let Some(attempt) = now else {
        for table in ["attempts", "runs"] {
            let delete = format!("DELETE FROM {table} WHERE idempotency_key = ?1");
            if let Some(before) = before {
                statements.later(&delete, values![&before.idempotency_key])?;
            }
        }
        return Ok(());
    };
    match before {
        Some(before) => update(statements, before, attempt)?,
        None => insert(statements, attempt)?,
    }
    for run in &attempt.runs {
        let same = |it: &&Run| it.number == run.number;
        match before.and_then(|it| it.runs.iter().find(same)) {
            Some(before) if before == run => {}
            Some(_) => update_run(statements, attempt, run)?,
            None => insert_run(statements, attempt, run)?,
        }
    }
    Ok(())
}

fn insert(statements: &dyn Statements, attempt: &Attempt) -> Answer<()> {
    let request = &attempt.request;
    statements.later(
        "INSERT INTO attempts (idempotency_key, origin, profile, account, state, request, request_hash, asked, asked_hash,
                               booking_id, http_status, created_at, updated_at, forgotten_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        values![
            &attempt.idempotency_key,
            &attempt.origin,
            &attempt.profile,
            &attempt.account,
            attempt.state.as_str(),
            request.body.to_string(),
            &request.hash,
            request.asked.as_ref().map(ToString::to_string),
            &request.asked_hash,
            &attempt.booking_id,
            attempt.http_status,
            &attempt.created_at,
            Timestamp::now().to_string(),
            &attempt.forgotten_at,
        ],
    )?;
    Ok(())
}

fn update(statements: &dyn Statements, before: &Attempt, attempt: &Attempt) -> Answer<()> {
    statements.later(
        "UPDATE attempts SET state = ?2, booking_id = ?3, http_status = ?4, account = ?5, updated_at = ?6
         WHERE idempotency_key = ?1",
        values![
            &attempt.idempotency_key,
            attempt.state.as_str(),
            &attempt.booking_id,
            attempt.http_status,
            &attempt.account,
            Timestamp::now().to_string(),
        ],
    )?;
    if before.forgotten_at == attempt.forgotten_at {
        return Ok(());
    }
    let request = &attempt.request;
    statements.later(
        "UPDATE attempts SET request = ?2, request_hash = ?3, asked = ?4, asked_hash = ?5, forgotten_at = ?6
         WHERE idempotency_key = ?1",
        values![
            &attempt.idempotency_key,
            request.body.to_string(),
            &request.hash,
            request.asked.as_ref().map(ToString::to_string),
            &request.asked_hash,
            &attempt.forgotten_at,
        ],
    )?;
    Ok(())
}

fn insert_run(statements: &dyn Statements, attempt: &Attempt, run: &Run) -> Answer<()> {
    statements.later(
        "INSERT INTO runs (idempotency_key, number, account, process, outcome, abandoned, http_status, booking_id, started_at,
                           ended_at, username, host, token)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        values![
            &attempt.idempotency_key,
            run.number,
            &run.account,
            run.process.map(i64::from),
            run.outcome.as_str(),
            i64::from(run.abandoned),
            run.http_status,
            &run.booking_id,
            &run.started_at,
            &run.ended_at,
            run.maker.as_ref().map(|maker| maker.user.as_str()),
            run.maker.as_ref().map(|maker| maker.host.as_str()),
            &run.token,
        ],
    )?;
    Ok(())
}

fn update_run(statements: &dyn Statements, attempt: &Attempt, run: &Run) -> Answer<()> {
    statements.later(
        "UPDATE runs SET outcome = ?3, abandoned = ?4, http_status = ?5, booking_id = ?6, ended_at = ?7
         WHERE idempotency_key = ?1 AND number = ?2",
        values![
            &attempt.idempotency_key,
            run.number,
            run.outcome.as_str(),
            i64::from(run.abandoned),
            run.http_status,
            &run.booking_id,
            &run.ended_at,
        ],
    )?;
    Ok(())
}

impl Journal {
    /// Adds the runs that are missing to prove the state of each attempt's row: they cannot be read in a damaged journal.
    pub(super) fn prove_again(&mut self) -> Result<()> {
        self.write(|statements, _| {
            for before in every(statements)? {
                let mut attempt = before.clone();
                if attempt.recover(Uuid::now_v7().to_string()) {
                    save(statements, Some(&before), Some(&attempt))?;
                }
            }
            Ok(())
        })
    }
}
