//! Stores the state of an attempt that its runs prove.

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::Journal;
use super::attempts::{Run, derived, request_hash, runs};
use super::runs::{Outcome, State};
use crate::outcome::Result;
use crate::platform::sql::{Answer, Statements, values};

impl Journal {
    /// Adds the runs that are missing to prove the state of each attempt's row: they cannot be read in a damaged journal. The
    /// row then decides, and one run is added that proves the same.
    pub(super) fn prove_again(&mut self) -> Result<()> {
        let now = Timestamp::now().to_string();
        self.write(|statements, _| {
            let attempts = statements.query("SELECT idempotency_key, state FROM attempts", &[])?;
            for mut attempt in attempts {
                let (key, state): (String, String) = (attempt.take(0)?, attempt.take(1)?);
                let runs = runs(statements, &key)?;
                let state = State::parse(&state);
                if !runs.is_empty() && derived(&runs) == state {
                    continue;
                }
                let outcome = match state {
                    State::Settled => Outcome::Booked,
                    State::Refused => Outcome::Refused,
                    State::Unsettled | State::Abandoned => Outcome::InDoubt,
                };
                let number = runs.last().map_or(1, |last| last.number.saturating_add(1));
                statements.execute(
                    "INSERT INTO runs (idempotency_key, number, token, account, outcome, abandoned, http_status, booking_id, started_at, ended_at)
                     SELECT idempotency_key, ?2, ?5, account, ?3, ?4, http_status, booking_id, created_at, updated_at
                     FROM attempts WHERE idempotency_key = ?1",
                    values![
                        &key,
                        number,
                        outcome.as_str(),
                        i64::from(state == State::Abandoned),
                        Uuid::now_v7().to_string(),
                    ],
                )?;
                derive(statements, &key, &super::attempts::runs(statements, &key)?, None, &now)?;
            }
            Ok(())
        })
    }
}

/// Stores the state that the runs prove in the attempt's row, and returns it. An attempt that was never sent is
/// removed. An open attempt gets its whole request back if that is given.
pub(super) fn derive(
    statements: &dyn Statements,
    key: &str,
    runs: &[Run],
    request: Option<(&Value, Option<&Value>)>,
    now: &str,
) -> Answer<State> {
    let state = derived(runs);
    if !runs.is_empty() && runs.iter().all(|run| run.outcome == Outcome::NotSent) {
        for table in ["attempts", "runs"] {
            let query = format!("DELETE FROM {table} WHERE idempotency_key = ?1");
            statements.later(&query, values![key])?;
        }
        return Ok(state);
    }
    // A key has one booking: the first that was seen.
    let proof = runs
        .iter()
        .find(|run| run.outcome == Outcome::Booked)
        .or(runs.last());
    statements.later(
        "UPDATE attempts SET state = ?2, booking_id = ?3, http_status = ?4, updated_at = ?5 WHERE idempotency_key = ?1",
        values![
            key,
            state.as_str(),
            proof.and_then(|run| run.booking_id.as_deref()),
            proof.and_then(|run| run.http_status),
            now
        ],
    )?;
    if let (State::Unsettled, Some((request, asked))) = (state, request) {
        statements.later(
            "UPDATE attempts SET request = ?2, request_hash = ?3, asked = ?4, forgotten_at = NULL
             WHERE idempotency_key = ?1 AND forgotten_at IS NOT NULL",
            values![
                key,
                request.to_string(),
                request_hash(request),
                asked.map(Value::to_string)
            ],
        )?;
    }
    Ok(state)
}
