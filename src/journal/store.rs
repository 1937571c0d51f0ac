//! The journal's file: opened by several processes at once, never half written.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::rate_limit_window::{self, RateLimitWindow};
use super::schema::STEPS;
use crate::model::retention::Retention;
use crate::outcome::{Error, Result, reason};
use crate::platform::lock_wait::{LockWait, LockWaitSettings};
use crate::platform::{ownership, private_file};

/// The journal of one installation, seen from one service: `origin` keeps apart what belongs to others.
pub(crate) struct Journal {
    pub(super) connection: Connection,
    pub(super) origin: String,
    pub(super) profile: Option<String>,
    /// How long guests are remembered.
    pub(super) retention: Retention,
    /// Whose attempts and rate limits are meant: the organization's, as far as we can tell it from others.
    pub(super) account: String,
    /// Whether attempts of other accounts are this organization's, too: a person said so.
    pub(super) takes_any_account: bool,
    /// What answers showed of them, still to be written.
    pub(super) observed: Vec<RateLimitWindow>,
    path: PathBuf,
}

impl Journal {
    /// Opens the journal, and makes it where there is none: 0600 in a 0700 folder.
    pub(crate) fn open(path: &Path, origin: String, profile: Option<String>) -> Result<Self> {
        ownership::refuse_others(path)?;
        Journal::try_open(path, origin, profile).map_err(|why| why.into_error(path))
    }

    /// Like `open`, but returns the reason why the journal cannot be used.
    pub(super) fn try_open(
        path: &Path,
        origin: String,
        profile: Option<String>,
    ) -> Result<Self, Unusable> {
        // A link whose file is not there is no place without a journal: the disk that it leads to may only be missing.
        if fs::symlink_metadata(path).is_err() {
            Journal::start(path)?;
        } else if !path.exists() {
            return Err(Unusable::File(std::io::Error::other(
                "it is a link to a file that is not there",
            )));
        }
        private_file::make(path).map_err(Unusable::File)?;
        private_file::close_folder_of(path);
        // A journal gets its name when it is whole: one that is empty has lost what it knew.
        if fs::metadata(path).map_err(Unusable::File)?.len() == 0 {
            return Err(Unusable::Empty);
        }
        let rollback = private_file::beside(path, "-journal");
        if !rollback.exists() {
            private_file::make(&rollback).map_err(Unusable::File)?;
        }
        let mut journal = Journal::connect(path)?;
        // A transaction ends when its rollback file is cut to nothing, which is synced through a file that is open
        // already. To delete the rollback file, SQLite would have to open the folder for the sync, and it goes on where
        // it cannot: a power cut would then bring the rollback file back, and take the transaction away.
        journal
            .connection
            .pragma_update(None, "journal_mode", "TRUNCATE")?;
        match version(&journal.connection)? {
            0 => return Err(Unusable::Empty),
            version if version > STEPS.len() => return Err(Unusable::Newer(version)),
            version if version < STEPS.len() => journal.step()?,
            _ => {}
        }
        Ok(Journal {
            origin,
            profile,
            ..journal
        })
    }

    /// Makes a journal under another name, and gives it its own when it is whole. Of several processes one does it.
    fn start(path: &Path) -> Result<(), Unusable> {
        private_file::make_folder_of(path).map_err(Unusable::File)?;
        let _alone = private_file::lock(path).map_err(Unusable::File)?;
        if fs::symlink_metadata(path).is_ok() {
            return Ok(());
        }
        let new = private_file::beside(path, ".new");
        drop(Journal::make(&new)?);
        let place = || -> std::io::Result<()> {
            private_file::sync(&new)?;
            private_file::make_unsynced(&private_file::beside(path, "-journal"))?;
            fs::rename(&new, path)?;
            private_file::keep_names(path)
        };
        place().map_err(Unusable::File)
    }

