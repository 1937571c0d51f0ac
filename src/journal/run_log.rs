//! Writing the runs of an attempt: each begins in one synced transaction before anything is sent, and ends by itself.

use jiff::Timestamp;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::attempts::{another_account, derived, find, request_hash, runs};
use super::rate_window::{self, Window};
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

/// What became of the wish to send an attempt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// The run is on the disk, and the request may be sent.
    Run { run: RunId, earlier: Earlier },
    /// Nothing was recorded: the service would refuse the request until this window resets.
    Shut(Window),
}

/// How a run ended.
struct End<'a> {
    outcome: Outcome,
    http_status: Option<u16>,
    booking: Option<&'a Booking>,
    /// The whole request, where the attempt stays open and must not lack its guest.
    request: Option<&'a Value>,
}

impl Journal {
    /// Records a run of the attempt under `key`, synced. The attempt is open from here on, until its runs prove
    /// otherwise.
    ///
    /// `metered` is the budget that the request is counted in, and now by the service's clock.
    ///
    /// # Errors
    /// A key that was used for another request (2) or at another service (2), or that another organization's API key
    /// may have booked with (3), is refused, and nothing is recorded.
    pub(crate) fn begin(
        &mut self,
        key: &str,
        request: &Value,
        metered: Option<(&str, Timestamp)>,
    ) -> Result<Begun> {
        let (origin, account) = (self.origin.clone(), self.account.clone());
        let (profile, any_account) = (self.profile.clone(), self.takes_any_account);
        let begun = self.write(|connection| {
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
            if let Some((budget, now)) = metered
                && let Some(window) = rate_window::take(connection, &origin, &account, budget, now)?
            {
                return Ok(Ok(Begun::Shut(window)));
            }
            let now = Timestamp::now().to_string();
            if known.is_none() {
                connection.execute(
                    "INSERT INTO attempts (idempotency_key, origin, profile, state, request, request_hash, created_at, updated_at)
                     VALUES (?1, ?2, ?3, 'unsettled', ?4, ?5, ?6, ?6)",
                    params![key, origin, profile, request.to_string(), request_hash(request), now],
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
            derive(connection, key, Some(request), &now)?;
            Ok(Ok(Begun::Run {
                run: RunId { key: key.to_owned(), number },
                earlier: earlier(earlier_runs.iter().map(|run| run.evidence())),
            }))
        })?;
        begun.map_err(|refused| refused.idempotency_key(key))
    }

    /// The run was answered with the booking that was asked for, which is kept with it.
    pub(crate) fn book(&mut self, run: &RunId, booking: &Booking, status: u16) -> Result<State> {
        self.end(
            run,
            &End {
                outcome: Outcome::Booked,
                http_status: Some(status),
                booking: Some(booking),
                request: None,
            },
        )
    }

    /// The service refused the run: it created nothing. Returns what the other runs leave of the attempt.
    pub(crate) fn refuse(&mut self, run: &RunId, status: u16) -> Result<State> {
        self.end(
            run,
            &End {
                outcome: Outcome::Refused,
                http_status: Some(status),
                booking: None,
                request: None,
            },
        )
    }

    /// The run sent nothing. An attempt that has no other run is removed. Returns what the other runs leave of it.
    pub(crate) fn withdraw(&mut self, run: &RunId) -> Result<State> {
        self.end(
            run,
            &End {
                outcome: Outcome::NotSent,
                http_status: None,
                booking: None,
                request: None,
            },
        )
    }

    /// The service says that it made another booking under this key before. The attempt is open, as after a doubt.
    pub(crate) fn note_another_booking(
        &mut self,
        run: &RunId,
        request: &Value,
        status: u16,
    ) -> Result<State> {
        self.end(
            run,
            &End {
                outcome: Outcome::AnotherBooking,
                http_status: Some(status),
                booking: None,
                request: Some(request),
            },
        )
    }

    /// The run ended without a proof of what the service did. The attempt is open, with the whole `request`, also
    /// where a person abandoned it, or its guest was forgotten, while the run was under way.
    pub(crate) fn doubt(
        &mut self,
        run: &RunId,
        request: &Value,
        status: Option<u16>,
    ) -> Result<State> {
        self.end(
            run,
            &End {
                outcome: Outcome::InDoubt,
                http_status: status,
                booking: None,
                request: Some(request),
            },
        )
    }

    fn end(&mut self, run: &RunId, end: &End<'_>) -> Result<State> {
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
            let state = derive(connection, &run.key, end.request, &now)?;
            if let Some(booking) = end.booking {
                bookings::keep(connection, &run.key, booking)?;
            }
            Ok((state, guests::purge(connection, &origin, retention)?))
        })?;
        self.clean_after(purged);
        Ok(state)
    }

    /// Gives up the runs whose outcome is open; the attempt stays in the journal.
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
    /// Makes the runs of every attempt prove what its row says. Where runs could not be read, as in a damaged journal,
    /// or were never written, as in one of an older version, the row is what is known: a run that proves just as much
    /// takes their place.
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

/// Writes the state that the runs prove into the attempt's row, and returns it. An attempt in which nothing was ever
/// sent is removed. One that is open gets its whole request back, where that is at hand.
fn derive(
    connection: &Connection,
    key: &str,
    request: Option<&Value>,
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
    // A key has one booking: the first that was seen stays.
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
    if let (State::Unsettled, Some(request)) = (state, request) {
        connection.execute(
            "UPDATE attempts SET request = ?2, request_hash = ?3, forgotten_at = NULL
             WHERE idempotency_key = ?1 AND forgotten_at IS NOT NULL",
            params![key, request.to_string(), request_hash(request)],
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
