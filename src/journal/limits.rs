//! What is left of the service's rate limits (spec, Limits), shared by all processes here.
//!
//! Requests are counted here before they are sent, so that processes that run at the same time do
//! not all use the same last request. The service's answers then correct the count.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::Journal;
use super::claim::is_over;
use super::scope::Scope;
use crate::outcome::Result;
use crate::platform::sql::{Sql, SqlResult, SqlRow, values};

/// With more requests left than this, even many processes do not exhaust the window unnoticed.
const PLENTY: u32 = 8;
/// Resets are reported in whole seconds, so two answers may differ by this much.
const SLACK: SignedDuration = SignedDuration::from_secs(2);
/// The assumed length of the next window, until an answer reports it (spec, Limits 1).
const LENGTH: SignedDuration = SignedDuration::from_mins(5);
/// How long one computer has to learn an unknown window before the next one sends a request too, in
/// milliseconds. Even if no response comes, fewer requests are then under way than a window allows.
const LEARNING: i64 = 5_000;
/// What is left of an unknown window. Its end is when the learning ends, by the journal's clock, or
/// `NO_LIMIT_HEADER`.
const UNKNOWN: u32 = u32::MAX;
/// The end of a window if the service sends no header for it.
const NO_LIMIT_HEADER: i64 = 0;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RateLimitWindow {
    /// Named for its endpoint, such as `POST /v1/bookings`.
    pub(crate) name: String,
    pub(crate) allowed: u32,
    pub(crate) remaining: u32,
    /// By the service's clock.
    pub(crate) resets_at: Timestamp,
    /// The service's clock minus ours, when the window was seen.
    pub(crate) skew: SignedDuration,
    /// By our clock.
    pub(crate) seen_at: Timestamp,
}

/// A clock of the service, which may be known from a window that was seen before.
pub(crate) type ServiceClock<'a> = &'a dyn Fn(Option<&RateLimitWindow>) -> Timestamp;

impl RateLimitWindow {
    /// Whether a request now (by the service's clock) would be refused.
    pub(crate) fn is_exhausted(&self, now: Timestamp) -> bool {
        self.remaining == 0 && self.lasts(now)
    }

    /// How many requests are left now (by the service's clock), and for how long.
    pub(crate) fn left(&self, now: Timestamp) -> (u32, Duration) {
        if !self.lasts(now) {
            return (self.allowed, Duration::ZERO);
        }
        (self.remaining, Duration::try_from(self.resets_at.duration_since(now)).unwrap_or_default())
    }

    /// Whether it is unknown: its first request has no response yet, or the service sends none.
    fn is_unknown(&self) -> bool {
        self.allowed == 0 && self.remaining == UNKNOWN
    }

    /// Whether the window has not reset yet. If it resets later than a window can last, one of the
    /// clocks was set back since, and nothing is known.
    fn lasts(&self, now: Timestamp) -> bool {
        now < self.resets_at && self.resets_at.duration_since(now) <= LENGTH + SLACK
    }

    /// The window after one more request is sent now; `None` if it is exhausted.
    fn after_request(mut self, now: Timestamp) -> Option<RateLimitWindow> {
        if !self.lasts(now) {
            // The next window. Its length is assumed to be the maximum until an answer reports it.
            // A limit of 0 is not believed, or nothing would ever be sent again.
            self.remaining = self.allowed.max(1);
            self.resets_at = now.saturating_add(LENGTH).unwrap_or(Timestamp::MAX);
        }
        self.remaining = self.remaining.checked_sub(1)?;
        Some(self)
    }
}

/// Whether a request may be sent, as far as its rate limit is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Sent,
    /// It is the first. Others wait for its answer, which shows the window.
    Probing,
    /// Another computer has sent the first request, and has no response yet.
    Awaited,
    /// The service would refuse it until this window resets.
    Exhausted(RateLimitWindow),
}

