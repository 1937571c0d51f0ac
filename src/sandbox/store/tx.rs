//! A read or a transaction, at one moment of the sandbox's clock.

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{CachedStatement, Connection};

use super::clock::Clock;
use super::number::next_number;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::transition::{Event, step};

/// Reads and writes the database as of `now`. Each table has its methods in a file of its own.
pub(crate) struct Tx<'a> {
    connection: &'a Connection,
    /// The sandbox's time, in whole milliseconds.
    pub(crate) now: Timestamp,
    pub(super) clock: Clock,
    /// When the next booking changes by time alone, in milliseconds.
    first_due: Option<i64>,
}

impl<'a> Tx<'a> {
    /// Reads the clock. A caller that writes has begun the SQL transaction.
    pub(super) fn begin(connection: &'a Connection) -> rusqlite::Result<Self> {
        let (clock, first_due) = connection
            .prepare_cached(
                "SELECT offset_ms, frozen_at, \
                 (SELECT due_at FROM bookings WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1) \
                 FROM clock",
            )?
            .query_row((), |row| {
                let clock = Clock {
                    offset_ms: row.get(0)?,
                    frozen_at: row.get(1)?,
                };
                Ok((clock, row.get(2)?))
            })?;
        Ok(Self {
            connection,
            now: moment(clock.now())?,
            clock,
            first_due,
        })
    }

    /// The same transaction, with the clock as it is now.
    pub(super) fn again(&self) -> rusqlite::Result<Self> {
        Self::begin(self.connection)
    }

    pub(super) fn sql(&self, sql: &str) -> rusqlite::Result<CachedStatement<'a>> {
        self.connection.prepare_cached(sql)
    }

    pub(super) fn batch(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.execute_batch(sql)
    }

    /// Whether a booking is due to change by time alone.
    pub(super) fn has_due_bookings(&self) -> bool {
        self.first_due
            .is_some_and(|due| due <= self.now.as_millisecond())
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

    /// Deletes everything and sets the clock to real time.
    pub(crate) fn reset(&self) -> Result<(), ApiError> {
        self.batch(
            "DELETE FROM organizations; DELETE FROM known_venues; DELETE FROM bookings; \
             DELETE FROM idempotency_keys; DELETE FROM events; DELETE FROM messages; \
             DELETE FROM sessions; DELETE FROM rate_windows; DELETE FROM deliveries; \
             DELETE FROM attempts; DELETE FROM faults; DELETE FROM fixture_venues; UPDATE clock SET offset_ms = 0, frozen_at = NULL",
        )?;
        Ok(())
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
