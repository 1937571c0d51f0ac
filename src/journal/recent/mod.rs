//! The rows of the last lists, for `@N`, and the venues and slots of the last searches.
//!
//! It is always a local file, `recent.db`. It may be lost: nothing in it shows what was booked. So
//! it is not synced, and an unusable file is replaced.

pub(crate) mod rows;

use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

use rusqlite::{Connection, Transaction, TransactionBehavior};

pub(crate) use rows::{RecentList, RecentSlot};

use crate::outcome::{Code, Error, Result};
use crate::platform::sql::SqlFailure;
use crate::platform::sqlite::{self, JournalMode, Kind};
use crate::platform::{ownership, system};

/// What was seen of one service: `origin` keeps apart what belongs to others.
pub(crate) struct Recent {
    connection: Connection,
    origin: String,
    viewer: Viewer,
}

/// Whose lists a process means.
#[derive(Clone, Debug)]
pub(crate) struct Viewer {
    /// The process that started this one, such as a shell; empty where it has ended.
    pub(crate) owner: String,
    /// The terminal; empty without one, or if the command may use no other process's list.
    pub(crate) terminal: String,
}

/// What tests set in place of the process that started this one.
static SHELL: OnceLock<String> = OnceLock::new();

/// Sets the owner of this process's lists: all commands with it share them, as in one shell.
pub(crate) fn set_shell(name: Option<OsString>) {
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        SHELL.get_or_init(|| name.to_string_lossy().into_owned());
    }
}

impl Viewer {
    pub(crate) fn of_process() -> Self {
        let owner = SHELL.get().cloned().unwrap_or_else(system::process::parent);
        Viewer { owner, terminal: system::process::terminal() }
    }
}

const KIND: Kind = Kind {
    name: "the file of recent rows",
    application: 0,
    version: 22,
    schema: SCHEMA,
    migrate: None,
    journal: JournalMode::Unsynced,
    tune: |_| Ok(()),
};

/// A list is a JSON array of ids. The list with the highest rowid is the newest.
const SCHEMA: &str = "
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
    origin    TEXT NOT NULL,
    kind      TEXT NOT NULL,
    owner     TEXT NOT NULL,
    terminal  TEXT NOT NULL,
    ids       TEXT NOT NULL,
    listed_at INTEGER NOT NULL,
    PRIMARY KEY (origin, kind, owner)
);
";

impl Recent {
    /// Opens or makes the file: 0600 in a 0700 folder. A damaged or other version is replaced.
    pub(crate) fn open(path: &Path, origin: String) -> Result<Self> {
        ownership::refuse_others(path)?;
        let opened = match sqlite::open(path, &KIND) {
            Err(why) if why.is_permanent() => sqlite::remove(path)
                .map_err(SqlFailure::from)
                .and_then(|()| sqlite::open(path, &KIND)),
            opened => opened,
        };
        Ok(Recent {
            connection: opened.map_err(|why| unusable(&why))?,
            origin,
            viewer: Viewer::of_process(),
        })
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection).map_err(|error| unusable(&error.into()))
    }

    fn write(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<()> {
        self.read(|connection| {
            let immediate = TransactionBehavior::Immediate;
            let transaction = Transaction::new_unchecked(connection, immediate)?;
            work(&transaction)?;
            transaction.commit()
        })
    }

    /// Fails (`io`, 1) if nothing can be written: what was shown last is missing then.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match self.connection.is_readonly("main") {
            Ok(false) => Ok(()),
            _ => Err(unusable(&SqlFailure::ReadOnly)),
        }
    }
}

fn unusable(why: &SqlFailure) -> Error {
    Error::new(Code::Io, format!("the file of recent rows {why}"))
        .hint("make the folder writable, or set BOOKCTL_HOME to a writable folder")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::tests::place;

    #[test]
    fn unstored_list_removes_the_one_before() {
        let (_folder, path) = place();
        let recent = Recent::open(&path, "o".into()).unwrap();
        let list = RecentList::Bookings;
        recent.remember_list(list, ["bk_1"].into_iter()).unwrap();
        // As on a full disk: the file cannot grow.
        let limit = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let limited = "PRAGMA max_page_count = 1";
        recent.connection.query_row(limited, (), limit).unwrap();
        let long = "bk_2".repeat(9_999);
        assert!(recent.remember_list(list, [&*long].into_iter()).is_err());
        let again = Recent::open(&path, "o".into()).unwrap();
        assert_eq!(again.listed(list, 1, true).unwrap(), None);
    }

    #[test]
    fn a_row_of_a_file_that_cannot_be_written_is_refused() {
        let (_folder, path) = place();
        let mut recent = Recent::open(&path, "o".into()).unwrap();
        recent.check_writable().unwrap();
        let read_only = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        recent.connection = Connection::open_with_flags(&path, read_only).unwrap();
        assert!(recent.check_writable().is_err());
    }

    #[test]
    fn damaged_file_and_one_of_another_version_are_replaced() {
        let (_folder, path) = place();
        std::fs::write(&path, "no database ".repeat(500)).unwrap();
        let list = RecentList::LastBooking;
        let recent = Recent::open(&path, "o".into()).unwrap();
        recent.remember_one(list, "bk_1").unwrap();
        let again = Recent::open(&path, "o".into()).unwrap();
        assert_eq!(again.listed(list, 1, true).unwrap().as_deref(), Some("bk_1"));
        let version = again.connection.pragma_update(None, "user_version", 1);
        version.unwrap();
        drop((recent, again));
        let replaced = Recent::open(&path, "o".into()).unwrap();
        assert_eq!(replaced.listed(list, 1, true).unwrap(), None);
    }
}
