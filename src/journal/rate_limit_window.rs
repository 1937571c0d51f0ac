//! A window of a rate limit (spec, Limits): how requests are counted in it, and its row in the journal.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::scope::Scope;
use crate::platform::sql::{Answer, Row, Statements, values};

/// Resets are reported in whole seconds, so two answers may differ by this much.
const SLACK: SignedDuration = SignedDuration::from_secs(2);
/// The assumed length of the next window, until an answer reports it (spec, Limits 1).
const LENGTH: SignedDuration = SignedDuration::from_mins(5);

/// The window of one rate limit of one account, as it was last seen.
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

    /// The window after an answer has shown `seen`. Other processes may have sent more since.
    pub(super) fn corrected(self, seen: RateLimitWindow) -> RateLimitWindow {
        let later = self
            .resets_at
            .saturating_add(SLACK)
            .unwrap_or(Timestamp::MAX);
        let same = seen.resets_at <= later;
        RateLimitWindow {
            remaining: if same {
                seen.remaining.min(self.remaining)
            } else {
                seen.remaining
            },
            ..seen
        }
    }
}

/// Counts a request, within a transaction. Returns the window if it is exhausted.
pub(super) fn count_request(
    statements: &dyn Statements,
    scope: &Scope,
    name: &str,
    now: Timestamp,
) -> Answer<Option<RateLimitWindow>> {
    let Some(known) = held(statements, scope, name)? else {
        return Ok(None);
    };
    match known.clone().taken(now) {
        Some(window) => store(statements, scope, &window, REPLACE).map(|_| None),
        None => Ok(Some(known)),
    }
}

/// Updates the stored window with what an answer has shown, within a transaction.
pub(super) fn correct(
    statements: &dyn Statements,
    scope: &Scope,
    seen: RateLimitWindow,
) -> Answer<()> {
    loop {
        if let Some(known) = held(statements, scope, &seen.name)? {
            return store(statements, scope, &known.corrected(seen), REPLACE).map(drop);
        }
        // Another process may have stored it in between.
        if store(statements, scope, &seen, "NOTHING")? {
            return Ok(());
        }
    }
}

pub(super) fn find(
    statements: &dyn Statements,
    scope: &Scope,
    name: &str,
) -> Answer<Option<RateLimitWindow>> {
    one(statements, FIND, scope, name)
}

/// The same, for a transaction that changes it: others wait until the transaction ends.
fn held(statements: &dyn Statements, scope: &Scope, name: &str) -> Answer<Option<RateLimitWindow>> {
    one(statements, &format!("{FIND} FOR UPDATE"), scope, name)
}

const FIND: &str = "
    SELECT bucket, allowed, remaining, resets_at, ahead, seen_at FROM limits
    WHERE origin = ?1 AND account = ?2 AND bucket = ?3";

fn one(
    statements: &dyn Statements,
    query: &str,
    scope: &Scope,
    name: &str,
) -> Answer<Option<RateLimitWindow>> {
    let row = statements.first(query, values![&scope.origin, &scope.account, name])?;
    row.map(window).transpose()
}

/// What is done if a window is stored already.
const REPLACE: &str = "UPDATE SET allowed = excluded.allowed, remaining = excluded.remaining,
    resets_at = excluded.resets_at, ahead = excluded.ahead, seen_at = excluded.seen_at";

/// Returns whether the window was stored.
fn store(
    statements: &dyn Statements,
    scope: &Scope,
    window: &RateLimitWindow,
    if_stored: &str,
) -> Answer<bool> {
    let store = format!(
        "INSERT INTO limits (origin, account, bucket, allowed, remaining, resets_at, ahead, seen_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (origin, account, bucket) DO {if_stored}"
    );
    let row = values![
        &scope.origin,
        &scope.account,
        &window.name,
        window.allowed,
        window.remaining,
        window.resets_at.as_millisecond(),
        i64::try_from(window.ahead.as_millis()).unwrap_or_default(),
        window.seen_at.as_millisecond(),
    ];
    Ok(statements.execute(&store, row)? == 1)
}

pub(super) fn window(mut row: Row) -> Answer<RateLimitWindow> {
    let moment = |millis: i64| Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MIN);
    Ok(RateLimitWindow {
        name: row.take(0)?,
        allowed: row.take(1)?,
        remaining: row.take(2)?,
        resets_at: moment(row.take(3)?),
        ahead: SignedDuration::from_millis(row.take(4)?),
        seen_at: moment(row.take(5)?),
    })
}
