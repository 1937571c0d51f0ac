//! Writes the runs of an attempt. Each begins in a synced transaction before anything is sent, and ends by itself.

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::attempts::{
    Attempt, OTHER_ATTEMPT, Run, another_account, hold, hold_beside, request_hash, runs,
};
use super::proof::derive;
use super::rate_limit_window::{self, Admission, RateLimitWindow, ServiceClock};
use super::runs::{Earlier, LastTry, Outcome, State, earlier, outcome_of};
use super::scope::Scope;
use super::{Journal, bookings, guests};
use crate::model::booking::Booking;
use crate::model::shell;
use crate::outcome::{Error, Result};
use crate::platform::sql::{Answer, Statements, values};

/// A run that this process has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunId {
    key: String,
    number: u32,
}

#[derive(Debug)]
pub(crate) enum BeginOutcome {
    /// The run is on the disk, and the request may be sent.
    Run {
        run: RunId,
        earlier: Earlier,
        /// What was known of the attempt before.
        known: Option<Box<Attempt>>,
    },
    /// Nothing was recorded: the service would refuse the request until this window resets.
    RateLimited(RateLimitWindow),
    /// Nothing was recorded: the rate limit is not known, and another machine waits for the answer that shows it.
    RateLimitAwaited,
}

#[derive(Debug)]
pub(crate) struct RunEnd<'a> {
    pub(crate) last: LastTry,
    /// Whether an earlier try of the run may have booked.
    pub(crate) in_doubt: bool,
    /// The status of the last answer, if one came.
    pub(crate) http_status: Option<u16>,
    /// The booking that was asked for, if it was answered with; it is kept.
    pub(crate) booking: Option<&'a Booking>,
    pub(crate) request: &'a Value,
    /// What was asked for in the contract's shape, where the request has another one.
    pub(crate) asked: Option<&'a Value>,
}

/// What is known of an attempt when one of its runs has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) state: State,
    /// The key of another attempt at this service that has the same booking, which therefore settles nothing.
    pub(crate) other_attempt: Option<String>,
}

impl Journal {
    /// Records a new run of the attempt under `key`, synced. The attempt is open from here on, until its runs prove
    /// otherwise.
    ///
    /// `asked` is what was asked for in the contract's shape, where `request` has another one. If the attempt asked for the
    /// same before, its own request counts. `counted_in` is the name of the rate limit that the request counts towards, and
    /// the service's clock.
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
        counted_in: Option<(&str, ServiceClock<'_>)>,
    ) -> Result<BeginOutcome> {
        let token = Uuid::now_v7().to_string();
        let intent = Intent {
            key,
            request,
            asked,
            counted_in,
            token: &token,
        };
        let begun = self.write(|statements, journal| intent.write(statements, journal))?;
        let (outcome, learns) = begun.map_err(|refused| refused.idempotency_key(key))?;
        self.learns = learns;
        if let BeginOutcome::Run { .. } = outcome {
            self.prepare_the_end();
        }
        Ok(outcome)
    }

    /// Records how a run ended, and returns what is known of its attempt then.
    ///
    /// An attempt that was never sent is removed. An attempt that stays open gets its whole request back, even if a
    /// person abandoned it or its guest was deleted in the meantime.
    pub(crate) fn end(&mut self, run: &RunId, end: &RunEnd<'_>) -> Result<Ended> {
        let now = Timestamp::now().to_string();
        let learns = self.learns.take();
        let (ended, purged) = self.write(|statements, journal| {
            if let Some(limit) = &learns {
                let was_answered = end.http_status.is_some();
                rate_limit_window::end_learning(statements, journal, limit, was_answered)?;
            }
            write_end(statements, journal, run, end, &now)
        })?;
        if ended.outcome == Outcome::Booked {
            self.last_kept = end.booking.cloned();
        }
        self.clean_after(purged);
        Ok(ended)
    }

    /// Gives up the runs whose outcome is unknown. The attempt stays in the journal.
    pub(crate) fn abandon(&mut self, key: &str) -> Result<State> {
        let now = Timestamp::now().to_string();
        let (state, purged) = self.write(|statements, journal| {
            hold(statements, key)?;
            statements.later(
                "UPDATE runs SET abandoned = 1
                 WHERE idempotency_key = ?1 AND outcome NOT IN ('booked', 'refused', 'not_sent')",
                values![key],
            )?;
            let state = derive(statements, key, &runs(statements, key)?, None, &now)?;
            Ok((state, guests::purge(statements, journal)?))
        })?;
        self.clean_after(purged);
        Ok(state)
    }
}

