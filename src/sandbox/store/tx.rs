//! A read or a transaction, at one moment of the sandbox's clock.

use std::cell::Cell;

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Result, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::sandbox::rules::transition::{BookingEvent, step};

pub(super) struct Handle {
    pub(super) connection: Connection,
    /// The clock as last read.
    pub(super) clock: Cell<Clock>,
    pub(super) is_emptied: Cell<bool>,
}

impl Handle {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, clock: Cell::default(), is_emptied: Cell::default() }
    }
}

/// Reads and writes the database as of `now`. Each table has its methods in a file of its own.
pub(crate) struct Tx<'a> {
    handle: &'a Handle,
    /// The sandbox's time, in whole milliseconds.
    pub(crate) now: Timestamp,
    pub(super) clock: Clock,
}

/// The sandbox's clock, in milliseconds. It goes ahead of real time, or stands still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    offset_ms: i64,
    frozen_at: Option<i64>,
}

impl Clock {
    fn read(connection: &Connection) -> Result<Self> {
        connection.prepare_cached("SELECT offset_ms, frozen_at FROM clock")?.query_row((), |row| {
            Ok(Self { offset_ms: row.get("offset_ms")?, frozen_at: row.get("frozen_at")? })
        })
    }

    pub(super) fn now(self) -> i64 {
        let going = || real_now().saturating_add(self.offset_ms);
        self.frozen_at.unwrap_or_else(going)
    }
}

fn real_now() -> i64 {
    Timestamp::now().as_millisecond()
}

impl<'a> Tx<'a> {
    /// At the present time: of a transaction if one has begun, else for reading.
    pub(super) fn begin(handle: &'a Handle) -> Result<Self> {
        let clock = Clock::read(&handle.connection)?;
        handle.clock.set(clock);
        Ok(Self { handle, now: moment(clock.now())?, clock })
    }

    /// The same after the changes that were due by then.
    pub(super) fn up_to_date(handle: &'a Handle) -> Result<Self> {
        let tx = Self::begin(handle)?;
        tx.apply_due_bookings()?;
        Ok(tx)
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.now.as_millisecond()
    }

    pub(super) fn sql(&self, sql: &str) -> Result<CachedStatement<'a>> {
        self.handle.connection.prepare_cached(sql)
    }

    pub(super) fn run(&self, sql: &str, with: impl Params) -> Result<usize> {
        self.sql(sql)?.execute(with)
    }

    pub(super) fn first<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.sql(sql)?.query_row(with, read).optional()
    }

    pub(super) fn all<T>(
        &self,
        sql: &str,
        with: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.sql(sql)?.query_map(with, read)?.collect()
    }

    /// Applies every due change, in the order and at the moment in which it was due.
    pub(super) fn apply_due_bookings(&self) -> Result<()> {
        while let Some((mut booking, due)) = self.next_due_booking()? {
            let transition = step(&booking.state, &BookingEvent::TimePassed, due);
            self.apply(&mut booking, transition, due)?;
        }
        Ok(())
    }

    /// A number that changes when another process has written to the file.
    pub(crate) fn data_version(&self) -> Result<i64> {
        self.sql("PRAGMA data_version")?.query_row((), |row| row.get(0))
    }

    /// Deletes everything but the URLs that stay, and sets the clock to real time.
    pub(crate) fn reset(&self) -> Result<()> {
        let before = self.changed_organizations()?;
        self.handle.is_emptied.set(true);
        self.handle.connection.execute_batch(
            "DELETE FROM organizations; DELETE FROM known_venues; DELETE FROM bookings; \
             DELETE FROM idempotency_keys; DELETE FROM events; DELETE FROM messages; \
             DELETE FROM sessions; DELETE FROM rate_windows; DELETE FROM deliveries; \
             DELETE FROM attempts; DELETE FROM faults; DELETE FROM fixture_venues; \
             UPDATE clock SET offset_ms = 0, frozen_at = NULL",
        )?;
        Self::begin(self.handle)?;
        self.keep_urls(&before)
    }

    pub(crate) fn offset_seconds(&self) -> i64 {
        let ahead = self.clock.frozen_at.map(|at| at.saturating_sub(real_now()));
        ahead.unwrap_or(self.clock.offset_ms) / 1_000
    }

    pub(crate) const fn is_frozen(&self) -> bool {
        self.clock.frozen_at.is_some()
    }

    /// Moves the clock to a later moment and applies what is due by then. Returns the transaction at the new time.
    pub(crate) fn move_to(&self, at: Timestamp) -> Result<Self> {
        let by = at.as_millisecond().saturating_sub(self.now_ms());
        let sql = "UPDATE clock SET offset_ms = offset_ms + ?1, frozen_at = frozen_at + ?1";
        self.run(sql, [by])?;
        Self::up_to_date(self.handle)
    }

    pub(crate) fn freeze(&self) -> Result<Self> {
        self.run("UPDATE clock SET frozen_at = ?", [self.now_ms()])?;
        Self::begin(self.handle)
    }

    /// Lets the clock go on from the moment at which it stands.
    pub(crate) fn resume(&self) -> Result<Self> {
        let going = "UPDATE clock SET offset_ms = frozen_at - ?, frozen_at = NULL \
                     WHERE frozen_at IS NOT NULL";
        self.run(going, [real_now()])?;
        Self::begin(self.handle)
    }

    /// When the next booking changes by time alone, or the next webhook is tried again.
    pub(crate) fn next_due(&self) -> Result<Option<Timestamp>> {
        let next: Option<i64> = self
            .sql(
                "SELECT min(at) FROM \
                 (SELECT min(due_at) AS at FROM bookings WHERE due_at > ?1 UNION ALL \
                 SELECT min(next_attempt_at) FROM deliveries WHERE next_attempt_at > ?1)",
            )?
            .query_row([self.now_ms()], |row| row.get(0))?;
        next.map(moment).transpose()
    }
}

pub(super) fn moment(millis: i64) -> Result<Timestamp> {
    Timestamp::from_millisecond(millis)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Integer, error.into()))
}

pub(super) fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}

pub(super) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
