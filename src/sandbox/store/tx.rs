//! A read or a transaction, at one moment of the sandbox's clock.

use std::cell::Cell;

use jiff::{SignedDuration, Timestamp};
use rusqlite::types::Type;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Result, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::sandbox::rules::organization::Organization;
use crate::sandbox::rules::transition::{BookingEvent, step};
use crate::sandbox::wire::WireTime;

/// The tables whose rows belong to an organization, and go with it.
#[rustfmt::skip]
pub(super) const TABLES: [&str; 10] = [
    "deliveries", "events", "messages", "sessions", "idempotency_keys", "bookings", "known_venues",
    "rate_windows", "faults", "fixture_venues",
];

pub(super) struct Handle {
    pub(super) connection: Connection,
    /// How often a clock was moved, stopped or set.
    pub(super) moves: Cell<u64>,
    pub(super) is_emptied: Cell<bool>,
}

impl Handle {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, moves: Cell::default(), is_emptied: Cell::default() }
    }

    /// While this is held, reads see the file as it was at the first of them, whatever other
    /// processes write, and its lock is taken once for all of them.
    pub(super) fn hold_still(&self) -> Result<Moment<'_>> {
        let is_shared = self.connection.is_autocommit();
        if is_shared {
            self.connection.prepare_cached("BEGIN")?.execute(())?;
        }
        Ok(Moment(is_shared.then_some(&self.connection)))
    }
}

/// `None` for an ephemeral store, which is a transaction already.
pub(super) struct Moment<'a>(Option<&'a Connection>);

impl Drop for Moment<'_> {
    fn drop(&mut self) {
        let end = |it: &Connection| it.prepare_cached("COMMIT")?.execute(());
        // Nothing was written that could be lost.
        let _ = self.0.map(end);
    }
}

/// Reads and writes the database as of `now`. Each table has its methods in a file of its own.
pub(crate) struct Tx<'a> {
    handle: &'a Handle,
    /// The time by the organization's clock, in whole milliseconds.
    pub(crate) now: Timestamp,
    /// Whose clock that is. If all are meant, it is the main organization's.
    owner: Option<String>,
    pub(crate) is_frozen: bool,
    pub(crate) has_faults: bool,
    /// The real time of which all of it is: one reading, in milliseconds.
    pub(super) real_ms: i64,
    moves: u64,
}

/// The clock of an organization. It goes ahead of real time, or stands still.
#[derive(Serialize)]
pub(crate) struct Clock {
    /// The organization's.
    pub(crate) id: String,
    pub(crate) now: WireTime,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    frozen: bool,
}

impl<'a> Tx<'a> {
    /// At the present time: of a transaction if one has begun, else for reading.
    pub(super) fn begin(handle: &'a Handle, owner: Option<&str>) -> Result<Self> {
        Self::begin_at(handle, owner, Timestamp::now().as_millisecond())
    }

    fn begin_at(handle: &'a Handle, owner: Option<&str>, real_ms: i64) -> Result<Self> {
        // Two look-ups: one statement for both would make a table of its own at each request.
        let sql = "SELECT coalesce(frozen_at, offset_ms + ?), frozen_at IS NOT NULL, \
                   EXISTS (SELECT 1 FROM faults) FROM clocks WHERE organization = ?";
        let mut statement = handle.connection.prepare_cached(sql)?;
        let mut read =
            |organization| statement.query_row((real_ms, organization), |row| row.try_into());
        // An organization that does not exist has the clock that it would be added with.
        let clock = read(owner.unwrap_or(Organization::MAIN)).optional()?;
        let (now, is_frozen, has_faults) = clock.map_or_else(|| read(""), Ok)?;
        let (now, owner, moves) = (moment(now)?, owner.map(str::to_owned), handle.moves.get());
        Ok(Self { handle, now, is_frozen, has_faults, owner, real_ms, moves })
    }

    /// Makes the changes that are due by then.
    pub(super) fn up_to_date(self) -> Result<Self> {
        self.apply_due_bookings()?;
        Ok(self)
    }

    pub(crate) const fn is_of_all(&self) -> bool {
        self.owner.is_none()
    }

    /// Whether this transaction is at the present time of an organization.
    pub(super) fn is_of(&self, owner: Option<&str>) -> bool {
        self.owner.as_deref() == owner && self.moves == self.handle.moves.get()
    }

