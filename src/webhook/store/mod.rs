//! The received events and the attempts to forward them: `webhooks.db`, beside the journal. One
//! write at a time, each on the disk when it returns. Other processes may read meanwhile.

mod events;

pub(crate) use events::{AttemptRow, EventQuery, EventRow, ReceivedDelivery};

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::ValueEnum;
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, Row, TransactionBehavior};
use serde::Serialize;
use tokio::task::spawn_blocking;

use super::event::{Event, IdSource};
use crate::outcome::{Code, Error, Result};
use crate::platform::crypto::sha256;
use crate::platform::sql::SqlFailure;
use crate::platform::sqlite::{self, JournalMode, Kind};
use crate::platform::{ownership, regular_file};

/// `origin` is the service that an event came from. Times are milliseconds since 1970. The oldest
/// waiting event of each `ordering_key` is forwarded, at `next_attempt_at` once it has failed. An
/// attempt without latency is in flight, or was when its listener was killed; `response` is the
/// app's response as JSON.
const SCHEMA: &str = "
CREATE TABLE events (
    number          INTEGER PRIMARY KEY,
    origin          TEXT NOT NULL,
    id              TEXT NOT NULL,
    kind            TEXT NOT NULL,
    ordering_key    TEXT NOT NULL,
    booking         TEXT,
    status          TEXT,
    received_at     INTEGER NOT NULL,
    duplicates      INTEGER NOT NULL DEFAULT 0,
    state           TEXT NOT NULL,
    next_attempt_at INTEGER,
    headers         TEXT NOT NULL,
    body            BLOB NOT NULL,
    UNIQUE (origin, id)
);
CREATE INDEX events_waiting ON events (origin, ordering_key, number, next_attempt_at) WHERE state = 'waiting';
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
    response   TEXT,
    PRIMARY KEY (event, number)
) WITHOUT ROWID;
";

/// Readers do not wait for the writer, and a commit is on the disk when it returns.
const KIND: Kind = Kind {
    name: "the webhook file",
    application: 0,
    version: 21,
    schema: SCHEMA,
    migrate: None,
    journal: JournalMode::WriteAhead { synchronous: "FULL" },
    tune: |_| Ok(()),
};

/// Events are kept at least this long: the service may send duplicates as long as it retries.
const MIN_RETENTION: SignedDuration = SignedDuration::from_hours(24);

// Its comments are no documentation, which the help of `--state` would show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EventState {
    // Stored and not to be forwarded.
    Kept,
    Waiting,
    // The app responded with 2xx.
    Delivered,
    // The app responded with 2xx to no attempt of the schedule.
    Abandoned,
}

impl EventState {
    /// The name in the database, in JSON and in `--state`.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            EventState::Kept => "kept",
            EventState::Waiting => "waiting",
            EventState::Delivered => "delivered",
            EventState::Abandoned => "abandoned",
        }
    }
}

/// The open database, limited to the events of one service and shared by the tasks of a process.
#[derive(Clone)]
pub(crate) struct Webhooks {
    connection: Arc<Mutex<Connection>>,
    origin: Arc<str>,
    path: Arc<Path>,
}