/// Updates the stored window of this name by a response, within a transaction; deletes it if the
/// service has it no more. A response never gives back what others have used meanwhile.
pub(super) fn store_observed(
    statements: &dyn Sql,
    scope: &Scope,
    (name, seen): &(String, Option<RateLimitWindow>),
) -> SqlResult<()> {
    let Some(seen) = seen else {
        let delete = "DELETE FROM limits WHERE origin = ?1 AND bucket = ?2 AND allowed > 0";
        return statements.execute_deferred(delete, values![&scope.origin, name]).map(drop);
    };
    let slack = SLACK.as_millis();
    let if_stored = format!(
        "ON CONFLICT (origin, bucket) DO UPDATE SET allowed = excluded.allowed, resets_at = excluded.resets_at,
         ahead = excluded.ahead, seen_at = excluded.seen_at,
         remaining = CASE WHEN excluded.resets_at <= limits.resets_at + {slack} AND limits.remaining < excluded.remaining
                          THEN limits.remaining ELSE excluded.remaining END"
    );
    store(statements, scope, seen, &if_stored)
}

impl Journal {
    pub(crate) fn rate_limits(&self) -> Result<Vec<RateLimitWindow>> {
        self.read(|statements, scope| {
            let query = "SELECT * FROM limits WHERE origin = ?1 ORDER BY bucket";
            let rows = statements.query(query, values![&scope.origin])?;
            let mut windows: Vec<_> = rows.iter().map(window).collect::<SqlResult<_>>()?;
            windows.retain(|window| !window.is_unknown());
            Ok(windows)
        })
    }

    pub(crate) fn rate_limit(&self, name: &str) -> Result<Option<RateLimitWindow>> {
        let found = self.read(|statements, scope| find(statements, scope, name, ""))?;
        Ok(found.filter(|window| !window.is_unknown()))
    }

    /// Counts a request sent now, if few are left. Returns the exhausted window if it must wait.
    pub(crate) fn count_request(
        &self,
        name: &str,
        clock: ServiceClock<'_>,
    ) -> Result<Option<RateLimitWindow>> {
        // With plenty left, the count is not worth a sync: the answer corrects it.
        let must_count = |window: RateLimitWindow| {
            window.remaining <= PLENTY || window.resets_at <= clock(Some(&window))
        };
        if !self.rate_limit(name)?.is_some_and(must_count) {
            return Ok(None);
        }
        self.write(|statements, scope| {
            let known = find(statements, scope, name, FOR_UPDATE)?;
            match known.filter(|window| !window.is_unknown()) {
                Some(known) => take(statements, scope, known, clock),
                None => Ok(None),
            }
        })
    }

    /// Deletes what the journal has of a sandbox that was reset. What ended there is made anew if
    /// it is asked for again.
    pub(crate) fn forget_sandbox(&self) -> Result<()> {
        const ENDED: &str = "FROM attempts WHERE origin = ?1 AND state <> 'unresolved'";
        self.write(|statements, scope| {
            let runs = format!(
                "DELETE FROM runs WHERE idempotency_key IN (SELECT idempotency_key {ENDED})"
            );
            let attempts = format!("DELETE {ENDED}");
            let all = ["limits", "bookings", "sightings", "batch_rows", "writes"];
            let all = all.map(|it| format!("DELETE FROM {it} WHERE origin = ?1"));
            for query in [runs, attempts].iter().chain(&all) {
                statements.execute(query, values![&scope.origin])?;
            }
            Ok(())
        })
    }

    /// Remembers a rate limit as a response showed it, or that it has none, for the next write.
    pub(crate) fn observe(&self, name: &str, seen: Option<RateLimitWindow>) {
        self.observed.borrow_mut().push((name.to_owned(), seen));
    }

    /// Stores what was observed, if nothing else has. That a limit is gone is no reason to write.
    pub(crate) fn write_observed(&self) -> Result<()> {
        if self.observed.borrow().iter().all(|seen| seen.1.is_none()) {
            return Ok(());
        }
        self.write(|_, _| Ok(()))
    }
}

/// Counts a request, within the transaction in which `known` was held.
pub(super) fn count(
    statements: &dyn Sql,
    scope: &Scope,
    is_shared: bool,
    name: &str,
    known: Option<RateLimitWindow>,
    clock: ServiceClock<'_>,
) -> SqlResult<Admission> {
    match known {
        None if !is_shared => Ok(Admission::Sent),
        Some(known) if !known.is_unknown() => {
            Ok(take(statements, scope, known, clock)?.map_or(Admission::Sent, Admission::Exhausted))
        }
        begun => probe_window(statements, scope, name, begun),
    }
}