    /// This transaction at the time of an organization.
    pub(crate) fn for_organization(&self, organization: &str) -> Result<Self> {
        Self::begin_at(self.handle, Some(organization), self.real_ms)
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

    /// Applies every due change, an organization's in order and at its due moment.
    fn apply_due_bookings(&self) -> Result<()> {
        let Some(owner) = &self.owner else {
            for owner in self.due_owners()? {
                self.for_organization(&owner)?.apply_due_bookings()?;
            }
            return Ok(());
        };
        while let Some((mut booking, due)) = self.next_due_booking(owner)? {
            let transition = step(&booking.state, &BookingEvent::TimePassed, due);
            self.apply(&mut booking, transition, due)?;
        }
        Ok(())
    }

    pub(super) fn has_due_bookings(&self) -> Result<bool> {
        match &self.owner {
            Some(owner) => self
                .sql("SELECT 1 FROM bookings WHERE organization = ? AND due_at <= ?")?
                .exists((owner, self.now_ms())),
            None => Ok(!self.due_owners()?.is_empty()),
        }
    }

    /// The organizations with bookings that are due to change by time alone.
    fn due_owners(&self) -> Result<Vec<String>> {
        let sql = "SELECT organization FROM clocks c WHERE EXISTS (SELECT 1 FROM bookings b \
                   WHERE b.organization = c.organization \
                   AND b.due_at <= coalesce(c.frozen_at, c.offset_ms + ?))";
        self.all(sql, [self.real_ms], |row| row.get(0))
    }

    /// A number that changes when another process has written to the file.
    pub(crate) fn data_version(&self) -> Result<i64> {
        self.sql("PRAGMA data_version")?.query_row((), |row| row.get(0))
    }

    /// Deletes everything but the URLs that stay, and sets the clocks to real time; of an
    /// organization, what its requests and its fixtures left.
    pub(crate) fn reset(&self) -> Result<()> {
        if let Some(owner) = &self.owner {
            self.clear_organization(owner)?;
            return self.change_clocks("offset_ms = 0, frozen_at = NULL", 0);
        }
        let before = self.changed_organizations()?;
        self.handle.is_emptied.set(true);
        for table in TABLES.iter().chain(&["attempts", "organizations"]) {
            self.run(&format!("DELETE FROM {table}"), ())?;
        }
        for added in before.iter().filter(|it| !Organization::is_built_in(&it.id)) {
            self.run("DELETE FROM clocks WHERE organization = ?", [&added.id])?;
        }
        self.change_clocks("offset_ms = 0, frozen_at = NULL", 0)?;
        self.keep_urls(&before)
    }

    pub(crate) fn offset_seconds(&self) -> i64 {
        (self.now_ms() - self.real_ms) / 1_000
    }

    /// The clocks of all organizations, or of this transaction's alone.
    pub(crate) fn clocks(&self) -> Result<Vec<Clock>> {
        let sql = "SELECT organization, frozen_at IS NOT NULL AS frozen, coalesce(frozen_at, offset_ms + ?) AS now \
                   FROM clocks WHERE organization = ?2 OR ?2 IS NULL AND organization <> '' ORDER BY organization";
        self.all(sql, (self.real_ms, &self.owner), |row| {
            Ok(Clock {
                id: row.get("organization")?,
                now: WireTime(moment(row.get("now")?)?),
                frozen: row.get("frozen")?,
            })
        })
    }

    /// Moves the clock ahead, or all of them.
    pub(crate) fn advance(&self, by: SignedDuration) -> Result<Self> {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.move_clocks("offset_ms = offset_ms + ?1, frozen_at = frozen_at + ?1", by)
    }

    /// Sets the clock to a later moment, or all of them.
    pub(crate) fn set(&self, at: Timestamp) -> Result<Self> {
        let going = format!("offset_ms = ?1 - {}", self.real_ms);
        let frozen = "frozen_at = iif(frozen_at IS NULL, NULL, ?1)";
        self.move_clocks(&format!("{going}, {frozen}"), at.as_millisecond())
    }

    pub(crate) fn freeze(&self) -> Result<Self> {
        self.move_clocks("frozen_at = coalesce(frozen_at, offset_ms + ?1)", self.real_ms)
    }

    /// Lets the clock go on from the moment at which it stands.
    pub(crate) fn resume(&self) -> Result<Self> {
        let going = "offset_ms = coalesce(frozen_at - ?1, offset_ms), frozen_at = NULL";
        self.move_clocks(going, self.real_ms)
    }

    /// Returns this transaction by the clock as it is then, with what is due.
    fn move_clocks(&self, change: &str, with: i64) -> Result<Self> {
        self.change_clocks(change, with)?;
        Self::begin_at(self.handle, self.owner.as_deref(), self.real_ms)?.up_to_date()
    }

    fn change_clocks(&self, change: &str, with: i64) -> Result<()> {
        let sql = format!("UPDATE clocks SET {change} WHERE ?2 IS NULL OR organization = ?2");
        let change = self.handle.connection.execute(&sql, (with, &self.owner));
        self.handle.moves.set(self.handle.moves.get() + 1);
        change.map(drop)
    }

    /// How long until the next booking changes by time alone, or the next webhook is tried again.
    pub(crate) fn wait(&self) -> Result<Option<SignedDuration>> {
        let sql = "WITH c AS (SELECT organization AS id, coalesce(frozen_at, offset_ms + ?1) AS now \
                   FROM clocks WHERE ?2 IS NULL OR organization = ?2) \
                   SELECT min(wait) FROM (SELECT (SELECT min(due_at) FROM bookings \
                   WHERE organization = id AND due_at > now) - now AS wait FROM c UNION ALL \
                   SELECT (SELECT min(next_attempt_at) FROM deliveries \
                   WHERE organization = id AND next_attempt_at > now) - now FROM c)";
        let wait = self.sql(sql)?.query_row((self.real_ms, &self.owner), |row| row.get(0));
        wait.map(|it: Option<i64>| it.map(SignedDuration::from_millis))
    }
}

pub(super) fn moment(millis: i64) -> Result<Timestamp> {
    Timestamp::from_millisecond(millis)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Integer, error.into()))
}

/// Reads the JSON of the row's first column.
pub(super) fn from_json<T: DeserializeOwned>(row: &Row<'_>) -> Result<T> {
    serde_json::from_str(row.get_ref(0)?.as_str()?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}

pub(super) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
