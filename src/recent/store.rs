//! The file, shared by the processes of this machine.

use std::io::{self, ErrorKind};
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::list::RecentList;
use crate::outcome::{Code, Error, Result};
use crate::platform::sqlite::{self, Failure, JournalMode, Kind, Peek};
use crate::platform::{ownership, private_file, system};

/// What was seen of one service: `origin` keeps apart what belongs to others.
pub(crate) struct Recent {
    connection: Connection,
    pub(super) origin: String,
    /// The terminal that this process belongs to; empty where that is unknown.
    pub(super) terminal: String,
}

const KIND: Kind = Kind {
    name: "the file of recent rows",
    application: 0,
    steps: &[FIRST, LISTS_BY_TERMINAL],
    journal: JournalMode::Unsynced,
    tune: |_| Ok(()),
};

const FIRST: &str = "
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

/// A list of a terminal, and under the empty name the newest of all.
const LISTS_BY_TERMINAL: &str = "
ALTER TABLE lists RENAME TO lists_of_all;
CREATE TABLE lists (
    origin    TEXT NOT NULL,
    kind      TEXT NOT NULL,
    terminal  TEXT NOT NULL,
    position  INTEGER NOT NULL,
    id        TEXT NOT NULL,
    listed_at INTEGER NOT NULL,
    PRIMARY KEY (origin, kind, terminal, position)
) WITHOUT ROWID;
INSERT INTO lists SELECT origin, kind, '', position, id, 0 FROM lists_of_all;
DROP TABLE lists_of_all;
";

impl Recent {
    /// Opens the file, and makes it where there is none: 0600 in a 0700 folder. One that is damaged is replaced.
    ///
    /// `journal` is where earlier versions kept these rows: a new file takes over from it how far received events were
    /// taken in, so that the journal does not take in again what was deleted from it since.
    pub(crate) fn open(path: &Path, origin: String, journal: Option<&Path>) -> Result<Self> {
        ownership::refuse_others(path)?;
        let is_new = !path.exists();
        let opened = match sqlite::open(path, &KIND) {
            Err(why) if why.is_permanent() => {
                replace(path).and_then(|()| sqlite::open(path, &KIND))
            }
            opened => opened,
        };
        let mut recent = Recent {
            connection: opened.map_err(|why| unusable(&why))?,
            origin,
            terminal: system::process::terminal(),
        };
        if let (true, Some(journal)) = (is_new, journal) {
            recent.take_over(journal)?;
        }
        Ok(recent)
    }

    fn take_over(&mut self, journal: &Path) -> Result<()> {
        let Some(journal) = Peek::open(journal) else {
            return Ok(());
        };
        let kind = RecentList::TakenIn.as_str();
        let row =
            |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let taken = journal.rows("SELECT origin, id FROM lists WHERE kind = ?1", [kind], row);
        if taken.is_empty() {
            return Ok(());
        }
        self.write(|connection| {
            let insert =
                "INSERT OR IGNORE INTO lists (origin, kind, terminal, position, id, listed_at)
                 VALUES (?1, ?2, '', 1, ?3, 0)";
            for (origin, number) in &taken {
                connection.execute(insert, [origin, kind, number])?;
            }
            Ok(())
        })
    }

    /// Runs `work` in one transaction.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let immediate = TransactionBehavior::Immediate;
        let run = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run(&mut self.connection).map_err(|error: rusqlite::Error| unusable(&error.into()))
    }

    /// Writes with no copy of the pages on the disk, which may be full.
    pub(super) fn write_in_place(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let connection = &self.connection;
        let in_memory = connection.query_row("PRAGMA journal_mode = MEMORY", (), |_| Ok(()));
        in_memory.map_err(|error| unusable(&error.into()))?;
        self.write(work)
    }

    /// Fails if nothing can be written: what was shown last is missing then.
    ///
    /// # Errors
    ///
    /// `io` (1).
    pub(crate) fn check_writable(&self) -> Result<()> {
        match self.connection.is_readonly("main") {
            Ok(false) => Ok(()),
            _ => Err(unusable(&Failure::ReadOnly)),
        }
    }

    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        work(&self.connection).map_err(|error| unusable(&error.into()))
    }
}

