//! The sandbox's clock. It goes ahead of real time, or stands still.

use jiff::Timestamp;
use rusqlite::Connection;

use super::tx::{Tx, moment};
use crate::sandbox::rules::api_error::ApiError;

/// What the clock shows, without reading the database again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) offset_ms: i64,
    pub(super) frozen_at: Option<i64>,
}

impl Clock {
    /// How the clock is set.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        connection
            .prepare_cached("SELECT offset_ms, frozen_at FROM clock")?
            .query_row((), |row| {
                Ok(Self {
                    offset_ms: row.get(0)?,
                    frozen_at: row.get(1)?,
                })
            })
    }

    /// The time in milliseconds.
    pub(super) fn now(self) -> i64 {
        let going = || real_now().saturating_add(self.offset_ms);
        self.frozen_at.unwrap_or_else(going)
    }
}

/// Real time in milliseconds.
pub(super) fn real_now() -> i64 {
    Timestamp::now().as_millisecond()
}

impl Tx<'_> {
    /// How many seconds the clock is ahead of real time.
    pub(crate) fn offset_seconds(&self) -> i64 {
        let clock = self.clock;
        let ahead = clock.frozen_at.map(|at| at.saturating_sub(real_now()));
        ahead.unwrap_or(clock.offset_ms) / 1_000
    }

    /// Whether the clock stands still.
    pub(crate) const fn is_frozen(&self) -> bool {
        self.clock.frozen_at.is_some()
    }

    /// Moves the clock to a later moment and applies what is due by then. Returns the transaction at the new time.
    pub(crate) fn move_to(&self, at: Timestamp) -> Result<Self, ApiError> {
        let by = at
            .as_millisecond()
            .saturating_sub(self.now.as_millisecond());
        self.sql("UPDATE clock SET offset_ms = offset_ms + ?1, frozen_at = frozen_at + ?1")?
            .execute([by])?;
        let tx = self.again()?;
        tx.apply_due_bookings()?;
        Ok(tx)
    }

    /// Stops the clock.
    pub(crate) fn freeze(&self) -> Result<Self, ApiError> {
        self.sql("UPDATE clock SET frozen_at = ?")?
            .execute([self.now.as_millisecond()])?;
        Ok(self.again()?)
    }

    /// Lets the clock go on from the moment at which it stands.
    pub(crate) fn resume(&self) -> Result<Self, ApiError> {
        self.sql(
            "UPDATE clock SET offset_ms = frozen_at - ?, frozen_at = NULL \
             WHERE frozen_at IS NOT NULL",
        )?
        .execute([real_now()])?;
        Ok(self.again()?)
    }

    /// When the next booking changes by time alone, or the next webhook is tried again.
    pub(crate) fn next_due(&self) -> rusqlite::Result<Option<Timestamp>> {
        let next: Option<i64> = self
            .sql(
                "SELECT min(at) FROM \
                 (SELECT min(due_at) AS at FROM bookings WHERE due_at > ?1 UNION ALL \
                 SELECT min(next_attempt_at) FROM deliveries WHERE next_attempt_at > ?1)",
            )?
            .query_row([self.now.as_millisecond()], |row| row.get(0))?;
        next.map(moment).transpose()
    }
}
