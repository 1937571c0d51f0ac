//! Writes the runs of an attempt. Each begins in a synced transaction before anything is sent, and ends by itself.

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::attempts::{OTHER_ATTEMPT, another_account, attempt, hold_beside, open_here};
use super::judgement::LastTry;
use super::protocol::{Attempt, End, Forbidden, begin, end};
use super::rate_limit_window::{self, Admission, RateLimitWindow, ServiceClock};
use super::runs::{Earlier, Outcome, Run, State};
use super::save::save;
use super::scope::Scope;
use super::wish::Request;
use super::{Journal, bookings, guests};
use crate::model::booking::Booking;
use crate::model::shell;
use crate::outcome::{Code, Error, Result};
use crate::platform::sql::{Answer, Statements, values};

/// A run that this process has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunId {
    key: String,
    /// Distinguishes the run from all others.
    token: String,
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
    /// Nothing was recorded: the attempt under this other key is open, and is for the same booking.
    OpenUnder(String),
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
    /// The terms of the slot that was asked for; they are kept with the booking.
    pub(crate) terms: Option<&'a Value>,
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
    /// # Errors
    ///
    /// `usage` (2) if the key was used for another request or at another service, `config` (3) if another
    /// organization's API key may have booked with it. Nothing is recorded then.
    pub(crate) fn begin(&mut self, intent: &Intent<'_>) -> Result<BeginOutcome> {
        let token = Uuid::now_v7().to_string();
        let begun = self.write(|statements, scope| intent.write(statements, scope, &token))?;
        let (outcome, learns) = begun.map_err(|refused| refused.idempotency_key(intent.key))?;
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
        let learns = self.learns.take();
        let (ended, purged) = self.write(|statements, journal| {
            if let Some(limit) = &learns {
                let was_answered = end.http_status.is_some();
                rate_limit_window::end_learning(statements, journal, limit, was_answered)?;
            }
            write_end(statements, journal, run, end)
        })?;
        if ended.outcome == Outcome::Booked {
            self.last_kept = end.booking.cloned();
        }
        self.clean_after(purged);
        Ok(ended)
    }

    /// Gives up the runs whose outcome is unknown. The attempt stays in the journal.
    pub(crate) fn abandon(&mut self, key: &str) -> Result<State> {
        let (state, purged) = self.write(|statements, journal| {
            let (before, _) = hold_beside(statements, key, &[])?;
            let mut attempt = before.clone();
            attempt.as_mut().map(Attempt::abandon).unwrap_or_default();
            save(statements, before.as_ref(), attempt.as_ref())?;
            let state = attempt.map_or(State::Unsettled, |it| it.state);
            Ok((state, guests::purge(statements, journal)?))
        })?;
        self.clean_after(purged);
        Ok(state)
    }
}

/// A run that is to begin.
pub(crate) struct Intent<'a> {
    pub(crate) key: &'a str,
    pub(crate) request: &'a Value,
    /// What is asked for in the contract's shape, where `request` has another one. If the attempt asked for the same
    /// before, its own request counts.
    pub(crate) asked: Option<&'a Value>,
    /// Whether the booking may be made although an open attempt under another key is for the same: the caller chose a new
    /// key, or a person wants to.
    pub(crate) may_be_second: bool,
    /// The name of the rate limit that the request counts towards, and the service's clock.
    pub(crate) counted_in: Option<(&'a str, ServiceClock<'a>)>,
}

/// What a run that is to begin depends on.
struct Held {
    known: Option<Attempt>,
    window: Option<RateLimitWindow>,
    /// The open attempts, without their runs, where they count.
    others: Vec<Attempt>,
}

/// What became of an intent, and the rate limit that its request shows first; or why it is refused.
type Written = std::result::Result<(BeginOutcome, Option<String>), Error>;

