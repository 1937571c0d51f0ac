//! The journal's file: opened by several processes at once, never half written.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::error::{Error, Result, reason};

/// How long another process may hold the journal before we give up.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The schema that this program writes.
const VERSION: i64 = 1;

const SCHEMA: &str = "
CREATE TABLE attempts (
    idempotency_key TEXT PRIMARY KEY,
    origin          TEXT NOT NULL,
    profile         TEXT,
    state           TEXT NOT NULL,
    request         TEXT NOT NULL,
    request_hash    TEXT NOT NULL,
    booking_id      TEXT,
    http_status     INTEGER,
    doubted         INTEGER NOT NULL DEFAULT 0,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX attempts_unsettled ON attempts (created_at) WHERE state = 'unsettled';
CREATE TABLE venues (
    origin   TEXT NOT NULL,
    id       TEXT NOT NULL,
    document TEXT NOT NULL,
    seen_at  INTEGER NOT NULL,
    PRIMARY KEY (origin, id)
) WITHOUT ROWID;
CREATE TABLE slots (
    origin   TEXT NOT NULL,
    id       TEXT NOT NULL,
    venue_id TEXT NOT NULL,
    provider TEXT,
    party_size INTEGER NOT NULL,
    document TEXT NOT NULL,
    seen_at  INTEGER NOT NULL,
    PRIMARY KEY (origin, id)
) WITHOUT ROWID;
CREATE INDEX slots_seen ON slots (seen_at);
CREATE TABLE lists (
    origin   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    position INTEGER NOT NULL,
    id       TEXT NOT NULL,
    PRIMARY KEY (origin, kind, position)
) WITHOUT ROWID;
";

/// The journal of one installation, seen from one service: `origin` keeps apart what belongs to others.
pub(crate) struct Journal {
    pub(super) connection: Connection,
    pub(super) origin: String,
    pub(super) profile: Option<String>,
    path: PathBuf,
}

impl Journal {
    /// Opens the journal, and makes it where there is none: 0600 in a 0700 folder.
    pub(crate) fn open(path: &Path, origin: String, profile: Option<String>) -> Result<Self> {
        make_private(path).map_err(|error| {
            Error::journal(format!("the journal {} cannot be kept: {}", path.display(), reason(&error)))
                .hint("nothing is booked without one: make the folder writable, or set BOOKCTL_HOME to one that is")
        })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut journal = Connection::open_with_flags(path, flags)
            .map(|connection| Journal {
                connection,
                origin,
                profile,
                path: path.to_owned(),
            })
            .map_err(|error| failure(path, &error))?;
        journal.prepare().map_err(|error| failure(path, &error))?;
        let version = journal.version().map_err(|error| failure(path, &error))?;
        if version > VERSION {
            return Err(Error::journal(format!(
                "the journal {} was written by a newer bookctl (version {version}, this one knows {VERSION})",
                path.display()
            ))
            .hint("use the newer bookctl, or another BOOKCTL_HOME"));
        }
        Ok(journal)
    }

    fn prepare(&mut self) -> rusqlite::Result<()> {
        // Before any pragma: eight processes may be here at once.
        self.connection.busy_timeout(BUSY_TIMEOUT)?;
        self.connection
            .pragma_update(None, "synchronous", "EXTRA")?;
        if self.version()? == 0 {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have been faster.
            let version: i64 =
                transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            if version == 0 {
                transaction.execute_batch(SCHEMA)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            transaction.commit()?;
        }
        Ok(())
    }

    fn version(&self) -> rusqlite::Result<i64> {
        self.connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
    }

    /// Runs `work` in one transaction that is on the disk when this returns.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let run = |connection: &mut Connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run(&mut self.connection).map_err(|error| failure(&self.path, &error))
    }

    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        work(&self.connection).map_err(|error| failure(&self.path, &error))
    }
}

fn failure(path: &Path, error: &rusqlite::Error) -> Error {
    let code = error.sqlite_error_code();
    let (why, hint) = match code {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => (
            "is damaged".to_owned(),
            "move it aside and keep it: it may know of a booking that is not settled; a new one is then started",
        ),
        Some(ErrorCode::DiskFull) => (
            "cannot be written: the disk is full".to_owned(),
            "make room, then try again",
        ),
        Some(ErrorCode::ReadOnly) => (
            "cannot be written: it is read-only".to_owned(),
            "make it writable, or set BOOKCTL_HOME to a folder that is",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            format!(
                "was held by another process for {} s",
                BUSY_TIMEOUT.as_secs()
            ),
            "see what other bookctl is running, then try again",
        ),
        _ => (
            format!("cannot be used: {error}"),
            "check the file and its folder",
        ),
    };
    Error::journal(format!("the journal {} {why}", path.display())).hint(hint)
}

/// Makes the folder 0700 and the file 0600 where they are not there yet.
fn make_private(path: &Path) -> std::io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_journal_stops_and_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        fs::write(
            &path,
            "this is no database, and long enough to be taken for one ".repeat(40),
        )
        .unwrap();
        let error = Journal::open(&path, "o".into(), None).err().unwrap();
        assert_eq!(error.code, "journal");
        assert!(
            fs::read_to_string(&path)
                .unwrap()
                .starts_with("this is no database")
        );
    }

    #[test]
    fn a_journal_of_a_newer_program_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let journal = Journal::open(&path, "o".into(), None).unwrap();
        journal
            .connection
            .pragma_update(None, "user_version", 99)
            .unwrap();
        drop(journal);
        assert!(
            Journal::open(&path, "o".into(), None)
                .err()
                .unwrap()
                .message
                .contains("newer")
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_journal_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join("journal.db");
        Journal::open(&path, "o".into(), None).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}
