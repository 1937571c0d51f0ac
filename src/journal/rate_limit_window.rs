//! A window of a rate limit (spec, Limits): how requests are counted in it, and its row in the journal.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::lease::is_over;
use super::scope::Scope;
use crate::platform::sql::{Answer, Row, Statements, Value, values};

/// Resets are reported in whole seconds, so two answers may differ by this much.
const SLACK: SignedDuration = SignedDuration::from_secs(2);
/// The assumed length of the next window, until an answer reports it (spec, Limits 1).
const LENGTH: SignedDuration = SignedDuration::from_mins(5);

/// The window of one rate limit of a service, as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RateLimitWindow {
    /// Named for its endpoint, such as `POST /v1/bookings`.
    pub(crate) name: String,
    /// Requests per window.
    pub(crate) allowed: u32,
    pub(crate) remaining: u32,
    /// By the service's clock.
    pub(crate) resets_at: Timestamp,
    /// The service's clock minus ours, when the window was seen.
    pub(crate) ahead: SignedDuration,
    /// By our clock.
    pub(crate) seen_at: Timestamp,
}

impl RateLimitWindow {
    /// Whether a request now (by the service's clock) would be refused.
    pub(crate) fn is_exhausted(&self, now: Timestamp) -> bool {
        self.remaining == 0 && self.lasts(now)
    }

    /// Whether nothing is known of it, because its first request has no answer yet, or the service tells nothing.
    pub(super) fn is_unknown(&self) -> bool {
        self.allowed == 0 && self.remaining == UNKNOWN
    }

    /// Whether the window has not reset yet. If it resets later than a window can last, one of the clocks was set back
    /// since, and nothing is known.
    pub(super) fn lasts(&self, now: Timestamp) -> bool {
        now < self.resets_at && self.resets_at.duration_since(now) <= LENGTH + SLACK
    }

    /// How many requests are left now (by the service's clock), and for how long. After the reset all are.
    pub(crate) fn left(&self, now: Timestamp) -> (u32, Duration) {
        if !self.lasts(now) {
            return (self.allowed, Duration::ZERO);
        }
        let resets_in = Duration::try_from(self.resets_at.duration_since(now)).unwrap_or_default();
        (self.remaining, resets_in)
    }

    /// The window after one more request is sent now; `None` if it is exhausted.
    pub(super) fn taken(mut self, now: Timestamp) -> Option<RateLimitWindow> {
        if !self.lasts(now) {
            // The next window. Its length is assumed to be the maximum until an answer reports it. A limit of 0 is not
            // believed, or nothing would ever be sent again.
            self.remaining = self.allowed.max(1);
            self.resets_at = now.saturating_add(LENGTH).unwrap_or(Timestamp::MAX);
        }
        self.remaining = self.remaining.checked_sub(1)?;
        Some(self)
    }
}

/// How long a machine has to learn a window that nobody has seen, before the next one sends a request too. Even if the
/// service answers nobody, fewer requests are then under way than a window takes.
const LEARNING: i64 = 5_000;
/// What is left of a window of which nothing is known. Its end is that of the learning, by the journal's clock, or `UNTOLD`.
const UNKNOWN: u32 = u32::MAX;
/// The end of a window of which the service tells nothing.
const UNTOLD: i64 = 0;

/// Whether a request may be sent, as far as its rate limit is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is counted.
    Sent,
    /// It is the first. Others wait for its answer, which shows the window.
    SentFirst,
    /// Another machine has sent the first request, and has no answer yet.
    Awaited,
    /// The service would refuse it until this window resets.
    Exhausted(RateLimitWindow),
}

/// A clock of the service, which may be known from a window that was seen before.
pub(crate) type ServiceClock<'a> = &'a dyn Fn(Option<&RateLimitWindow>) -> Timestamp;

/// Counts a request, within the transaction in which `known` was read for an update.
pub(super) fn count(
    statements: &dyn Statements,
    scope: &Scope,
    name: &str,
    known: Option<RateLimitWindow>,
    clock: ServiceClock<'_>,
) -> Answer<Admission> {
    match known {
        None if !scope.is_shared => Ok(Admission::Sent),
        None => learn(statements, scope, name, None),
        Some(known) if known.is_unknown() => learn(statements, scope, name, Some(&known)),
        Some(known) => match known.clone().taken(clock(Some(&known))) {
            Some(window) => {
                store(statements, scope, &window, REPLACE)?;
                Ok(Admission::Sent)
            }
            None => Ok(Admission::Exhausted(known)),
        },
    }
}

