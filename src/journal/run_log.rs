//! Writes the runs of an attempt. Each begins in a synced transaction before it sends.

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::attempts::{OPEN, abandoned, another_account, load_for_update, load_where, save};
use super::judgement::TryResult;
use super::limits::{self, Admission, RateLimitWindow, ServiceClock};
use super::protocol::{Attempt, End, Forbidden, begin, end};
use super::runs::{Earlier, Outcome, Run, State};
use super::scope::Scope;
use super::wish::RecordedRequest;
use super::{Journal, batch_rows, bookings, guests};
use crate::outcome::{Code, Error, Result};
use crate::platform::shell;
use crate::platform::sql::{Sql, SqlResult, values};
use crate::service::documents::booking::Booking;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunId {
    key: String,
    /// Distinguishes the run from all others.
    token: String,
    /// The rate limit that is not known, and for which other computers await this run's answer.
    awaited_limit: Option<String>,
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
    /// Nothing was recorded: the limit is unknown, and another computer waits to see it.
    RateLimitAwaited,
    /// Nothing was recorded, for this reason.
    Refused(Box<Error>),
}

#[derive(Debug)]
pub(crate) struct RunEnd<'a> {
    pub(crate) last: TryResult,
    /// Whether an earlier try of the run may have booked.
    pub(crate) in_doubt: bool,
    /// The status of the last answer, if one came, and the code of a refusal.
    pub(crate) http_status: Option<u16>,
    pub(crate) error_code: Option<&'a str>,
    /// The service's id of the request.
    pub(crate) request_id: Option<String>,
    /// The booking of the response, which is kept. It proves something only where `last` says that
    /// it was asked for.
    pub(crate) booking: Option<&'a Booking>,
    /// The terms of the slot that was asked for; they are kept with the booking.
    pub(crate) terms: Option<&'a Value>,
    pub(crate) request: &'a RecordedRequest,
}

/// What is known of an attempt when one of its runs has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) state: State,
    /// The key of another attempt here with the same booking, which then resolves nothing.
    pub(crate) other_attempt: Option<String>,
}

pub(crate) struct Intent<'a> {
    pub(crate) key: &'a str,
    /// If the attempt asked for the same before, its own request counts.
    pub(crate) request: &'a RecordedRequest,
    /// Whether the booking may be made although an open attempt under another key is for the same:
    /// the caller chose a new key, or a person wants to.
    pub(crate) allow_duplicate: bool,
    /// Whether the attempt is sent even if a person has abandoned it: the caller names its key.
    pub(crate) reopens: bool,
    /// The name of the rate limit that the request counts towards, and the service's clock.
    pub(crate) counted_in: Option<(&'a str, ServiceClock<'a>)>,
    /// The batch that must still have the row, and the row's first key.
    pub(crate) row: Option<(&'a str, &'a str)>,
}

impl Journal {
    /// Records a new run of the attempt under `key`, synced. The attempt is open from here on,
    /// until its runs prove otherwise. Where the key was used for another request or at another
    /// service (`another_booking`, 7), was abandoned (7), or another organization's API key may
    /// have booked with it (`config`, 3), nothing is recorded.
    pub(crate) fn record_begin(&self, intent: &Intent<'_>) -> Result<BeginOutcome> {
        let token = Uuid::now_v7().to_string();
        let is_shared = self.is_shared();
        self.write(|statements, scope| intent.write(statements, scope, is_shared, &token))
    }

    /// Records how a run ended, and returns what is known of its attempt then. One that was never
    /// sent is removed. One that stays open gets its whole request back, even if a person abandoned
    /// it or its guest was deleted in the meantime.
    pub(crate) fn record_end(&self, run: &RunId, end: &RunEnd<'_>) -> Result<Ended> {
        let (ended, purged) =
            self.write(|statements, scope| write_end(statements, scope, run, end))?;
        self.clean_after(purged);
        Ok(ended)
    }

    /// Resolves an attempt by its booking, which is as requested now that it is read again.
    pub(crate) fn resolve(&self, key: &str, booking: &Booking) -> Result<()> {
        let Some(attempt) = self.attempt(key)? else {
            return Ok(());
        };
        let mut runs = attempt.runs.iter().rev();
        let Some(run) = runs.find(|run| run.outcome == Outcome::InDoubt) else {
            return Ok(());
        };
        let id = RunId { key: key.to_owned(), token: run.token.clone(), awaited_limit: None };
        let end = RunEnd {
            last: TryResult::Booked,
            in_doubt: true,
            http_status: run.http_status,
            error_code: None,
            request_id: run.request_id.clone(),
            booking: Some(booking),
            terms: None,
            request: &attempt.request,
        };
        self.record_end(&id, &end).map(drop)
    }

    /// Gives up the runs whose outcome is unknown. The attempt stays in the journal.
    pub(crate) fn abandon(&self, key: &str) -> Result<State> {
        let (state, purged) = self.write(|statements, scope| {
            let before = load_for_update(statements, key)?;
            let mut attempt = before.clone();
            attempt.as_mut().map(Attempt::abandon).unwrap_or_default();
            save(statements, before.as_ref(), attempt.as_ref())?;
            let state = attempt.map_or(State::Unresolved, |it| it.state);
            Ok((state, guests::purge(statements, scope)?))
        })?;
        self.clean_after(purged);
        Ok(state)
    }
}

