//! A read or a transaction, at one moment of the sandbox's clock.

use jiff::Timestamp;
use rusqlite::CachedStatement;
use rusqlite::types::Type;

use super::clock::{Clock, real_now};
use super::handle::Handle;
use super::number::next_number;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::transition::{Event, step};

/// Reads and writes the database as of `now`. Each table has its methods in a file of its own.
pub(crate) struct Tx<'a> {
    pub(super) handle: &'a Handle,
    /// The sandbox's time, in whole milliseconds.
    pub(crate) now: Timestamp,
    pub(super) clock: Clock,
}

impl<'a> Tx<'a> {
    /// For reading, at the present time.
    pub(super) fn read(handle: &'a Handle) -> rusqlite::Result<Self> {
        handle.check_that_nothing_is_lost()?;
        Self::begin(handle)
    }

    /// The same within an SQL transaction that has begun.
    pub(super) fn begin(handle: &'a Handle) -> rusqlite::Result<Self> {
        let clock = Clock::read(&handle.connection)?;
        Ok(Self {
            handle,
            now: moment(clock.now())?,
            clock,
        })
    }

    /// The same transaction, with the clock as it is now.
    pub(super) fn again(&self) -> rusqlite::Result<Self> {
        Self::begin(self.handle)
    }

    pub(super) fn sql(&self, sql: &str) -> rusqlite::Result<CachedStatement<'a>> {
        self.handle.connection.prepare_cached(sql)
    }

    /// Whether a booking is due to change by time alone.
    pub(super) fn has_due_bookings(&self) -> rusqlite::Result<bool> {
        self.sql("SELECT 1 FROM bookings WHERE due_at <= ?")?
            .exists([self.now.as_millisecond()])
    }

    /// Applies every due change, in the order and at the moment in which it was due.
    pub(super) fn apply_due_bookings(&self) -> Result<(), ApiError> {
        while let Some((mut booking, due)) = self.next_due_booking()? {
            let transition = step(&booking.state, &Event::TimePassed, due);
            self.apply(&mut booking, transition, due)?;
        }
        Ok(())
    }

    /// The number of a new row.
    pub(crate) fn new_number(&self) -> i64 {
        next_number()
    }

    /// A number that changes when another process has written to the file.
    pub(crate) fn data_version(&self) -> rusqlite::Result<i64> {
        self.sql("PRAGMA data_version")?
            .query_row((), |row| row.get(0))
    }

    /// Deletes everything but the URLs that stay, and sets the clock to real time.
    pub(crate) fn reset(&self) -> Result<(), ApiError> {
        let staying = self.staying_urls()?;
        self.handle.note_emptied();
        self.handle.connection.execute_batch(
            "DELETE FROM organizations; DELETE FROM known_venues; DELETE FROM bookings; \
             DELETE FROM idempotency_keys; DELETE FROM events; DELETE FROM messages; \
             DELETE FROM sessions; DELETE FROM rate_windows; DELETE FROM deliveries; \
             DELETE FROM attempts; DELETE FROM faults; DELETE FROM fixture_venues; \
             UPDATE clock SET offset_ms = 0, frozen_at = NULL",
        )?;
        Ok(self.keep_urls(&staying)?)
    }
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

/// The time in a column of milliseconds.
pub(super) fn moment(millis: i64) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(millis)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Integer, error.into()))
}

/// The error for a column whose text this program cannot have written.
pub(super) fn invalid_column(column: usize, text: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(
        column,
        Type::Text,
        format!("{text:?} is not known here").into(),
    )
}
