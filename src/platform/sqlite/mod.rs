//! SQLite files that several processes share: created atomically, private to their owner, migrated to the present
//! schema.

mod failure;
mod make;
mod schema;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

pub(crate) use failure::Failure;
pub(crate) use schema::create;

use crate::platform::lock_wait::LockWait;

/// A kind of database file.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// Its name in messages, such as "the sandbox's database".
    pub(crate) name: &'static str,
    /// The `application_id` of such files; 0 if the kind has none.
    pub(crate) application: i64,
    /// The migrations. Each one brings a file from the previous version to the next; a new file runs all of them. A
    /// released migration never changes, because existing files have run it.
    pub(crate) steps: &'static [&'static str],
    /// The value of `PRAGMA synchronous`.
    pub(crate) synchronous: &'static str,
    /// Sets the options of a connection, and the page size of a new file.
    pub(crate) tune: fn(&Connection) -> rusqlite::Result<()>,
}

/// Opens the file with a write-ahead log. Creates it if there is none: 0600, in a 0700 folder.
///
/// While another process holds the lock, this and every later use of the connection waits as [`LockWait`] does: with
/// a limit, with a note to the person, and until a signal.
pub(crate) fn open(path: &Path, kind: &Kind) -> Result<Connection, Failure> {
    make::make(path, kind)?;
    let mut connection = connect(path)?;
    // SQLite would also open a file that it can only read, and then fail at the first write.
    if connection.is_readonly("main")? {
        return Err(Failure::ReadOnly);
    }
    let waited_for = format!("{} {}", kind.name, path.display());
    connection.busy_handler(Some(LockWait::handler(waited_for.clone())))?;
    // A checkpoint at every exit would cost each command two syncs. See `fold_in`.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Check before changing anything, so that a file of another kind stays as it is.
    let version = schema::check(&mut connection, kind)?;
    (kind.tune)(&connection)?;
    switch_to_log(&connection, waited_for)?;
    connection.pragma_update(None, "synchronous", kind.synchronous)?;
    if version < kind.steps.len() {
        schema::bring_up(&mut connection, kind)?;
    }
    Ok(connection)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
}

/// Enables the write-ahead log. That needs an exclusive lock, for which SQLite does not call the busy handler.
fn switch_to_log(connection: &Connection, waited_for: String) -> rusqlite::Result<()> {
    let mut wait = LockWait::begin(waited_for);
    loop {
        let switched = connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(()));
        match switched {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && wait.pause() => {}
            outcome => return outcome,
        }
    }
}

/// The size of the write-ahead log in bytes.
pub(crate) fn log_size(path: &Path) -> u64 {
    std::fs::metadata(beside(path, "-wal")).map_or(0, |file| file.len())
}

/// Moves the content of the write-ahead log into the database, and empties the log. If another process uses the file
/// right now, the log stays: that process or the next one folds it in.
///
/// From then on the connection does not wait for locks.
pub(crate) fn fold_in(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
