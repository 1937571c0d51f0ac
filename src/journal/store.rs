//! Where the journal is: a file that the processes of one computer share, or a PostgreSQL database
//! that a team shares.
//!
//! Everything else of the journal is written once, as statements that both understand.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use serde_json::Value;

use super::limits::{RateLimitWindow, store_observed};
use super::scope::Scope;
use super::{schema, team};
use crate::outcome::{Error, Result};
use crate::platform::ownership;
use crate::platform::postgres::Database;
use crate::platform::sql::{Sql, SqlFailure, SqlResult};
use crate::platform::sqlite::{self, JournalMode, Kind};
use crate::platform::system::files;

pub(crate) struct Journal {
    place: Backend,
    pub(crate) scope: Scope,
    /// What answers showed of rate limits, still to be written.
    pub(super) observed: RefCell<Vec<(String, Option<RateLimitWindow>)>>,
}

enum Backend {
    File { connection: Connection, path: PathBuf },
    Team(Box<Database>),
}

/// The file. A commit is on the disk when it returns: nothing is sent that was not written down.
pub(super) const KIND: Kind = Kind {
    name: "the journal",
    application: 0,
    version: schema::VERSION,
    schema: concat!(
        include_str!("version.sql"),
        include_str!("schema.sql"),
        include_str!("file.sql")
    ),
    migrate: Some(schema::migrate_file),
    journal: JournalMode::Durable,
    tune,
};

pub(super) const PAGE_SIZE: u32 = 8_192;

/// What is deleted or replaced is overwritten: a guest who is forgotten is not left in a free page.
/// Copies that a page split leaves behind are another matter: see `rewrite`.
fn tune(connection: &Connection) -> rusqlite::Result<()> {
    connection.create_scalar_function("without_guest", 1, FunctionFlags::SQLITE_UTF8, |call| {
        let document: Option<String> = call.get(0)?;
        Ok(document.map(|document| without_guest(&document)))
    })?;
    // All tables' columns stand in the first page: another journal's can replace a lost one.
    connection.pragma_update(None, "page_size", PAGE_SIZE)?;
    connection.pragma_update(None, "secure_delete", true)
}

/// A request without its guest. One that cannot be read keeps nothing. The shared journal has a
/// function of this name.
fn without_guest(request: &str) -> String {
    let mut request: Value = serde_json::from_str(request).unwrap_or_default();
    match &mut request {
        Value::Object(fields) => {
            fields.retain(|name, _| !matches!(name.as_str(), "customer" | "end_user"));
            request.to_string()
        }
        _ => "{}".to_owned(),
    }
}

impl Journal {
    /// Opens the journal, and makes it where there is none: 0600 in a 0700 folder.
    pub(crate) fn open(path: &Path, scope: Scope) -> Result<Self> {
        ownership::refuse_others(path)?;
        let journal = Journal::try_open(path, scope).map_err(|why| into_error(path, &why))?;
        // Checked again: a file that `recover` was setting aside when killed has two names.
        refuse_second_name(path)?;
        Ok(journal)
    }

    /// Like `open`, but returns the reason why the journal cannot be used.
    pub(super) fn try_open(path: &Path, scope: Scope) -> Result<Self, SqlFailure> {
        let connection = sqlite::open(path, &KIND)?;
        schema::check_tables(&connection)?;
        path.parent().into_iter().for_each(files::close_folder);
        Ok(Journal::in_file(connection, path, scope))
    }

    /// Makes a journal at `path`, replacing what a dead process left. Not synced yet.
    pub(super) fn make(path: &Path) -> Result<Self, SqlFailure> {
        Ok(Journal::in_file(sqlite::build(path, &KIND)?, path, Scope::default()))
    }

    fn in_file(connection: Connection, path: &Path, scope: Scope) -> Self {
        let place = Backend::File { connection, path: path.to_owned() };
        Journal { place, scope, observed: RefCell::default() }
    }

    /// Opens a team's journal. Connects to nothing yet: its first use may fail.
    pub(crate) fn open_shared(mut database: Database, scope: Scope) -> Self {
        database.guard = Some(team::GUARD);
        let place = Backend::Team(Box::new(database));
        Journal { place, scope, observed: RefCell::default() }
    }

    pub(super) fn is_shared(&self) -> bool {
        matches!(self.place, Backend::Team(_))
    }

    /// Runs `work` in one transaction that is on the disk when this returns. A shared journal may
    /// run it again, and it must then find its own effects: see [`Database::transaction`].
    pub(super) fn write<T>(&self, work: impl Fn(&dyn Sql, &Scope) -> SqlResult<T>) -> Result<T> {
        let observed = self.observed.take();
        let work = |statements: &dyn Sql| {
            for seen in &observed {
                store_observed(statements, &self.scope, seen)?;
            }
            work(statements, &self.scope)
        };
        match &self.place {
            Backend::File { connection, path } => {
                let write = || {
                    let behavior = TransactionBehavior::Immediate;
                    let transaction = Transaction::new_unchecked(connection, behavior)?;
                    let value = work(&*transaction)?;
                    transaction.commit()?;
                    Ok(value)
                };
                write().map_err(|why: SqlFailure| into_error(path, &why))
            }
            Backend::Team(database) => on_team(database, || database.transaction(&work)),
        }
    }

