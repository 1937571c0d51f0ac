//! Writes the runs of an attempt. Each begins in a synced transaction before anything is sent, and ends by itself.

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::attempts::{Attempt, another_account, derived, hold, request_hash, runs};
use super::rate_limit_window::{self, RateLimitWindow};
use super::runs::{Earlier, Outcome, State, earlier, may_be_sent_by};
use super::scope::Scope;
use super::{Journal, bookings, guests};
use crate::model::booking::Booking;
use crate::outcome::{Error, Result};
use crate::platform::sql::{Answer, Statements, values};

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
        let token = Uuid::now_v7().to_string();
        let begun = self.write_ahead(|statements, journal| {
            let now = Timestamp::now().to_string();
            let known = loop {
                let known = hold(statements, key)?;
                if let Some(known) = &known {
                    if let Some(run) = known.runs.iter().find(|run| run.token.as_ref() == Some(&token)) {
                        // This transaction was committed before, and its answer was lost.
                        return Ok(Ok(begun(key, known, run.number)));
                    }
                    if let Some(refused) = journal.refusal(known, request) {
                        return Ok(Err(refused));
                    }
                }
                if known.is_some() || add(statements, journal, key, request, asked, &now)? {
                    break known;
                }
                // Another process has added it in between.
            };
            if let Some((limit, now)) = counted_in
                && let Some(window) = rate_limit_window::count_request(statements, journal, limit, now)?
            {
                if known.is_none() {
                    statements.execute("DELETE FROM attempts WHERE idempotency_key = ?1", values![key])?;
                }
                return Ok(Ok(BeginOutcome::RateLimited(window)));
            }
            let number = known.as_ref().map_or(1, next_number);
            statements.execute(
                "INSERT INTO runs (idempotency_key, number, account, process, outcome, started_at, username, host, token)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                values![
                    key,
                    number,
                    &journal.account,
                    std::process::id(),
                    Outcome::UnderWay.as_str(),
                    &now,
                    &journal.maker.user,
                    &journal.maker.host,
                    &token,
                ],
            )?;
            let own = "UPDATE attempts SET account = ?2 WHERE idempotency_key = ?1";
            statements.execute(own, values![key, &journal.account])?;
            derive(statements, key, Some((request, asked)), &now)?;
            Ok(Ok(match &known {
                Some(known) => begun(key, known, number),
                None => BeginOutcome::Run {
                    run: RunId { key: key.to_owned(), number },
                    earlier: Earlier::Nothing,
                },
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
        let (state, purged) = self.write(|statements, journal| {
            let known = hold(statements, &run.key)?;
            let is_known = known.is_some_and(|it| it.runs.iter().any(|it| it.number == run.number));
            if !is_known && end.outcome == Outcome::NotSent {
                // This transaction was committed before, and its answer was lost.
                return Ok((State::Refused, 0));
            }
            statements.execute(
                "UPDATE runs SET outcome = ?3, http_status = ?4, booking_id = ?5, ended_at = ?6, abandoned = 0
                 WHERE idempotency_key = ?1 AND number = ?2",
                values![
                    &run.key,
                    run.number,
                    end.outcome.as_str(),
                    end.http_status,
                    end.booking.map(Booking::id),
                    &now,
                ],
            )?;
            let is_open = matches!(end.outcome, Outcome::InDoubt | Outcome::AnotherBooking);
            let request = is_open.then_some((end.request, end.asked));
            let state = derive(statements, &run.key, request, &now)?;
            if let Some(booking) = end.booking {
                bookings::keep(statements, &run.key, booking)?;
            }
            Ok((state, guests::purge(statements, journal)?))
        })?;
        self.clean_after(purged);
        Ok(state)
    }

    /// Gives up the runs whose outcome is unknown. The attempt stays in the journal.
    pub(crate) fn abandon(&mut self, key: &str) -> Result<State> {
        let now = Timestamp::now().to_string();
        let (state, purged) = self.write(|statements, journal| {
            hold(statements, key)?;
            statements.execute(
                "UPDATE runs SET abandoned = 1
                 WHERE idempotency_key = ?1 AND outcome NOT IN ('booked', 'refused', 'not_sent')",
                values![key],
            )?;
            let state = derive(statements, key, None, &now)?;
            Ok((state, guests::purge(statements, journal)?))
        })?;
        self.clean_after(purged);
        Ok(state)
    }
}

impl Scope {
    /// Why no run of a known attempt may begin for this request.
    fn refusal(&self, known: &Attempt, request: &Value) -> Option<Error> {
        if known.origin != self.origin {
            Some(at_another_service(&known.origin))
        } else if !self.takes_any_account && !may_be_sent_by(&self.account, known.evidence()) {
            Some(another_account(known))
        } else if !known.is_of(request) {
            Some(for_another_request())
        } else {
            None
        }
    }
}

fn next_number(known: &Attempt) -> u32 {
    known
        .runs
        .last()
        .map_or(1, |last| last.number.saturating_add(1))
}

/// What a run that has begun knows of those before it.
fn begun(key: &str, known: &Attempt, number: u32) -> BeginOutcome {
    let before = known.runs.iter().filter(|run| run.number < number);
    BeginOutcome::Run {
        run: RunId {
            key: key.to_owned(),
            number,
        },
        earlier: earlier(before.map(|run| run.evidence())),
    }
}

/// Adds an attempt. Returns `false` if there is one under this key.
fn add(
    statements: &dyn Statements,
    journal: &Scope,
    key: &str,
    request: &Value,
    asked: Option<&Value>,
    now: &str,
) -> Answer<bool> {
    let added = statements.execute(
        "INSERT INTO attempts (idempotency_key, origin, profile, state, request, request_hash, created_at, updated_at, asked, asked_hash)
         VALUES (?1, ?2, ?3, 'unsettled', ?4, ?5, ?6, ?6, ?7, ?8) ON CONFLICT (idempotency_key) DO NOTHING",
        values![
            key,
            &journal.origin,
            &journal.profile,
            request.to_string(),
            request_hash(request),
            now,
            asked.map(Value::to_string),
            asked.map(request_hash),
        ],
    )?;
    Ok(added == 1)
}

impl Journal {
    /// Adds the runs that are missing to prove the state of each attempt's row. They cannot be read in a damaged
    /// journal, and older versions did not write them. The row then decides, and one run is added that proves the
    /// same.
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
                    "INSERT INTO runs (idempotency_key, number, account, outcome, abandoned, http_status, booking_id, started_at, ended_at)
                     SELECT idempotency_key, ?2, account, ?3, ?4, http_status, booking_id, created_at, updated_at
                     FROM attempts WHERE idempotency_key = ?1",
                    values![&key, number, outcome.as_str(), i64::from(state == State::Abandoned)],
                )?;
                derive(statements, &key, None, &now)?;
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
    request: Option<(&Value, Option<&Value>)>,
    now: &str,
) -> Answer<State> {
    let runs = runs(statements, key)?;
    let state = derived(&runs);
    if !runs.is_empty() && runs.iter().all(|run| run.outcome == Outcome::NotSent) {
        for table in ["attempts", "runs"] {
            let query = format!("DELETE FROM {table} WHERE idempotency_key = ?1");
            statements.execute(&query, values![key])?;
        }
        return Ok(state);
    }
    // A key has one booking: the first that was seen.
    let proof = runs
        .iter()
        .find(|run| run.outcome == Outcome::Booked)
        .or(runs.last());
    statements.execute(
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
        statements.execute(
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