impl Intent<'_> {
    fn write(&self, statements: &dyn Statements, scope: &Scope, token: &str) -> Answer<Written> {
        let Held {
            known,
            window,
            others,
        } = self.held(statements, scope)?;
        let first = self.first(scope, token);
        let begun = match begin(known.clone(), first, scope.takes_any_account, &others) {
            Ok(begun) => begun,
            Err(Forbidden::OpenUnder(key)) => return Ok(Ok((BeginOutcome::OpenUnder(key), None))),
            Err(forbidden) => return Ok(Err(in_words(&forbidden, known.as_ref()))),
        };
        let mut learns = None;
        if let Some((limit, clock)) = self.counted_in.filter(|_| begun.is_new) {
            match rate_limit_window::count(statements, scope, limit, window, clock)? {
                Admission::Sent => {}
                Admission::SentFirst => learns = Some(limit.to_owned()),
                Admission::Awaited => return Ok(Ok((BeginOutcome::RateLimitAwaited, None))),
                Admission::Exhausted(window) => {
                    return Ok(Ok((BeginOutcome::RateLimited(window), None)));
                }
            }
        }
        save(statements, known.as_ref(), Some(&begun.attempt))?;
        let outcome = BeginOutcome::Run {
            run: RunId {
                key: self.key.to_owned(),
                token: token.to_owned(),
            },
            earlier: begun.earlier,
            known: known.map(Box::new),
        };
        Ok(Ok((outcome, learns)))
    }

    /// Finds what it depends on with one wait. Others wait until the transaction ends, also for the window, before the open
    /// attempts are looked at.
    fn held(&self, statements: &dyn Statements, scope: &Scope) -> Answer<Held> {
        let find = format!("{} FOR UPDATE", rate_limit_window::FIND);
        let limit = self.counted_in.map_or("", |(limit, _)| limit);
        let (of, open) = (rate_limit_window::of(scope, limit), open_here());
        let (is_counted, looks) = (self.counted_in.is_some(), !self.may_be_second);
        let at = values![&scope.origin];
        let window = is_counted.then_some((find.as_str(), of.as_slice()));
        let others = looks.then_some((open.as_str(), at.as_slice()));
        let beside: Vec<_> = window.into_iter().chain(others).collect();
        let (known, found) = hold_beside(statements, self.key, &beside)?;
        let mut found = found.into_iter();
        let mut next = |is_there: bool| match is_there {
            true => found.next().unwrap_or_default(),
            false => Vec::new(),
        };
        let (window, others) = (next(is_counted).into_iter().next(), next(looks));
        let others = others.into_iter().map(attempt);
        Ok(Held {
            known,
            window: window.map(rate_limit_window::window).transpose()?,
            others: others.collect::<Answer<_>>()?,
        })
    }

    /// The attempt with its first run.
    fn first(&self, scope: &Scope, token: &str) -> Attempt {
        let now = Timestamp::now().to_string();
        Attempt {
            idempotency_key: self.key.to_owned(),
            origin: scope.origin.clone(),
            profile: scope.profile.clone(),
            account: Some(scope.account.clone()),
            request: Request::new(self.request, self.asked),
            forgotten_at: None,
            created_at: now.clone(),
            runs: vec![Run {
                number: 1,
                token: token.to_owned(),
                account: Some(scope.account.clone()),
                maker: Some(scope.maker.clone()),
                process: Some(std::process::id()),
                outcome: Outcome::UnderWay,
                abandoned: false,
                http_status: None,
                booking_id: None,
                started_at: now,
                ended_at: None,
            }],
            state: State::Unsettled,
            booking_id: None,
            http_status: None,
        }
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
    told: &RunEnd<'_>,
) -> Answer<(Ended, usize)> {
    let id = told.booking.map(Booking::id);
    let Found {
        attempt: before,
        is_to_purge,
        other_attempt,
    } = find_for_end(statements, journal, &run.key, id)?;
    let told_end = End {
        token: run.token.clone(),
        last: told.last,
        in_doubt: told.in_doubt,
        booking_id: id.map(str::to_owned),
        is_of_another_key: other_attempt.is_some(),
        http_status: told.http_status,
        ended_at: Timestamp::now().to_string(),
    };
    let sent = Request::new(told.request, told.asked);
    let (attempt, outcome, state) = end(before.clone(), told_end, sent);
    save(statements, before.as_ref(), attempt.as_ref())?;
    if let Some(booking) = told.booking.filter(|_| outcome == Outcome::Booked) {
        bookings::keep(statements, &run.key, booking, told.terms)?;
    }
    let purged = match is_to_purge {
        true => guests::purge(statements, journal)?,
        false => 0,
    };
    let ended = Ended {
        outcome,
        state,
        other_attempt,
    };
    Ok((ended, purged))
}

/// The error for a run that may not begin.
fn in_words(forbidden: &Forbidden<String>, known: Option<&Attempt>) -> Error {
    match (forbidden, known) {
        (Forbidden::AnotherService, Some(known)) => at_another_service(&known.origin),
        (Forbidden::AnotherAccount, Some(known)) => another_account(known),
        (_, Some(known)) => for_another_request(known),
        (_, None) => Error::journal("the attempt is not in the journal"),
    }
}

fn at_another_service(origin: &str) -> Error {
    let what = format!(
        "this idempotency key was already used at another service, {origin}; nothing was sent"
    );
    Error::new(Code::AnotherBooking, what)
        .hint("use a new key, or for a batch a new name with --batch")
}

fn for_another_request(known: &Attempt) -> Error {
    let what = "this idempotency key was already used for another request; nothing was sent";
    let hint = match (&known.booking_id, known.state) {
        (Some(id), _) => format!("it made {id}; for another booking, use a new key"),
        (None, State::Unsettled) => format!(
            "that request may be booked; to find out: {}; for another booking, use a new key",
            shell::command("attempts resume", &known.idempotency_key, "")
        ),
        (None, _) => "for another booking, use a new key".to_owned(),
    };
    Error::new(Code::AnotherBooking, what).hint(hint)
}

#[cfg(test)]
mod tests;