/// Removes a file that cannot be used, so that a new one is made.
fn replace(path: &Path) -> Result<(), Failure> {
    for name in [path.to_owned(), private_file::beside(path, "-journal")] {
        match std::fs::remove_file(name) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

fn unusable(why: &Failure) -> Error {
    let why = io::Error::other(why.to_string());
    Error::caused(Code::Io, "the file of recent rows cannot be used", why)
        .hint("make the folder writable, or set BOOKCTL_HOME to a writable folder")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::venue::Venue;
    use crate::recent::Shown;

    #[test]
    fn a_list_that_cannot_be_stored_is_not_taken_for_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recent.db");
        let mut recent = Recent::open(&path, "o".into(), None).unwrap();
        let list = RecentList::Bookings;
        recent.remember_list(list, ["bk_1"].into_iter()).unwrap();
        // As on a full disk: the file cannot grow.
        let limit = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let limited = "PRAGMA max_page_count = 1";
        recent.connection.query_row(limited, (), limit).unwrap();
        let long = "bk_2".repeat(9_999);
        assert!(recent.remember_list(list, [&*long].into_iter()).is_err());
        let again = Recent::open(&path, "o".into(), None).unwrap();
        assert_eq!(again.listed(list, 1).unwrap(), None);
    }

    #[test]
    fn venues_that_cannot_be_stored_leave_no_row_of_an_earlier_search() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recent.db");
        let mut recent = Recent::open(&path, "o".into(), None).unwrap();
        let venues = |name: &str| {
            let venue = serde_json::json!({"venue_id": "ven_1", "name": name});
            [Venue::from_value(venue).unwrap()]
        };
        let short = venues("short");
        recent.remember_venues(&short, Shown::AsList).unwrap();
        let limit = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let limited = "PRAGMA max_page_count = 1";
        recent.connection.query_row(limited, (), limit).unwrap();
        let long = venues(&"long".repeat(9_999));
        assert!(recent.remember_venues(&long, Shown::AsList).is_err());
        let again = Recent::open(&path, "o".into(), None).unwrap();
        assert_eq!(again.listed(RecentList::Venues, 1).unwrap(), None);
    }

    #[test]
    fn a_row_of_a_file_that_cannot_be_written_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recent.db");
        let mut recent = Recent::open(&path, "o".into(), None).unwrap();
        let list = RecentList::Bookings;
        recent.remember_list(list, ["bk_1"].into_iter()).unwrap();
        recent.check_writable().unwrap();
        let read_only = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        recent.connection = Connection::open_with_flags(&path, read_only).unwrap();
        assert!(recent.check_writable().is_err());
    }

    #[test]
    fn a_damaged_file_is_replaced_and_its_rows_are_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recent.db");
        std::fs::write(&path, "no database ".repeat(500)).unwrap();
        let mut recent = Recent::open(&path, "o".into(), None).unwrap();
        recent
            .remember_one(RecentList::LastBooking, "bk_1")
            .unwrap();
        let again = Recent::open(&path, "o".into(), None).unwrap();
        let last = again.listed(RecentList::LastBooking, 1).unwrap();
        assert_eq!(last.as_deref(), Some("bk_1"));
    }

    #[test]
    fn a_new_file_takes_over_how_far_an_older_versions_journal_took_in_events() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal.db");
        let old = Connection::open(&journal).unwrap();
        old.execute_batch(FIRST).unwrap();
        old.execute_batch(
            "INSERT INTO lists VALUES ('o', 'taken in', 1, '7'), ('o', 'venues', 1, 'v')",
        )
        .unwrap();
        let path = folder.path().join("recent.db");
        let recent = Recent::open(&path, "o".into(), Some(&journal)).unwrap();
        let listed = |list| recent.listed(list, 1).unwrap();
        assert_eq!(listed(RecentList::TakenIn).as_deref(), Some("7"));
        assert_eq!(listed(RecentList::Venues), None);
    }
}
