//! The database at a moment of the sandbox's clock.

use jiff::{SignedDuration, Timestamp};
use rusqlite::types::Type;
use rusqlite::{CachedStatement, Connection};

use super::number::next_number;
use crate::sandbox::rules::refusal::Refusal;
use crate::sandbox::rules::transition::{Event, step};

/// What can be read and written, as of `now`.
pub(crate) struct Ledger<'a> {
    connection: &'a Connection,
    /// The sandbox's time, in whole milliseconds.
    pub(crate) now: Timestamp,
    pub(super) offset_ms: i64,
    /// When the first thing is due.
    first_due: Option<i64>,
}

impl<'a> Ledger<'a> {
    pub(super) fn at_present(connection: &'a Connection) -> rusqlite::Result<Self> {
        let (offset_ms, first_due) = connection
            .prepare_cached(
                "SELECT offset_ms, \
                 (SELECT due_at FROM bookings WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1) \
                 FROM clock",
            )?
            .query_row((), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let now = Timestamp::now().as_millisecond().saturating_add(offset_ms);
        Ok(Self {
            connection,
            now: moment(now)?,
            offset_ms,
            first_due,
        })
    }

    pub(super) fn sql(&self, sql: &str) -> rusqlite::Result<CachedStatement<'a>> {
        self.connection.prepare_cached(sql)
    }

    pub(super) fn batch(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.execute_batch(sql)
    }

    /// Whether something is due that did not happen yet.
    pub(super) fn is_behind(&self) -> bool {
        self.first_due
            .is_some_and(|due| due <= self.now.as_millisecond())
    }

    /// Lets everything happen that is due, in the order it was due, at the moment it was due.
    pub(super) fn catch_up(&self) -> Result<(), Refusal> {
        while let Some((mut booking, due)) = self.next_due_booking()? {
            let transition = step(&booking.state, &Event::TimePassed, due);
            self.apply(&mut booking, transition, due)?;
        }
        Ok(())
    }

    /// A number for what is to come.
    pub(crate) fn new_number(&self) -> i64 {
        next_number()
    }

    /// Seconds that the sandbox's clock is ahead of real time.
    pub(crate) const fn offset_seconds(&self) -> i64 {
        self.offset_ms / 1_000
    }

    /// Moves the clock, and lets happen what is due by then; gives the ledger of the new time.
    pub(crate) fn advance(&self, by: SignedDuration) -> Result<Self, Refusal> {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.sql("UPDATE clock SET offset_ms = offset_ms + ?")?
            .execute([by])?;
        let ledger = Self::at_present(self.connection)?;
        ledger.catch_up()?;
        Ok(ledger)
    }

    /// Forgets everything: a fresh sandbox, with the clock at real time.
    pub(crate) fn reset(&self) -> Result<(), Refusal> {
        self.batch(
            "DELETE FROM organizations; DELETE FROM known_venues; DELETE FROM bookings; \
             DELETE FROM idempotency_keys; DELETE FROM events; DELETE FROM messages; \
             DELETE FROM sessions; DELETE FROM rate_windows; DELETE FROM deliveries; \
             DELETE FROM attempts; DELETE FROM faults; UPDATE clock SET offset_ms = 0",
        )?;
        Ok(())
    }
}

/// The moment of a column in ms.
pub(super) fn moment(millis: i64) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(millis)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Integer, error.into()))
}

/// What a column's text says, where this program wrote it.
pub(super) fn unreadable(column: usize, text: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(
        column,
        Type::Text,
        format!("{text:?} is not known here").into(),
    )
}