    /// Makes a journal at `path`, in place of what a process that died has left there. It is not synced yet.
    pub(super) fn make(path: &Path) -> Result<Self, Unusable> {
        for left_over in [path.to_owned(), private_file::beside(path, "-journal")] {
            match fs::remove_file(left_over) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Unusable::File(error));
                }
                _ => {}
            }
        }
        private_file::make_unsynced(path).map_err(Unusable::File)?;
        let mut journal = Journal::connect(path)?;
        journal
            .connection
            .pragma_update(None, "synchronous", "OFF")?;
        journal.step()?;
        Ok(journal)
    }

    fn connect(path: &Path) -> Result<Self, Unusable> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut journal = Journal {
            connection: Connection::open_with_flags(path, flags)?,
            origin: String::new(),
            profile: None,
            retention: Retention::default(),
            account: String::new(),
            takes_any_account: false,
            observed: Vec::new(),
            path: path.to_owned(),
        };
        journal.prepare()?;
        Ok(journal)
    }

    /// The schema alone, in a database that is in no file.
    pub(super) fn in_memory() -> rusqlite::Result<Connection> {
        let connection = Connection::open_in_memory()?;
        for step in STEPS {
            connection.execute_batch(step)?;
        }
        Ok(connection)
    }

    /// The same, for the attempts and rate limits of one account at the service.
    pub(crate) fn of_account(self, account: String) -> Self {
        Journal { account, ..self }
    }

    fn prepare(&mut self) -> rusqlite::Result<()> {
        // Before any pragma: eight processes may be here at once.
        let what = format!("the journal {}", self.path.display());
        self.connection
            .busy_handler(Some(LockWait::handler(what)))?;
        self.connection
            .pragma_update(None, "synchronous", "EXTRA")?;
        // What is deleted or replaced is overwritten: a guest who is forgotten is not left in a free page. Copies that
        // a page split leaves behind are another matter: see `rewrite`.
        self.connection.pragma_update(None, "secure_delete", true)
    }

    /// Brings the schema to the present version.
    fn step(&mut self) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been faster.
        for step in STEPS.iter().skip(version(&transaction)?) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "user_version", STEPS.len() as i64)?;
        transaction.commit()
    }

    /// Runs `work` in one transaction that is on the disk when this returns.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let (origin, account) = (&self.origin, &self.account);
        let observed = std::mem::take(&mut self.observed);
        let run = |connection: &mut Connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for seen in observed {
                rate_limit_window::correct(&transaction, origin, account, seen)?;
            }
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run(&mut self.connection).map_err(|error| failure(&self.path, &error))
    }

    /// Rewrites the file from what is in it, so that nothing of what was deleted remains: `secure_delete` overwrites
    /// what is freed, but not the copies that SQLite leaves in a page whose rows it moves to another one.
    pub(super) fn rewrite(&mut self) -> Result<()> {
        self.connection
            .execute_batch("VACUUM")
            .map_err(|error| failure(&self.path, &error))
    }

    /// Rewrites the journal in this file, which takes seconds where it is large; others wait meanwhile.
    pub(crate) fn rewrite_file(path: &Path) -> Result<()> {
        Journal::open(path, String::new(), None)?.rewrite()
    }

    /// The size of the file in bytes.
    pub(super) fn size(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |file| file.len())
    }

    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        work(&self.connection).map_err(|error| failure(&self.path, &error))
    }
}

/// Why a journal cannot be opened.
#[derive(Debug)]
pub(super) enum Unusable {
    /// There is no file to be had.
    File(std::io::Error),
    Database(rusqlite::Error),
    /// Nothing is in it.
    Empty,
    /// It is of this version, which we do not know.
    Newer(usize),
}

impl From<rusqlite::Error> for Unusable {
    fn from(error: rusqlite::Error) -> Self {
        Unusable::Database(error)
    }
}

