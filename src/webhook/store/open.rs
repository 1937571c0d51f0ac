//! The file.

use std::fs::{OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, TransactionBehavior};
use sha2::{Digest, Sha256};

use crate::outcome::{Error, Result};
use crate::platform::sqlite::{self, Failure, Kind};
use crate::platform::{ownership, regular_file};
use crate::webhook::slate::Slate;

/// The schema of the first release. `origin` keeps services apart. Times are milliseconds since 1970. `next_at` is set for the first waiting event of
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

/// The file. Readers go on beside the writer, and a commit is on the disk when it returns.
const KIND: Kind = Kind {
    name: "the deliveries' file",
    application: 0,
    steps: &[FIRST],
    synchronous: "FULL",
    tune,
};

fn tune(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}

impl Webhooks {
    /// Opens the file, and makes it if there is none: 0600 in a 0700 folder.
    pub(crate) fn open(path: &Path, origin: String) -> Result<Self> {
        ownership::refuse_others(path)?;
        let connection = sqlite::open(path, &KIND).map_err(|failure| into_error(path, &failure))?;
        Ok(Webhooks {
            connection,
            origin,
            path: path.to_owned(),
        })
    }

    /// Runs `work` on the file as it is.
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
        Failure::Held => "see what other bookctl is running, then try again".to_owned(),
        Failure::Unreachable(_) | Failure::ReadOnly => {
            "make it writable, or set BOOKCTL_HOME to a folder that is".to_owned()
        }
        Failure::Full => "make room, then try again".to_owned(),
        Failure::Newer { .. } => "use the newer bookctl, or another BOOKCTL_HOME".to_owned(),
        Failure::Other(_) => "check the file and its folder".to_owned(),
        Failure::Damaged | Failure::Empty | Failure::Foreign => format!(
            "move {shown} and {shown}-wal to another folder: the next `webhook` command starts a new one, \
             which knows nothing of earlier deliveries"
        ),
    };
    Error::webhooks(format!("{} {shown} {failure}", KIND.name)).hint(hint)
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
        let path = self.path.with_file_name(place_of(&self.origin));
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

/// The name of a service's place: readable, and of no other service. A file of the name that bookctl used before, which
/// two services could share, stays unused.
fn place_of(origin: &str) -> String {
    const READABLE: usize = 100;
    let readable = origin.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let readable = readable.get(..READABLE).unwrap_or(&readable);
    let digest: String = Sha256::digest(origin)
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("listener-{readable}-{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_services_share_a_place_and_its_name_fits_into_a_folder() {
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
        let places: std::collections::BTreeSet<String> =
            origins.iter().map(|origin| place_of(origin)).collect();
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