/// Lets one machine after the other send the first request, until an answer shows the window.
fn learn(
    statements: &dyn Statements,
    scope: &Scope,
    name: &str,
    begun: Option<&RateLimitWindow>,
) -> Answer<Admission> {
    let until = begun.map(|begun| begun.resets_at.as_millisecond());
    if until == Some(UNTOLD) {
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
        ahead: SignedDuration::ZERO,
        seen_at: moment(now),
    };
    // Of two machines that both begin to learn it, one has a conflict, and looks again.
    let if_stored = if begun.is_some() { REPLACE } else { "" };
    store(statements, scope, &learning, if_stored)?;
    Ok(Admission::SentFirst)
}

/// Ends the learning of a window which no answer has shown. The next machine learns it, unless the service has answered
/// without telling of one.
pub(super) fn end_learning(
    statements: &dyn Statements,
    scope: &Scope,
    name: &str,
    was_answered: bool,
) -> Answer<()> {
    let end = match was_answered {
        true => format!("UPDATE limits SET resets_at = {UNTOLD}"),
        false => "DELETE FROM limits".to_owned(),
    };
    let end = format!(
        "{end} WHERE origin = ?1 AND bucket = ?2 AND allowed = 0 AND remaining = {UNKNOWN}"
    );
    statements.later(&end, &of(scope, name)).map(drop)
}

/// What an answer has shown of a rate limit.
pub(super) enum ObservedLimit {
    Window(RateLimitWindow),
    /// The service has the limit of this name no more.
    None(String),
}

impl ObservedLimit {
    /// Updates the stored window, within a transaction.
    pub(super) fn store(&self, statements: &dyn Statements, scope: &Scope) -> Answer<()> {
        match self {
            ObservedLimit::Window(seen) => correct(statements, scope, seen),
            ObservedLimit::None(name) => {
                let delete = "DELETE FROM limits WHERE origin = ?1 AND bucket = ?2 AND allowed > 0";
                statements.later(delete, &of(scope, name)).map(drop)
            }
        }
    }
}

/// Within a window an answer never gives back what others have taken meanwhile.
fn correct(statements: &dyn Statements, scope: &Scope, seen: &RateLimitWindow) -> Answer<()> {
    let slack = SLACK.as_millis();
    let if_stored = format!(
        "ON CONFLICT (origin, bucket) DO UPDATE SET allowed = excluded.allowed, resets_at = excluded.resets_at,
         ahead = excluded.ahead, seen_at = excluded.seen_at,
         remaining = CASE WHEN excluded.resets_at <= limits.resets_at + {slack} AND limits.remaining < excluded.remaining
                          THEN limits.remaining ELSE excluded.remaining END"
    );
    store(statements, scope, seen, &if_stored)
}

pub(super) fn find(
    statements: &dyn Statements,
    scope: &Scope,
    name: &str,
) -> Answer<Option<RateLimitWindow>> {
    let row = statements.first(FIND, of(scope, name).as_slice())?;
    let found = row.map(window).transpose()?;
    Ok(found.filter(|window| !window.is_unknown()))
}

/// The values of `FIND`.
pub(super) fn of<'a>(scope: &'a Scope, name: &'a str) -> [Value<'a>; 2] {
    [Value::from(&scope.origin), Value::from(name)]
}

pub(super) const FIND: &str = "
    SELECT bucket, allowed, remaining, resets_at, ahead, seen_at FROM limits
    WHERE origin = ?1 AND bucket = ?2";

/// What is done if a window is stored already.
const REPLACE: &str = "ON CONFLICT (origin, bucket) DO UPDATE SET allowed = excluded.allowed,
    remaining = excluded.remaining, resets_at = excluded.resets_at, ahead = excluded.ahead, seen_at = excluded.seen_at";

fn store(
    statements: &dyn Statements,
    scope: &Scope,
    window: &RateLimitWindow,
    if_stored: &str,
) -> Answer<()> {
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
        i64::try_from(window.ahead.as_millis()).unwrap_or_default(),
        window.seen_at.as_millisecond(),
    ];
    statements.later(&store, row).map(drop)
}

fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MIN)
}

pub(super) fn window(mut row: Row) -> Answer<RateLimitWindow> {
    Ok(RateLimitWindow {
        name: row.take(0)?,
        allowed: row.take(1)?,
        remaining: row.take(2)?,
        resets_at: moment(row.take(3)?),
        ahead: SignedDuration::from_millis(row.take(4)?),
        seen_at: moment(row.take(5)?),
    })
}
