//! Writes the runs of an attempt. Each begins in a synced transaction before anything is sent, and ends by itself.

use jiff::Timestamp;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::attempts::{another_account, derived, find, request_hash, runs};
use super::rate_limit_window::{self, RateLimitWindow};
use super::runs::{Earlier, Outcome, State, earlier, may_be_sent_by};
use super::{Journal, bookings, guests};
use crate::model::booking::Booking;
use crate::outcome::{Error, Result};

/// A run that this process has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunId {
    key: String,
    number: u32,
}

/// Whether a run was begun.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BeginOutcome {
    /// The run is on the disk, and the request may be sent.
    Run { run: RunId, earlier: Earlier },
    /// Nothing was recorded: the service would refuse the request until this window resets.
    RateLimited(RateLimitWindow),
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct RunEnd<'a> {
    pub(crate) outcome: Outcome,
    /// The status of the last answer, if one came.
    pub(crate) http_status: Option<u16>,
    /// The booking that was asked for, if it was answered with; it is kept.
    pub(crate) booking: Option<&'a Booking>,
    /// The request that was sent.
    pub(crate) request: &'a Value,
    /// What was asked for in the contract's shape, where the request has another one.
    pub(crate) asked: Option<&'a Value>,
}

impl Journal {
    /// Records a new run of the attempt under `key`, synced. The attempt is open from here on, until its runs prove
    /// otherwise.
    ///
    /// `asked` is what was asked for in the contract's shape, where `request` has another one. `counted_in` is the name of the rate limit that the request counts towards, and the service's time.
    ///
    /// # Errors
    ///
    /// `usage` (2) if the key was used for another request or at another service, `config` (3) if another
    /// organization's API key may have booked with it. Nothing is recorded then.
    pub(crate) fn begin(
        &mut self,
        key: &str,
        request: &Value,
        asked: Option<&Value>,
        counted_in: Option<(&str, Timestamp)>,
    ) -> Result<BeginOutcome> {
        let (origin, account) = (self.origin.clone(), self.account.clone());
        let (profile, any_account) = (self.profile.clone(), self.takes_any_account);
        let begun = self.write_ahead(|connection| {
            let known = find(connection, key)?;
            if let Some(known) = &known {
                let refused = if known.origin != origin {
                    Some(at_another_service(&known.origin))
                } else if !any_account && !may_be_sent_by(&account, known.evidence()) {
                    Some(another_account(known))
                } else if !known.is_of(request) {
                    Some(for_another_request())
                } else {
                    None
                };
                if let Some(refused) = refused {
                    return Ok(Err(refused));
                }
            }
            if let Some((limit, now)) = counted_in
                && let Some(window) = rate_limit_window::count_request(connection, &origin, &account, limit, now)?
            {
                return Ok(Ok(BeginOutcome::RateLimited(window)));
            }
            let now = Timestamp::now().to_string();
            if known.is_none() {
                connection.execute(
                    "INSERT INTO attempts (idempotency_key, origin, profile, state, request, request_hash, created_at, updated_at, asked, asked_hash)
                     VALUES (?1, ?2, ?3, 'unsettled', ?4, ?5, ?6, ?6, ?7, ?8)",
                    params![
                        key,
                        origin,
                        profile,
                        request.to_string(),
                        request_hash(request),
                        now,
                        asked.map(Value::to_string),
                        asked.map(request_hash)
                    ],
                )?;
            }
            let earlier_runs = known.map(|known| known.runs).unwrap_or_default();
            let number = earlier_runs.last().map_or(1, |last| last.number.saturating_add(1));
            connection.execute(
                "INSERT INTO runs (idempotency_key, number, account, process, outcome, started_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![key, number, account, std::process::id(), Outcome::UnderWay.as_str(), now],
            )?;
            connection.execute(
                "UPDATE attempts SET account = ?2 WHERE idempotency_key = ?1",
                [key, account.as_str()],
            )?;
            derive(connection, key, Some((request, asked)), &now)?;
            Ok(Ok(BeginOutcome::Run {
                run: RunId { key: key.to_owned(), number },
                earlier: earlier(earlier_runs.iter().map(|run| run.evidence())),
            }))
        })?;
        begun.map_err(|refused| refused.idempotency_key(key))
    }