    pub(super) fn read<T>(&self, work: impl Fn(&dyn Sql, &Scope) -> SqlResult<T>) -> Result<T> {
        match &self.place {
            Backend::File { connection, path } => {
                work(connection, &self.scope).map_err(|why| into_error(path, &why))
            }
            Backend::Team(database) => {
                on_team(database, || database.read(&|statements| work(statements, &self.scope)))
            }
        }
    }

    /// Begins to connect to a shared journal that a booking is going to need.
    pub(crate) fn connect_ahead(&self) {
        if let Backend::Team(database) = &self.place {
            database.connect_ahead();
        }
    }

    /// Rewrites the file from what is in it, so that nothing of what was deleted remains:
    /// `secure_delete` overwrites what is freed, but not the copies that SQLite leaves in a page
    /// whose rows it moves to another one. PostgreSQL vacuums.
    pub(super) fn rewrite(&self) -> Result<()> {
        let Backend::File { connection, path } = &self.place else {
            return Ok(());
        };
        connection.execute_batch("VACUUM").map_err(|error| into_error(path, &error.into()))
    }

    /// Rewrites the journal in this file, which takes seconds if it is large; others wait.
    pub(crate) fn rewrite_file(path: &Path) -> Result<()> {
        Journal::open(path, Scope::default())?.rewrite()
    }

    pub(super) fn file(&self) -> Option<(&Connection, &Path)> {
        match &self.place {
            Backend::File { connection, path } => Some((connection, path)),
            Backend::Team(_) => None,
        }
    }
}

/// Runs `work`, once more if the tables had to be brought to this version first.
fn on_team<T>(database: &Database, work: impl Fn() -> SqlResult<T>) -> Result<T> {
    let outcome = match work() {
        Err(SqlFailure::Older) => team::migrate(database).and_then(|()| work()),
        outcome => outcome,
    };
    outcome.map_err(|why| team::error(database, &why))
}

/// Refuses a journal that has another name, as a backup with hard links gives it: what is booked
/// under one name would not be known under the other once one of them is replaced, and each name
/// has a rollback file of its own.
#[cfg(unix)]
fn refuse_second_name(path: &Path) -> Result<()> {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use crate::platform::{private_file, shell};

    if fs::metadata(path).is_ok_and(|found| found.nlink() <= 1) {
        return Ok(());
    }
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let copy = private_file::add_suffix(&real, ".copy");
    let [real, copy] = [real, copy].map(|it| shell::word(&it.to_string_lossy()));
    let what = format!("{} {} has a second name (a hard link)", KIND.name, path.display());
    Err(Error::journal(what).hint(format!(
        "give this one a file of its own, while no bookctl runs: cp -p {real} {copy} && mv {copy} {real}"
    )))
}

#[cfg(not(unix))]
fn refuse_second_name(_: &Path) -> Result<()> {
    Ok(())
}

pub(super) fn into_error(path: &Path, failure: &SqlFailure) -> Error {
    schema::unusable(&format!("{} {}", KIND.name, path.display()), failure)
}

#[cfg(test)]
mod tests {
    mod trouble;

    use std::fs;

    use super::*;
    use crate::journal::recover;
    use crate::journal::tests::{fresh, open, place, scope};

    /// Of a newer version, which says from which version on it can be read.
    #[test]
    fn a_newer_journal_is_used_unless_it_says_that_it_cannot_be() {
        let (_folder, path) = place();
        let newer = "ALTER TABLE attempts ADD COLUMN later TEXT; CREATE TABLE more (id); PRAGMA user_version = 99;
             UPDATE bookctl_journal SET version = 99, written_by = '9.9.9'";
        open(&path, "o").execute(newer);
        open(&path, "o").run("k", &serde_json::json!({}));
        assert!(recover(&path).unwrap().is_none());
        let journal = open(&path, "o");
        for (change, version) in [
            ("UPDATE bookctl_journal SET readable_from = 99", "install bookctl 9.9.9 or newer"),
            ("UPDATE bookctl_journal SET version = 98", "the version that wrote it"),
        ] {
            journal.execute(change);
            let before = fs::read(&path).unwrap();
            for error in [Journal::open(&path, scope("o")).err(), recover(&path).err()] {
                let error = error.unwrap();
                assert!(error.message.contains("another version of bookctl ("), "{error:?}");
                assert!(error.hint.as_deref().unwrap().contains(version), "{error:?}");
            }
            assert!(fs::read(&path).unwrap() == before);
        }
    }

    #[test]
    fn a_journal_with_tables_triggers_or_views_of_others_is_refused() {
        let (_folder, path) = place();
        for (add, remove) in [
            (
                "CREATE TRIGGER t AFTER INSERT ON attempts BEGIN DELETE FROM attempts; END",
                "DROP TRIGGER t",
            ),
            ("CREATE VIEW v AS SELECT * FROM attempts", "DROP VIEW v"),
            ("CREATE TABLE t (id)", "DROP TABLE t"),
            ("ALTER TABLE runs ADD COLUMN c TEXT", "ALTER TABLE runs DROP COLUMN c"),
            (
                "ALTER TABLE runs DROP COLUMN error_code",
                "ALTER TABLE runs ADD COLUMN error_code TEXT",
            ),
        ] {
            let journal = open(&path, "o");
            journal.execute(add);
            let error = Journal::open(&path, scope("o")).err().unwrap();
            assert!(error.message.contains("are not those"), "{add}: {error:?}");
            journal.execute(remove);
        }
        open(&path, "o").run("k", &serde_json::json!({}));
    }

    #[cfg(unix)]
    #[test]
    fn the_journal_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join("journal.db");
        open(&path, "o");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}