impl Webhooks {
    /// Opens the database, and creates it (0600 in a 0700 folder) if there is none.
    pub(crate) fn open(path: &Path, origin: String) -> Result<Self> {
        ownership::refuse_others(path)?;
        let connection = sqlite::open(path, &KIND).map_err(|why| unusable(path, &why))?;
        Ok(Webhooks {
            connection: Arc::new(Mutex::new(connection)),
            origin: origin.into(),
            path: path.into(),
        })
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.locked()).map_err(|error| unusable(&self.path, &error.into()))
    }

    /// Runs `work` in a transaction, which is on the disk when this returns. A caller that goes
    /// away does not stop it.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &str) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.clone();
        let written = spawn_blocking(move || {
            let mut connection = store.locked();
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let outcome = work(&transaction, &store.origin)?;
            transaction.commit()?;
            Ok(outcome)
        });
        let broken = "the webhook file could not be written";
        let written = written.await.map_err(|_| Error::new(Code::Webhooks, broken))?;
        written.map_err(|error: rusqlite::Error| unusable(&self.path, &error.into()))
    }

    fn locked(&self) -> MutexGuard<'_, Connection> {
        // A transaction that panicked was rolled back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the events that were received before `before` and are not waiting to be forwarded.
    pub(crate) async fn prune(&self, before: Timestamp, now: Timestamp) -> Result<()> {
        let latest = now.saturating_sub(MIN_RETENTION).unwrap_or(Timestamp::MIN);
        let before = before.min(latest).as_millisecond();
        self.write(move |connection, origin| {
            let old =
                "SELECT number FROM events WHERE origin = ? AND received_at < ? AND state <> 'waiting'";
            for sql in [
                format!("DELETE FROM attempts WHERE event IN ({old})"),
                format!("DELETE FROM events WHERE number IN ({old})"),
            ] {
                connection.execute(&sql, (origin, before))?;
            }
            Ok(())
        })
        .await
    }

    /// Locks the file that only one listener of a service can hold (3). The lock ends with the
    /// process; the file remains.
    pub(crate) fn lock_listener(&self) -> Result<File> {
        let digest = hex::encode(&sha256([self.origin.as_bytes()])[..8]);
        let path = self.path.with_file_name(format!("listener-{digest}"));
        let failed = |error| Error::io(format!("cannot lock {}", path.display()), error);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        ownership::refuse_others(&path)?;
        let file = regular_file::open_with(&mut options, &path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::Error(error)) => Err(failed(error)),
            Err(TryLockError::WouldBlock) => Err(Error::config(format!(
                "another `webhook listen` is already running for {}",
                self.origin
            ))
            .hint("stop it first, or set BOOKCTL_HOME to another folder")),
        }
    }
}

fn unusable(path: &Path, why: &SqlFailure) -> Error {
    let displayed = path.display();
    let error = Error::new(Code::Webhooks, format!("{} {displayed} {why}", KIND.name));
    if why.is_permanent() {
        error.hint(format!(
            "move {displayed} and {displayed}-wal to another folder; the next `webhook` command creates a new file \
             without the earlier deliveries"
        ))
    } else {
        error
            .hint("free some disk space or make it writable, or set BOOKCTL_HOME to another folder")
    }
}

fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        id: row.get("id")?,
        kind: row.get("kind")?,
        booking: row.get("booking")?,
        status: row.get("status")?,
        id_source: IdSource::Stated,
    })
}

fn moment(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_old_goes_and_what_is_waiting_or_may_come_twice_stays() {
        let folder = tempfile::tempdir().unwrap();
        let webhooks = Webhooks::open(&folder.path().join("w.db"), "o".into()).unwrap();
        let now: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        for (id, hours, state) in [
            ("old", 100, "delivered"),
            ("old and waiting", 100, "waiting"),
            ("of today", 2, "delivered"),
        ] {
            let at = (now - SignedDuration::from_hours(hours)).as_millisecond();
            let insert =
                "INSERT INTO events (origin, id, kind, ordering_key, headers, body, received_at, state)
                          VALUES ('o', ?1, 'booking.created', 'l', '[]', x'', ?2, ?3)";
            let insert = |connection: &Connection| connection.execute(insert, (id, at, state));
            webhooks.read(insert).unwrap();
        }
        // A retention of nothing keeps what a duplicate may still come of.
        webhooks.prune(Timestamp::MAX, now).await.unwrap();
        let left = webhooks.events(&EventQuery::default()).unwrap();
        let left: Vec<&str> = left.iter().map(|it| it.event.id.as_str()).collect();
        assert_eq!(left, ["of today", "old and waiting"]);
    }
}