/// A run that is to begin.
struct Intent<'a> {
    key: &'a str,
    request: &'a Value,
    asked: Option<&'a Value>,
    counted_in: Option<(&'a str, ServiceClock<'a>)>,
    /// Distinguishes the run from all others.
    token: &'a str,
}

/// What became of an intent, and the rate limit that its request shows first; or why it is refused.
type Written = std::result::Result<(BeginOutcome, Option<String>), Error>;

impl Intent<'_> {
    fn write(&self, statements: &dyn Statements, journal: &Scope) -> Answer<Written> {
        let (known, window) = self.held(statements, journal)?;
        if let Some(known) = &known {
            let own = |run: &&Run| run.token == self.token;
            if let Some(number) = known.runs.iter().find(own).map(|run| run.number) {
                // This transaction was committed before, and its answer was lost.
                return Ok(Ok((begun(self.key, known.clone(), number), None)));
            }
            if let Some(refused) = journal.refusal(known, self.request, self.asked) {
                return Ok(Err(refused));
            }
        }
        let mut learns = None;
        if let Some((limit, clock)) = self.counted_in {
            match rate_limit_window::count(statements, journal, limit, window, clock)? {
                Admission::Sent => {}
                Admission::SentFirst => learns = Some(limit.to_owned()),
                Admission::Awaited => return Ok(Ok((BeginOutcome::RateLimitAwaited, None))),
                Admission::Exhausted(window) => {
                    return Ok(Ok((BeginOutcome::RateLimited(window), None)));
                }
            }
        }
        Ok(Ok((self.record(statements, journal, known)?, learns)))
    }

    /// The attempt, and the window of its rate limit. Others wait until the transaction ends.
    fn held(
        &self,
        statements: &dyn Statements,
        journal: &Scope,
    ) -> Answer<(Option<Attempt>, Option<RateLimitWindow>)> {
        let find = format!("{} FOR UPDATE", rate_limit_window::FIND);
        let limit = self.counted_in.map_or("", |(limit, _)| limit);
        let of = rate_limit_window::of(journal, limit);
        let window = self.counted_in.map(|_| (find.as_str(), of.as_slice()));
        let (known, found) = hold_beside(statements, self.key, window.as_slice())?;
        let row = found.into_iter().flatten().next();
        Ok((known, row.map(rate_limit_window::window).transpose()?))
    }

    /// Adds the run, and the attempt if it is not known.
    fn record(
        &self,
        statements: &dyn Statements,
        journal: &Scope,
        known: Option<Attempt>,
    ) -> Answer<BeginOutcome> {
        let now = Timestamp::now().to_string();
        let number = known.as_ref().map_or(1, next_number);
        if known.is_none() {
            self.add(statements, journal, &now)?;
        }
        statements.later(
            "INSERT INTO runs (idempotency_key, number, account, process, outcome, started_at, username, host, token)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            values![
                self.key,
                number,
                &journal.account,
                std::process::id(),
                Outcome::UnderWay.as_str(),
                &now,
                &journal.maker.user,
                &journal.maker.host,
                self.token,
            ],
        )?;
        let Some(known) = known else {
            return Ok(BeginOutcome::Run {
                run: RunId {
                    key: self.key.to_owned(),
                    number,
                },
                earlier: Earlier::Nothing,
                known: None,
            });
        };
        let own = "UPDATE attempts SET account = ?2 WHERE idempotency_key = ?1";
        statements.later(own, values![self.key, &journal.account])?;
        let request = Some((self.request, self.asked));
        derive(
            statements,
            self.key,
            &runs(statements, self.key)?,
            request,
            &now,
        )?;
        Ok(begun(self.key, known, number))
    }

    /// Adds the attempt. If another process has added it in between, this is a conflict, and the transaction is repeated.
    fn add(&self, statements: &dyn Statements, journal: &Scope, now: &str) -> Answer<()> {
        statements.later(
            "INSERT INTO attempts (idempotency_key, origin, profile, account, state, request, request_hash, created_at,
                                   updated_at, asked, asked_hash)
             VALUES (?1, ?2, ?3, ?4, 'unsettled', ?5, ?6, ?7, ?7, ?8, ?9)",
            values![
                self.key,
                &journal.origin,
                &journal.profile,
                &journal.account,
                self.request.to_string(),
                request_hash(self.request),
                now,
                self.asked.map(Value::to_string),
                self.asked.map(request_hash),
            ],
        )?;
        Ok(())
    }
}

