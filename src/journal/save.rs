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
    write_attempt(statements, before, attempt)?;
    for run in &attempt.runs {
        let same = |it: &&Run| it.number == run.number;
        let before = before.and_then(|it| it.runs.iter().find(same));
        if before != Some(run) {
            write_run(statements, attempt, run, before.is_some())?;
        }
    }
    Ok(())
}

fn write_attempt(
    statements: &dyn Statements,
    before: Option<&Attempt>,
    attempt: &Attempt,
) -> Answer<()> {
    const PROVED: &str = "ON CONFLICT (idempotency_key) DO UPDATE SET account = excluded.account, state = excluded.state,
         booking_id = excluded.booking_id, http_status = excluded.http_status, updated_at = excluded.updated_at";
    const REQUEST: &str = ", request = excluded.request, request_hash = excluded.request_hash, asked = excluded.asked,
         asked_hash = excluded.asked_hash, forgotten_at = excluded.forgotten_at";
    // A request is as it was sent, byte for byte, and is written again only where its guest comes back.
    let changes = match before {
        None => String::new(),
        Some(before) if before.forgotten_at == attempt.forgotten_at => PROVED.to_owned(),
        Some(_) => format!("{PROVED}{REQUEST}"),
    };
    let write = format!(
        "INSERT INTO attempts (idempotency_key, origin, profile, account, state, request, request_hash, asked, asked_hash,
                               booking_id, http_status, created_at, updated_at, forgotten_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) {changes}"
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
        request.asked.as_ref().map(ToString::to_string),
        &request.asked_hash,
        &attempt.booking_id,
        attempt.http_status,
        &attempt.created_at,
        Timestamp::now().to_string(),
        &attempt.forgotten_at,
    ];
    statements.later(&write, row).map(drop)
}

fn write_run(
    statements: &dyn Statements,
    attempt: &Attempt,
    run: &Run,
    is_known: bool,
) -> Answer<()> {
    const ENDED: &str = "ON CONFLICT (idempotency_key, number) DO UPDATE SET outcome = excluded.outcome,
         abandoned = excluded.abandoned, http_status = excluded.http_status, booking_id = excluded.booking_id,
         ended_at = excluded.ended_at";
    let write = format!(
        "INSERT INTO runs (idempotency_key, number, account, process, outcome, abandoned, http_status, booking_id, started_at,
                           ended_at, username, host, token)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) {}",
        if is_known { ENDED } else { "" }
    );
    let row = values![
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
    ];
    statements.later(&write, row).map(drop)
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