/// Takes a request from a window that is known. Returns the window if it is exhausted.
fn take(
    statements: &dyn Sql,
    scope: &Scope,
    known: RateLimitWindow,
    clock: ServiceClock<'_>,
) -> SqlResult<Option<RateLimitWindow>> {
    let Some(taken) = known.clone().after_request(clock(Some(&known))) else {
        return Ok(Some(known));
    };
    store(statements, scope, &taken, REPLACE)?;
    Ok(None)
}

/// Lets one computer after the other send the first request, until an answer shows the window.
fn probe_window(
    statements: &dyn Sql,
    scope: &Scope,
    name: &str,
    begun: Option<RateLimitWindow>,
) -> SqlResult<Admission> {
    let until = begun.map(|begun| begun.resets_at.as_millisecond());
    if until == Some(NO_LIMIT_HEADER) {
        return Ok(Admission::Sent);
    }
    let now = statements.clock()?;
    if until.is_some_and(|until| !is_over(until, now, LEARNING)) {
        return Ok(Admission::Awaited);
    }
    let learning = RateLimitWindow {
        name: name.to_owned(),
        allowed: 0,
        remaining: UNKNOWN,
        resets_at: moment(now.saturating_add(LEARNING)),
        skew: SignedDuration::ZERO,
        seen_at: moment(now),
    };
    // Of two computers that both begin to learn it, one has a conflict, and looks again.
    let if_stored = if until.is_some() { REPLACE } else { "" };
    store(statements, scope, &learning, if_stored)?;
    Ok(Admission::Probing)
}

/// Ends the learning of a window. The next computer learns it, unless the service has answered
/// without telling of one.
pub(super) fn end_learning(
    statements: &dyn Sql,
    scope: &Scope,
    name: &str,
    was_answered: bool,
) -> SqlResult<()> {
    let ended = format!("UPDATE limits SET resets_at = {NO_LIMIT_HEADER}");
    let end = if was_answered { &ended } else { "DELETE FROM limits" };
    let learned = "WHERE origin = ?1 AND bucket = ?2 AND allowed = 0 AND remaining";
    let row = values![&scope.origin, name];
    statements.execute_deferred(&format!("{end} {learned} = {UNKNOWN}"), row).map(drop)
}

pub(super) const FOR_UPDATE: &str = " FOR UPDATE";

/// A window. With the lock `FOR_UPDATE` others wait until the transaction ends.
pub(super) fn find(
    statements: &dyn Sql,
    scope: &Scope,
    name: &str,
    lock: &str,
) -> SqlResult<Option<RateLimitWindow>> {
    let query = format!("SELECT * FROM limits WHERE origin = ?1 AND bucket = ?2{lock}");
    statements.first(&query, values![&scope.origin, name])?.as_ref().map(window).transpose()
}

/// What is done if a window is stored already.
const REPLACE: &str = "ON CONFLICT (origin, bucket) DO UPDATE SET allowed = excluded.allowed,
    remaining = excluded.remaining, resets_at = excluded.resets_at, ahead = excluded.ahead, seen_at = excluded.seen_at";

fn store(
    statements: &dyn Sql,
    scope: &Scope,
    window: &RateLimitWindow,
    if_stored: &str,
) -> SqlResult<()> {
    let store = format!(
        "INSERT INTO limits (origin, bucket, allowed, remaining, resets_at, ahead, seen_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) {if_stored}"
    );
    let row = values![
        &scope.origin,
        &window.name,
        window.allowed,
        window.remaining,
        window.resets_at.as_millisecond(),
        i64::try_from(window.skew.as_millis()).unwrap_or_default(),
        window.seen_at.as_millisecond(),
    ];
    statements.execute_deferred(&store, row).map(drop)
}

fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MIN)
}

fn window(row: &SqlRow) -> SqlResult<RateLimitWindow> {
    Ok(RateLimitWindow {
        name: row.get("bucket")?,
        allowed: row.get("allowed")?,
        remaining: row.get("remaining")?,
        resets_at: moment(row.get("resets_at")?),
        skew: SignedDuration::from_millis(row.get("ahead")?),
        seen_at: moment(row.get("seen_at")?),
    })
}

#[cfg(test)]
mod tests;
