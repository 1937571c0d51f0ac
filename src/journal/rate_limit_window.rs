//! One rate limit window, and how it is counted (spec, Limits): values, and the rows that hold them.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

/// An answer may be a second off: its reset is told in whole seconds.
const SLACK: SignedDuration = SignedDuration::from_secs(2);
/// How long a window is that nothing is known of yet but that the one before it is over (spec, Limits 1).
const LENGTH: SignedDuration = SignedDuration::from_mins(5);

/// One name of one account, as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RateLimitWindow {
    /// Named for its endpoint, as `POST /v1/bookings`.
    pub(crate) name: String,
    /// Requests that a window holds.
    pub(crate) allowed: u32,
    pub(crate) remaining: u32,
    /// By the service's clock.
    pub(crate) resets_at: Timestamp,
    /// The service's clock less ours, when it was seen.
    pub(crate) ahead: SignedDuration,
    /// By our clock.
    pub(crate) seen_at: Timestamp,
}

impl RateLimitWindow {
    /// Whether a request now, by the service's clock, would be refused.
    pub(crate) fn is_exhausted(&self, now: Timestamp) -> bool {
        self.remaining == 0 && self.lasts(now)
    }

    /// Whether it is still this window. One that would reset later than any does was seen by another clock: it was
    /// set back since, here or there, and nothing is known.
    pub(super) fn lasts(&self, now: Timestamp) -> bool {
        now < self.resets_at && self.resets_at.duration_since(now) <= LENGTH + SLACK
    }

    /// What is left of it now, by the service's clock, and until when: one that is over is whole again.
    pub(crate) fn left(&self, now: Timestamp) -> (u32, Duration) {
        if !self.lasts(now) {
            return (self.allowed, Duration::ZERO);
        }
        let resets_in = Duration::try_from(self.resets_at.duration_since(now)).unwrap_or_default();
        (self.remaining, resets_in)
    }

    /// The window after one request is sent now; `None` where it is shut.
    pub(super) fn taken(mut self, now: Timestamp) -> Option<RateLimitWindow> {
        if !self.lasts(now) {
            // The next one: how long it lasts is guessed, at most, until an answer tells. That it holds nothing at
            // all is not believed: nothing would be asked again.
            self.remaining = self.allowed.max(1);
            self.resets_at = now.saturating_add(LENGTH).unwrap_or(Timestamp::MAX);
        }
        self.remaining = self.remaining.checked_sub(1)?;
        Some(self)
    }

    /// What is known once an answer showed `seen`, while others may have sent more.
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

/// Counts a request within a transaction; the window, where it is shut.
pub(super) fn count_request(
    connection: &Connection,
    origin: &str,
    account: &str,
    name: &str,
    now: Timestamp,
) -> rusqlite::Result<Option<RateLimitWindow>> {
    let Some(known) = find(connection, origin, account, name)? else {
        return Ok(None);
    };
    match known.clone().taken(now) {
        Some(window) => store(connection, origin, account, &window).map(|()| None),
        None => Ok(Some(known)),
    }
}

/// Corrects what is known by what an answer showed, within a transaction.
pub(super) fn correct(
    connection: &Connection,
    origin: &str,
    account: &str,
    seen: RateLimitWindow,
) -> rusqlite::Result<()> {
    let window = match find(connection, origin, account, &seen.name)? {
        Some(known) => known.corrected(seen),
        None => seen,
    };
    store(connection, origin, account, &window)
}

pub(super) fn find(
    connection: &Connection,
    origin: &str,
    account: &str,
    name: &str,
) -> rusqlite::Result<Option<RateLimitWindow>> {
    connection
        .prepare_cached(
            "SELECT bucket, allowed, remaining, resets_at, ahead, seen_at FROM limits
             WHERE origin = ?1 AND account = ?2 AND bucket = ?3",
        )?
        .query_row([origin, account, name], window)
        .optional()
}

fn store(
    connection: &Connection,
    origin: &str,
    account: &str,
    window: &RateLimitWindow,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO limits (origin, account, bucket, allowed, remaining, resets_at, ahead, seen_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            origin,
            account,
            window.name,
            window.allowed,
            window.remaining,
            window.resets_at.as_millisecond(),
            i64::try_from(window.ahead.as_millis()).unwrap_or_default(),
            window.seen_at.as_millisecond(),
        ])
        .map(drop)
}

pub(super) fn window(row: &rusqlite::Row<'_>) -> rusqlite::Result<RateLimitWindow> {
    let moment = |millis: i64| Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MIN);
    Ok(RateLimitWindow {
        name: row.get(0)?,
        allowed: row.get(1)?,
        remaining: row.get(2)?,
        resets_at: moment(row.get(3)?),
        ahead: SignedDuration::from_millis(row.get(4)?),
        seen_at: moment(row.get(5)?),
    })
}
