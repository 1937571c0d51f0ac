//! Files of SQLite that several processes share: made whole, for their owner alone, brought to the present schema.

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

/// One kind of file.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// Its name in a sentence, such as "the sandbox's database".
    pub(crate) name: &'static str,
    /// The `application_id` that marks such a file; 0 where the kind has none.
    pub(crate) application: i64,
    /// The schema: each step brings a file of the version before to the next, and a new file goes through all of them.
    /// A released step never changes, since files that went through it exist.
    pub(crate) steps: &'static [&'static str],
    /// When SQLite syncs, as `PRAGMA synchronous` names it.
    pub(crate) synchronous: &'static str,
    /// Sets what only a connection has, and the page size of a new file.
    pub(crate) tune: fn(&Connection) -> rusqlite::Result<()>,
}

/// Opens the file with a write-ahead log, and makes it if there is none: 0600 in a 0700 folder.
///
/// While another process holds the file, this and every later use of the connection waits as [`Wait`] does: not for
/// ever, not in silence, and not after a signal.
pub(crate) fn open(path: &Path, kind: &Kind) -> Result<Connection, Failure> {
    make::make(path, kind)?;
    let mut connection = connect(path)?;
    // SQLite also opens a file that it can only read, and then fails at the first write.
    if connection.is_readonly("main")? {
        return Err(Failure::ReadOnly);
    }
    let waited_for = format!("{} {}", kind.name, path.display());
    connection.busy_handler(Some(LockWait::handler(waited_for.clone())))?;
    // A checkpoint at every exit would cost each command two syncs: see `fold_in`.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Before anything is changed: a file that is not of this kind stays as it is.
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

/// Turning the log on needs the file alone, and SQLite does not ask the busy handler about that.
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

/// Moves what is in the write-ahead log into the file itself, and empties the log. If another process uses the file
/// right now, the log stays as it is: that process, or the next one, folds it in.
///
/// The connection does not wait for other processes from then on.
pub(crate) fn fold_in(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