impl Scope {
    /// Why no run of a known attempt may begin for this request.
    fn refusal(&self, known: &Attempt, request: &Value, asked: Option<&Value>) -> Option<Error> {
        if known.origin != self.origin {
            Some(at_another_service(&known.origin))
        } else if !self.may_send(known.evidence()) {
            Some(another_account(known))
        } else if !known.repeats(asked.unwrap_or(request)) && !known.is_of(request) {
            Some(for_another_request(known))
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
fn begun(key: &str, known: Attempt, number: u32) -> BeginOutcome {
    let before = known.runs.iter().filter(|run| run.number < number);
    BeginOutcome::Run {
        run: RunId {
            key: key.to_owned(),
            number,
        },
        earlier: earlier(before.map(Run::evidence)),
        known: Some(Box::new(known)),
    }
}

struct Found {
    attempt: Option<Attempt>,
    /// Whether guests may have been kept long enough.
    is_to_purge: bool,
    /// The key of another attempt that has the booking.
    other_attempt: Option<String>,
}

/// Finds it with one wait. Others wait for the attempt until the transaction ends.
fn find_for_end(
    statements: &dyn Statements,
    journal: &Scope,
    key: &str,
    booking: Option<&str>,
) -> Answer<Found> {
    let until = journal.retention_ended().to_string();
    let (to_purge, row) = (
        guests::is_anything_to_purge(),
        values![&journal.origin, &until],
    );
    let of = values![&journal.origin, booking, key];
    let beside: [(&str, &[_]); 2] = [(&to_purge, row), (OTHER_ATTEMPT, of)];
    let (attempt, found) = hold_beside(statements, key, &beside)?;
    let mut firsts = found.into_iter().map(|rows| rows.into_iter().next());
    let is_any = firsts.next().flatten().map(|mut row| row.take(0));
    let other = firsts.next().flatten().map(|mut row| row.take(0));
    // What the run itself adds may have to go at once.
    let is_due = attempt.as_ref().is_none_or(|it| it.created_at <= until);
    Ok(Found {
        attempt,
        is_to_purge: is_due || is_any.transpose()?.unwrap_or(true),
        other_attempt: other.transpose()?,
    })
}

fn write_end(
    statements: &dyn Statements,
    journal: &Scope,
    run: &RunId,
    end: &RunEnd<'_>,
    now: &str,
) -> Answer<(Ended, usize)> {
    let id = end.booking.map(Booking::id);
    let Found {
        attempt,
        is_to_purge,
        other_attempt,
    } = find_for_end(statements, journal, &run.key, id)?;
    let outcome = outcome_of(end.last, end.in_doubt, other_attempt.is_some());
    let booking = end.booking.filter(|_| outcome == Outcome::Booked);
    let id = booking.map(Booking::id);
    let mut runs = attempt.map(|attempt| attempt.runs).unwrap_or_default();
    match runs.iter_mut().find(|it| it.number == run.number) {
        Some(own) => {
            own.outcome = outcome;
            own.http_status = end.http_status;
            own.booking_id = id.map(str::to_owned);
            own.abandoned = false;
        }
        // This transaction was committed before, and its answer was lost.
        None if outcome == Outcome::NotSent => {
            let ended = Ended {
                outcome,
                state: State::Refused,
                other_attempt: None,
            };
            return Ok((ended, 0));
        }
        None => {}
    }
    statements.later(
        "UPDATE runs SET outcome = ?3, http_status = ?4, booking_id = ?5, ended_at = ?6, abandoned = 0
         WHERE idempotency_key = ?1 AND number = ?2",
        values![
            &run.key,
            run.number,
            outcome.as_str(),
            end.http_status,
            id,
            now,
        ],
    )?;
    let is_open = matches!(outcome, Outcome::InDoubt | Outcome::AnotherBooking);
    let request = is_open.then_some((end.request, end.asked));
    let state = derive(statements, &run.key, &runs, request, now)?;
    if let Some(booking) = booking {
        bookings::keep(statements, &run.key, booking)?;
    }
    let ended = Ended {
        outcome,
        state,
        other_attempt,
    };
    let purged = match is_to_purge {
        true => guests::purge(statements, journal)?,
        false => 0,
    };
    Ok((ended, purged))
}

fn at_another_service(origin: &str) -> Error {
    Error::usage(format!(
        "this idempotency key was already used at another service, {origin}; nothing was sent"
    ))
    .hint("use a new key, or for a batch a new name with --batch")
}

fn for_another_request(known: &Attempt) -> Error {
    let what = "this idempotency key was already used for another request; nothing was sent";
    let hint = match (&known.booking_id, known.state) {
        (Some(id), _) => format!("it made {id}; for another booking, use a new key"),
        (None, State::Unsettled) => format!(
            "that request may be booked; to find out: bookctl attempts resume {}; for another booking, use a new key",
            shell::argument(&known.idempotency_key)
        ),
        (None, _) => "for another booking, use a new key".to_owned(),
    };
    Error::usage(what).hint(hint)
}

#[cfg(test)]
mod tests;
