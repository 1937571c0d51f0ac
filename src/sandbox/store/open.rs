//! Opens the database. Several processes may do so at once, even to create it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::outcome::Error;
use crate::platform::ownership::COMPANIONS;
use crate::platform::private_file;
use crate::platform::sql::{SqlFailure, SqlResult};
use crate::platform::sqlite::{self, JournalMode, Kind};

/// The file. Commits are not synced one by one: a power cut may lose the last ones, but never
/// leaves a partial one.
const KIND: Kind = Kind {
    name: "the sandbox's database",
    // "bksb"
    application: 0x626b_7362,
    version: 27,
    schema: include_str!("schema.sql"),
    migrate: None,
    journal: JournalMode::WriteAhead { synchronous: "NORMAL" },
    tune,
};

const STATEMENTS: usize = 64;
/// The size of the page cache, in kilobytes below zero: the process stays below 40 MB.
const CACHE: i64 = -20_480;

/// Sets a file of another version aside, so that a new one takes its place. Returns its new name;
/// `None` if another process did it, or it is of this version.
pub(crate) fn set_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    let _alone = private_file::lock(path)?;
    // Another process may have done it. To make a file, `open` would wait for this very lock.
    if !path.exists() {
        return Ok(None);
    }
    let Err(SqlFailure::OtherVersion { found, .. }) = sqlite::open(path, &KIND) else {
        return Ok(None);
    };
    let aside = private_file::add_suffix(path, &format!(".version-{found}"));
    sqlite::remove(&aside)?;
    for suffix in [""].iter().chain(&COMPANIONS) {
        let (from, to) =
            (private_file::add_suffix(path, suffix), private_file::add_suffix(&aside, suffix));
        if from.exists() {
            private_file::rename(&from, &to)?;
        }
    }
    Ok(Some(aside))
}

pub(super) fn connect(database: Option<&Path>) -> SqlResult<Connection> {
    let Some(path) = database else {
        return Ok(ephemeral()?);
    };
    let connection = sqlite::open(path, &KIND)?;
    // In a read-only folder, SQLite opens the file, but cannot make its log.
    connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")?;
    Ok(connection)
}

/// A database of this process alone. SQLite's `:memory:` scans all of its pages at almost every
/// commit up to 1 GB, so that it slows down; an unnamed file does not.
///
/// All of it is one transaction, which never ends: at each commit SQLite would go through the pages
/// that are not in the file yet. If the disk is full, SQLite takes the whole transaction back,
/// tables and all, and nothing is answered from then on.
fn ephemeral() -> rusqlite::Result<Connection> {
    let connection = Connection::open("")?;
    let (option, on) = sqlite::STABLE_PLANS;
    connection.set_db_config(option, on)?;
    tune(&connection)?;
    connection.query_row("PRAGMA journal_mode = MEMORY", (), |_| Ok(()))?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    connection.execute_batch(KIND.schema)?;
    Ok(connection)
}

/// Sets the page and cache sizes that measured fastest. Each create writes to the index of keys and
/// to that of slots, somewhere in the file: small pages.
fn tune(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "page_size", 4_096)?;
    connection.pragma_update(None, "cache_size", CACHE)
}

/// The error of a database that cannot be used: the file, or memory.
pub(crate) fn unusable(database: Option<&Path>, failure: impl Into<SqlFailure>) -> Error {
    let (path, failure) = (database.unwrap_or(Path::new(":memory:")).display(), failure.into());
    let hint = match failure {
        SqlFailure::Locked => "wait for the other bookctl to finish, then try again",
        SqlFailure::Unreachable(_) | SqlFailure::ReadOnly => {
            "make it writable, or set BOOKCTL_HOME to another folder"
        }
        SqlFailure::Empty => &format!(
            "restore a copy, or delete {path} and {path}-wal to start with an empty sandbox"
        ),
        SqlFailure::OtherVersion { .. } => &format!("name another file, or delete {path}"),
        SqlFailure::Damaged | SqlFailure::Foreign => &format!(
            "move {path} and {path}-wal to another folder, or set BOOKCTL_HOME to another folder"
        ),
        _ => "check the disk space and the folder, or set BOOKCTL_HOME to another folder",
    };
    Error::config(format!("{} {path} {failure}", KIND.name)).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn open(path: &Path) -> SqlResult<Connection> {
        connect(Some(path))
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("sandbox.db");
        open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_size_of_the_log_is_known() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("sandbox.db");
        let connection = open(&path).unwrap();
        let change = "CREATE TABLE large AS SELECT zeroblob(300000)";
        connection.execute_batch(change).unwrap();
        assert!(sqlite::log_size(&path) > 300_000);
        sqlite::checkpoint(&connection).unwrap();
        assert_eq!(sqlite::log_size(&path), 0);
    }

    fn failure(path: &Path) -> SqlFailure {
        open(path).unwrap_err()
    }

    #[test]
    fn file_no_sandbox_of_this_version_is_refused_by_name() {
        let home = tempfile::tempdir().unwrap();
        let garbage = home.path().join("garbage.db");
        fs::write(&garbage, "no database ".repeat(1_000)).unwrap();
        assert!(matches!(failure(&garbage), SqlFailure::Damaged));

        let foreign = home.path().join("foreign.db");
        let other = Connection::open(&foreign).unwrap();
        other.execute_batch("CREATE TABLE songs (title TEXT)").unwrap();
        drop(other);
        let before = fs::read(&foreign).unwrap();
        assert!(matches!(failure(&foreign), SqlFailure::Foreign));
        assert!(fs::read(&foreign).unwrap() == before);

        for version in [KIND.version - 1, KIND.version + 1] {
            let other = home.path().join(format!("{version}.db"));
            open(&other).unwrap().pragma_update(None, "user_version", version).unwrap();
            let before = fs::read(&other).unwrap();
            assert!(
                matches!(failure(&other), SqlFailure::OtherVersion { found, .. } if found == version)
            );
            assert!(fs::read(&other).unwrap() == before);
            let aside = set_aside(&other).unwrap().unwrap();
            assert!(fs::read(aside).unwrap() == before && set_aside(&other).unwrap().is_none());
        }

        let empty = home.path().join("empty.db");
        fs::write(&empty, "").unwrap();
        assert!(matches!(failure(&empty), SqlFailure::Empty));
        assert_eq!(fs::read(&empty).unwrap(), b"");
    }
}
