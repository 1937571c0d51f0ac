//! The file.

use std::fs::{OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::{Error, Result, reason};
use crate::webhook::slate::Slate;
use crate::{ownership, private_file, regular_file};

/// How long another process may hold the file before we give up.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Each step brings a file of the version before to the next, and a new one goes through them all.
const STEPS: &[&str] = &[FIRST];
/// `origin` keeps services apart. Times are milliseconds since 1970. `next_at` is set for the first waiting event of
/// each lane alone: that is the one whose turn it is. An attempt with neither status nor error is under way, or was
/// when its listener was killed.
const FIRST: &str = "
CREATE TABLE events (
    number      INTEGER PRIMARY KEY,
    origin      TEXT NOT NULL,
    id          TEXT NOT NULL,
    kind        TEXT NOT NULL,
    lane        TEXT NOT NULL,
    booking     TEXT,
    status      TEXT,
    headers     TEXT NOT NULL,
    body        BLOB NOT NULL,
    received_at INTEGER NOT NULL,
    duplicates  INTEGER NOT NULL DEFAULT 0,
    state       TEXT NOT NULL,
    failures    INTEGER NOT NULL DEFAULT 0,
    next_at     INTEGER,
    UNIQUE (origin, id)
);
CREATE INDEX events_turn ON events (origin, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX events_waiting ON events (origin, lane, number) WHERE state = 'waiting';
CREATE INDEX events_received ON events (origin, received_at);
CREATE TABLE attempts (
    event      INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    replay     INTEGER NOT NULL,
    url        TEXT NOT NULL,
    begun_at   INTEGER NOT NULL,
    status     INTEGER,
    error      TEXT,
    latency_ms INTEGER,
    PRIMARY KEY (event, number)
) WITHOUT ROWID;
CREATE INDEX attempts_open ON attempts (event, number) WHERE status IS NULL AND error IS NULL;
CREATE TABLE registrations (
    origin   TEXT PRIMARY KEY,
    ours     TEXT NOT NULL,
    previous TEXT
) WITHOUT ROWID;
";

/// The file, seen from one service.
pub(crate) struct Webhooks {
    pub(super) connection: Connection,
    pub(super) origin: String,
    path: PathBuf,
}

impl Webhooks {
    /// Opens the file, and makes it where there is none: 0600 in a 0700 folder.
    pub(crate) fn open(path: &Path, origin: String) -> Result<Self> {
        ownership::refuse_others(path)?;
        private_file::make(path).map_err(|error| {
            let why = reason(&error);
            Error::journal(format!(
                "the deliveries' file {} cannot be kept: {why}",
                path.display()
            ))
            .hint("make the folder writable, or set BOOKCTL_HOME to one that is")
        })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |error| failure(path, &error);
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        let mut webhooks = Webhooks {
            connection,
            origin,
            path: path.to_owned(),
        };
        if webhooks.prepare().map_err(failed)? > STEPS.len() {
            return Err(Error::journal(format!(
                "the deliveries' file {} was written by a newer bookctl",
                path.display()
            ))
            .hint("use the newer bookctl, or another BOOKCTL_HOME"));
        }
        Ok(webhooks)
    }

    /// Brings the file to the present version; the version that it then has.
    fn prepare(&mut self) -> rusqlite::Result<usize> {
        let connection = &mut self.connection;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(32);
        // Readers beside the writer; a commit is on the disk when it returns.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        if version(connection)? < STEPS.len() {
            let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have been faster.
            for sql in STEPS.iter().skip(version(&step)?) {
                step.execute_batch(sql)?;
            }
            step.pragma_update(None, "user_version", STEPS.len() as i64)?;
            step.commit()?;
        }
        version(connection)
    }

    /// Runs `work` on the file as it is.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        work(&self.connection).map_err(|error| failure(&self.path, &error))
    }
}

fn version(connection: &Connection) -> rusqlite::Result<usize> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

fn failure(path: &Path, error: &rusqlite::Error) -> Error {
    Error::journal(format!(
        "the deliveries' file {} cannot be used: {error}",
        path.display()
    ))
    .hint("make room or make it writable; a damaged one is moved aside, and a new one is then started")
}

/// A duplicate may come as long as the service tries again; what is younger is told apart from new ones.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(24);
/// So many are removed at a start at most: the next one goes on.
const REMOVED_AT_ONCE: u32 = 10_000;

impl Webhooks {
    /// Removes the oldest of what was received before `before` and waits for nothing.
    pub(crate) fn prune(&mut self, before: Timestamp, now: Timestamp) -> Result<()> {
        let latest = now.saturating_sub(REMEMBERED).unwrap_or(Timestamp::MIN);
        let before = before.min(latest).as_millisecond();
        let remove = |connection: &mut Connection, origin: &str| -> rusqlite::Result<()> {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let old = "SELECT number FROM events WHERE origin = ?1 AND received_at < ?2 AND state <> 'waiting'
                       ORDER BY received_at LIMIT ?3";
            let which = (origin, before, REMOVED_AT_ONCE);
            transaction.execute(
                &format!("DELETE FROM attempts WHERE event IN ({old})"),
                which,
            )?;
            transaction.execute(
                &format!("DELETE FROM events WHERE number IN ({old})"),
                which,
            )?;
            transaction.commit()
        };
        remove(&mut self.connection, &self.origin).map_err(|error| failure(&self.path, &error))
    }

    /// Takes the one place that there is for a listener of this service: a second one would take its deliveries over.
    /// The place is free again when the process ends, however it ends, and the file remains: a listener's slate.
    pub(crate) fn take_place(&self) -> Result<Slate> {
        let service = self
            .origin
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let path = self.path.with_file_name(format!("listener-{service}"));
        let failed = |error| Error::io(format!("{} cannot be locked", path.display()), &error);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        ownership::refuse_others(&path)?;
        let file = regular_file::open_with(options.mode(0o600), &path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Slate::new(file)),
            Err(TryLockError::Error(error)) => Err(failed(error)),
            Err(TryLockError::WouldBlock) => Err(Error::config(format!(
                "another `webhook listen` takes the deliveries of {}",
                self.origin
            ))
            .hint("end it first, or set BOOKCTL_HOME to another folder")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_old_goes_and_what_is_waiting_or_may_come_twice_stays() {
        let folder = tempfile::tempdir().unwrap();
        let mut webhooks = Webhooks::open(&folder.path().join("w.db"), "o".into()).unwrap();
        let now: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        for (id, hours, state) in [
            ("old", 100, "delivered"),
            ("old and waiting", 100, "waiting"),
            ("of today", 2, "delivered"),
        ] {
            let at = (now - SignedDuration::from_hours(hours)).as_millisecond();
            let insert =
                "INSERT INTO events (origin, id, kind, lane, headers, body, received_at, state)
                          VALUES ('o', ?1, 'booking.created', 'l', '[]', x'', ?2, ?3)";
            webhooks
                .connection
                .execute(insert, (id, at, state))
                .unwrap();
        }
        // A retention of nothing keeps what a duplicate may still come of.
        webhooks.prune(Timestamp::MAX, now).unwrap();
        let left = |connection: &Connection| -> rusqlite::Result<Vec<String>> {
            let mut query = connection.prepare("SELECT id FROM events ORDER BY id")?;
            query.query_map([], |row| row.get(0))?.collect()
        };
        assert_eq!(
            webhooks.read(left).unwrap(),
            ["of today", "old and waiting"]
        );
    }
}
