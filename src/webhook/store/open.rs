//! Opening, pruning and locking the database.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, TransactionBehavior};

use crate::outcome::{Error, Result};
use crate::platform::crypto::sha256;
use crate::platform::sqlite::{self, Failure, JournalMode, Kind};
use crate::platform::{ownership, regular_file};

/// `origin` is the service that an event came from. Times are milliseconds since 1970. The oldest waiting event of each
/// `ordering_key` is forwarded, at `next_attempt_at` by the service's clock once it has failed. An attempt with neither
/// status nor error is in flight, or was when its listener was killed; `response` is the app's answer as JSON.
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
CREATE TABLE registrations (
    origin   TEXT PRIMARY KEY,
    ours     TEXT NOT NULL,
    previous TEXT
) WITHOUT ROWID;
";

/// The open database, limited to the events of one service.
pub(crate) struct Webhooks {
    pub(super) connection: Connection,
    pub(super) origin: String,
    path: PathBuf,
}

/// How to open the database: readers do not wait for the writer, and a commit is on the disk when it returns.
const KIND: Kind = Kind {
    name: "the webhook file",
    application: 0,
    version: 20,
    schema: SCHEMA,
    journal: JournalMode::WriteAhead {
        synchronous: "FULL",
    },
    tune,
};

fn tune(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}

impl Webhooks {
    /// Opens the database, and creates it (0600 in a 0700 folder) if there is none.
    ///
    /// # Errors
    /// `webhooks` (3) if it cannot be used; the hint says what to do.
    pub(crate) fn open(path: &Path, origin: String) -> Result<Self> {
        ownership::refuse_others(path)?;
        let connection = sqlite::open(path, &KIND).map_err(|failure| into_error(path, &failure))?;
        Ok(Webhooks {
            connection,
            origin,
            path: path.to_owned(),
        })
    }

    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        work(&self.connection).map_err(|error| failure(&self.path, &error))
    }
}

fn failure(path: &Path, error: &rusqlite::Error) -> Error {
    into_error(path, &error.into())
}

fn into_error(path: &Path, failure: &Failure) -> Error {
    let shown = path.display();
    let hint = match failure {
        Failure::Held => "wait for the other bookctl to finish, then try again".to_owned(),
        Failure::Unreachable(_) | Failure::ReadOnly => {
            "make it writable, or set BOOKCTL_HOME to another folder".to_owned()
        }
        Failure::Full => "free some disk space, then try again".to_owned(),
        Failure::Moved | Failure::Tables(_) | Failure::Other(_) => {
            "check the file and its folder".to_owned()
        }
        Failure::Damaged | Failure::Empty | Failure::Foreign | Failure::OtherVersion { .. } => {
            format!(
                "move {shown} and {shown}-wal to another folder; the next `webhook` command creates a new file \
             without the earlier deliveries"
            )
        }
    };
    Error::webhooks(format!("{} {shown} {failure}", KIND.name)).hint(hint)
}

/// Events are kept at least this long: the service may send duplicates as long as it retries.
const MIN_RETENTION: SignedDuration = SignedDuration::from_hours(24);
/// The largest number of events that one call removes, so that a start stays fast; the next start continues.
const MAX_PRUNED: u32 = 10_000;

impl Webhooks {
    /// Removes the oldest events that were received before `before` and are not waiting to be forwarded.
    pub(crate) fn prune(&mut self, before: Timestamp, now: Timestamp) -> Result<()> {
        let latest = now.saturating_sub(MIN_RETENTION).unwrap_or(Timestamp::MIN);
        let before = before.min(latest).as_millisecond();
        let remove = |connection: &mut Connection, origin: &str| -> rusqlite::Result<()> {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let old = "SELECT number FROM events WHERE origin = ?1 AND received_at < ?2 AND state <> 'waiting'
                       ORDER BY received_at LIMIT ?3";
            let which = (origin, before, MAX_PRUNED);
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

    /// Locks the file that only one listener of a service can hold. The lock ends with the process, however it ends; the
    /// file remains.
    ///
    /// # Errors
    /// `config` (3) if another listener holds it.
    pub(crate) fn lock_listener(&self) -> Result<File> {
        let path = self.path.with_file_name(lock_file_name(&self.origin));
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

/// The name of a service's lock file: readable, and with a digest so that no two services share it.
fn lock_file_name(origin: &str) -> String {
    const READABLE: usize = 100;
    let readable = origin.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let readable = readable.get(..READABLE).unwrap_or(&readable);
    let digest = hex::encode(&sha256([origin.as_bytes()])[..8]);
    format!("listener-{readable}-{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_services_share_a_lock_file_and_its_name_is_a_valid_file_name() {
        let long = |end: &str| format!("https://{}.{end}", "a.".repeat(110));
        let origins = [
            "https://api.x.example",
            "https://api-x.example",
            "https://api.x-example",
            "http://127.0.0.1:8080",
            "http://127.0.0.1-8080",
            "https://b\u{fc}cher.example",
            &long("example"),
            &long("test"),
        ];
        let places: std::collections::BTreeSet<String> = origins
            .iter()
            .map(|origin| lock_file_name(origin))
            .collect();
        assert_eq!(places.len(), origins.len(), "{places:?}");
        for place in places {
            assert!(place.len() < 200, "{place}");
            assert!(
                place.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'),
                "{place}"
            );
        }
    }

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
                "INSERT INTO events (origin, id, kind, ordering_key, headers, body, received_at, state)
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