impl Unusable {
    /// Whether it will never be usable as it is. What is only held, full or forbidden is not lost.
    pub(super) fn is_for_good(&self) -> bool {
        match self {
            Unusable::File(_) => false,
            Unusable::Newer(_) | Unusable::Empty => true,
            Unusable::Database(error) => matches!(
                error.sqlite_error_code(),
                // Unknown is what is said of tables that are not ours.
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown)
            ),
        }
    }

    pub(super) fn into_error(self, path: &Path) -> Error {
        let shown = path.display();
        match self {
            Unusable::File(error) => {
                Error::journal(format!("the journal {shown} cannot be kept: {}", reason(&error)))
                    .hint("nothing is booked without one: make the folder writable, or set BOOKCTL_HOME to one that is")
            }
            Unusable::Database(error) => failure(path, &error),
            Unusable::Empty => Error::journal(format!("the journal {shown} is empty: what it knew is lost"))
                .hint(
                    "look at the service for bookings that it may have known; `bookctl attempts recover` keeps the \
                     file and starts a new journal",
                ),
            Unusable::Newer(version) => Error::journal(format!(
                "the journal {shown} was written by a newer bookctl (version {version}, this one knows {})",
                STEPS.len()
            ))
            .hint("use the newer bookctl, or let `bookctl attempts recover` set it aside"),
        }
    }
}

/// The number of steps that a journal has gone through; what no bookctl wrote counts as newer than any.
fn version(connection: &Connection) -> rusqlite::Result<usize> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

fn failure(path: &Path, error: &rusqlite::Error) -> Error {
    let code = error.sqlite_error_code();
    let (why, hint) = match code {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => (
            "is damaged".to_owned(),
            "`bookctl attempts recover` keeps it aside and starts a new one; until then nothing is booked",
        ),
        Some(ErrorCode::ReadOnly) if is_moved(error) => (
            "was moved or replaced while this command used it".to_owned(),
            "start the command again: what was sent is in the file that was moved, and in the one that took its place",
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
                LockWaitSettings::limit().as_secs_f32()
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

/// Whether the file has another name since it was opened, as after `attempts recover`.
fn is_moved(error: &rusqlite::Error) -> bool {
    error
        .sqlite_error()
        .is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_READONLY_DBMOVED)
}

#[cfg(test)]
mod tests {
    mod trouble;

    use super::super::attempts::derived;
    use super::*;
    use rusqlite::params;

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
        assert_eq!(error.code, crate::outcome::Code::Journal);
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

    #[test]
    fn a_journal_of_an_older_version_is_brought_to_the_present_one_and_what_was_closed_stays_closed()
     {
        for version_before in 1..STEPS.len() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("journal.db");
            let old = Connection::open(&path).unwrap();
            for step in &STEPS[..version_before] {
                old.execute_batch(step).unwrap();
            }
            old.pragma_update(None, "user_version", version_before as i64)
                .unwrap();
            for (key, state, booking, status, doubted) in [
                ("open", "unsettled", None, None, false),
                ("doubted", "unsettled", None, None, true),
                ("settled", "settled", Some("bk_1"), Some(201), true),
                ("refused", "refused", None, Some(400), false),
                ("abandoned", "abandoned", None, None, true),
            ] {
                let row = "INSERT INTO attempts (idempotency_key, origin, state, request, request_hash, booking_id,
                           http_status, doubted, created_at, updated_at)
                           VALUES (?1, 'o', ?2, '{}', 'h', ?3, ?4, ?5, 'then', 'then')";
                old.execute(row, params![key, state, booking, status, doubted])
                    .unwrap();
            }
            drop(old);
            let journal = Journal::open(&path, "o".into(), None).unwrap();
            assert_eq!(version(&journal.connection).unwrap(), STEPS.len());
            for attempt in journal.attempts().unwrap() {
                assert_eq!(derived(&attempt.runs), attempt.state, "{attempt:?}");
                assert_eq!(attempt.runs[0].booking_id, attempt.booking_id);
            }
            let open: Vec<String> = journal
                .open_attempts()
                .unwrap()
                .into_iter()
                .map(|attempt| attempt.idempotency_key)
                .collect();
            assert_eq!(open, ["doubted", "open"]);
            let doubtful = journal.attempts_in_doubt().unwrap();
            assert_eq!(doubtful[0].idempotency_key, "doubted");
        }
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