    /// Records how a run ended, and returns the new state of the attempt.
    ///
    /// An attempt that was never sent is removed. An attempt that stays open gets its whole request back, even if a
    /// person abandoned it or its guest was deleted in the meantime.
    pub(crate) fn end(&mut self, run: &RunId, end: &RunEnd<'_>) -> Result<State> {
        let now = Timestamp::now().to_string();
        let (origin, retention) = (self.origin.clone(), self.retention);
        let (state, purged) = self.write(|connection| {
            connection.execute(
                "UPDATE runs SET outcome = ?3, http_status = ?4, booking_id = ?5, ended_at = ?6, abandoned = 0
                 WHERE idempotency_key = ?1 AND number = ?2",
                params![
                    run.key,
                    run.number,
                    end.outcome.as_str(),
                    end.http_status,
                    end.booking.map(Booking::id),
                    now
                ],
            )?;
            let is_open = matches!(end.outcome, Outcome::InDoubt | Outcome::AnotherBooking);
            let request = is_open.then_some((end.request, end.asked));
            let state = derive(connection, &run.key, request, &now)?;
            if let Some(booking) = end.booking {
                bookings::keep(connection, &run.key, booking)?;
            }
            Ok((state, guests::purge(connection, &origin, retention)?))
        })?;
        self.clean_after(purged);
        Ok(state)
    }

    /// Gives up the runs whose outcome is unknown. The attempt stays in the journal.
    pub(crate) fn abandon(&mut self, key: &str) -> Result<State> {
        let now = Timestamp::now().to_string();
        let (origin, retention) = (self.origin.clone(), self.retention);
        let (state, purged) = self.write(|connection| {
            connection.execute(
                "UPDATE runs SET abandoned = 1
                 WHERE idempotency_key = ?1 AND outcome NOT IN ('booked', 'refused', 'not_sent')",
                [key],
            )?;
            let state = derive(connection, key, None, &now)?;
            Ok((state, guests::purge(connection, &origin, retention)?))
        })?;
        self.clean_after(purged);
        Ok(state)
    }
}

impl Journal {
    /// Adds the runs that are missing to prove the state of each attempt's row. They cannot be read in a damaged
    /// journal, and older versions did not write them. The row then decides, and one run is added that proves the
    /// same.
    pub(super) fn prove_again(&mut self) -> Result<()> {
        let now = Timestamp::now().to_string();
        self.write(|connection| {
            let mut query = connection.prepare("SELECT idempotency_key, state FROM attempts")?;
            let attempts = query.query_map([], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
            })?;
            for attempt in attempts {
                let (key, state) = attempt?;
                let runs = runs(connection, &key)?;
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
                connection.execute(
                    "INSERT INTO runs (idempotency_key, number, account, outcome, abandoned, http_status, booking_id, started_at, ended_at)
                     SELECT idempotency_key, ?2, account, ?3, ?4, http_status, booking_id, created_at, updated_at
                     FROM attempts WHERE idempotency_key = ?1",
                    params![key, number, outcome.as_str(), state == State::Abandoned],
                )?;
                derive(connection, &key, None, &now)?;
            }
            Ok(())
        })
    }
}

/// Stores the state that the runs prove in the attempt's row, and returns it. An attempt that was never sent is
/// removed. An open attempt gets its whole request back if that is given.
fn derive(
    connection: &Connection,
    key: &str,
    request: Option<(&Value, Option<&Value>)>,
    now: &str,
) -> rusqlite::Result<State> {
    let runs = runs(connection, key)?;
    let state = derived(&runs);
    if !runs.is_empty() && runs.iter().all(|run| run.outcome == Outcome::NotSent) {
        for table in ["attempts", "runs"] {
            let query = format!("DELETE FROM {table} WHERE idempotency_key = ?1");
            connection.execute(&query, [key])?;
        }
        return Ok(state);
    }
    // A key has one booking: the first that was seen.
    let proof = runs
        .iter()
        .find(|run| run.outcome == Outcome::Booked)
        .or(runs.last());
    connection.execute(
        "UPDATE attempts SET state = ?2, booking_id = ?3, http_status = ?4, updated_at = ?5 WHERE idempotency_key = ?1",
        params![
            key,
            state.as_str(),
            proof.and_then(|run| run.booking_id.as_deref()),
            proof.and_then(|run| run.http_status),
            now
        ],
    )?;
    if let (State::Unsettled, Some((request, asked))) = (state, request) {
        connection.execute(
            "UPDATE attempts SET request = ?2, request_hash = ?3, asked = ?4, forgotten_at = NULL
             WHERE idempotency_key = ?1 AND forgotten_at IS NOT NULL",
            params![
                key,
                request.to_string(),
                request_hash(request),
                asked.map(Value::to_string)
            ],
        )?;
    }
    Ok(state)
}

fn at_another_service(origin: &str) -> Error {
    Error::usage(format!(
        "this idempotency key was already used at another service, {origin}; nothing was sent"
    ))
    .hint("use a new key, or for a batch a new name with --batch")
}

fn for_another_request() -> Error {
    Error::usage("this idempotency key was already used for another booking; nothing was sent")
        .hint("leave out --idempotency-key, or use a new key")
}

#[cfg(test)]
mod tests;