impl Intent<'_> {
    /// Writes it, unless it is refused. Others wait for the transaction and the window.
    fn write(
        &self,
        statements: &dyn Sql,
        scope: &Scope,
        is_shared: bool,
        token: &str,
    ) -> SqlResult<BeginOutcome> {
        if let Some((batch, row_key)) = self.row
            && !batch_rows::has_row(statements, scope, batch, row_key)?
        {
            let what = "the batch was started again without this row; nothing was sent";
            return Ok(BeginOutcome::Refused(Box::new(Error::new(Code::Unsent, what))));
        }
        let known = load_for_update(statements, self.key)?;
        if let Some(known) = known.as_ref().filter(|it| it.state == State::Abandoned)
            && !self.reopens
        {
            return Ok(BeginOutcome::Refused(Box::new(abandoned(known))));
        }
        let window = match self.counted_in {
            Some((limit, _)) => limits::find(statements, scope, limit, limits::FOR_UPDATE)?,
            None => None,
        };
        let others = if self.allow_duplicate {
            Vec::new()
        } else {
            load_where(statements, OPEN, values![&scope.origin], "")?
        };
        let account = Some(scope.account.clone());
        let run = Run {
            maker: Some(scope.maker.clone()),
            process: Some(std::process::id()),
            ..Run::begun(token.to_owned(), account, Timestamp::now().to_string())
        };
        let (key, origin) = (self.key.to_owned(), scope.origin.clone());
        let first = Attempt {
            profile: scope.profile.clone(),
            ..Attempt::first(key, origin, self.request.clone(), run)
        };
        let begun = begin(known.clone(), first, scope.takes_any_account.get(), &others);
        let begun = match begun {
            Ok(begun) => begun,
            Err(Forbidden::OpenUnder(key)) => return Ok(BeginOutcome::OpenUnder(key)),
            Err(forbidden) => {
                let refused = in_words(&forbidden, known.as_ref()).idempotency_key(self.key);
                return Ok(BeginOutcome::Refused(Box::new(refused)));
            }
        };
        let mut awaited_limit = None;
        if let Some((limit, clock)) = self.counted_in.filter(|_| begun.is_new) {
            match limits::count(statements, scope, is_shared, limit, window, clock)? {
                Admission::Sent => {}
                Admission::Probing => awaited_limit = Some(limit.to_owned()),
                Admission::Awaited => return Ok(BeginOutcome::RateLimitAwaited),
                Admission::Exhausted(window) => return Ok(BeginOutcome::RateLimited(window)),
            }
        }
        save(statements, known.as_ref(), Some(&begun.attempt))?;
        Ok(BeginOutcome::Run {
            run: RunId { key: self.key.to_owned(), token: token.to_owned(), awaited_limit },
            earlier: begun.earlier,
            known: known.map(Box::new),
        })
    }
}

/// The key of another attempt (not ?3) at a service that has the same booking.
const OTHER_ATTEMPT: &str = "
    SELECT idempotency_key FROM attempts WHERE origin = ?1 AND booking_id = ?2 AND idempotency_key <> ?3 LIMIT 1";

/// Returns, beside what is known then, how many guests were deleted.
fn write_end(
    statements: &dyn Sql,
    scope: &Scope,
    run: &RunId,
    reported: &RunEnd<'_>,
) -> SqlResult<(Ended, usize)> {
    if let Some(limit) = &run.awaited_limit {
        limits::end_learning(statements, scope, limit, reported.http_status.is_some())?;
    }
    let before = load_for_update(statements, &run.key)?;
    let is_proof = reported.last == TryResult::Booked;
    let id = reported.booking.map(Booking::id).filter(|_| is_proof);
    let other_attempt: Option<String> = match id {
        Some(id) => {
            let row = statements.first(OTHER_ATTEMPT, values![&scope.origin, id, &run.key])?;
            row.map(|row| row.get_at(0)).transpose()?
        }
        None => None,
    };
    let told_end = End {
        token: run.token.clone(),
        last: reported.last,
        in_doubt: reported.in_doubt,
        booking_id: id.map(str::to_owned),
        is_of_another_key: other_attempt.is_some(),
        http_status: reported.http_status,
        error_code: reported.error_code.map(str::to_owned),
        request_id: reported.request_id.clone(),
        ended_at: Timestamp::now().to_string(),
    };
    let sent = reported.request.clone();
    let (attempt, outcome, state) = end(before.clone(), told_end, sent);
    save(statements, before.as_ref(), attempt.as_ref())?;
    // One that proves nothing is marked: recorded while its attempt is unresolved.
    if let (Some(booking), Some(attempt)) = (reported.booking, &attempt)
        && (outcome == Outcome::Booked || !is_proof)
    {
        bookings::keep(statements, scope, attempt, booking, reported.terms)?;
    }
    let ended = Ended { outcome, state, other_attempt };
    Ok((ended, guests::purge(statements, scope)?))
}

fn in_words(forbidden: &Forbidden<String>, known: Option<&Attempt>) -> Error {
    let Some(known) = known else {
        return Error::journal("the request is not in the journal");
    };
    let (mut what, mut hint) =
        ("for another request".to_owned(), "use a new key for another booking".to_owned());
    match (forbidden, &known.booking_id) {
        (Forbidden::AnotherAccount, _) => return another_account(known),
        (Forbidden::AnotherService, _) => {
            what = format!("at another service, {}", known.origin);
            hint = "use a new key, or for a batch a new name with --name".to_owned();
        }
        (_, Some(id)) => hint = format!("this key made {id}; {hint}"),
        (_, None) if known.state == State::Unresolved => {
            let check = shell::command("attempts resume", &known.idempotency_key, "");
            hint = format!("that request may have booked; check it: {check}; {hint}");
        }
        (_, None) => {}
    }
    let what = format!("this idempotency key was already used {what}; nothing was sent");
    Error::new(Code::AnotherBooking, what).hint(hint)
}

#[cfg(test)]
mod tests;
