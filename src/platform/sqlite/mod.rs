//! SQLite files that several processes share: created atomically, private, of one schema.

mod make;
mod statements;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

pub(crate) use make::{build, remove};

use crate::platform::lock_wait::LockWait;
use crate::platform::private_file::add_suffix;
use crate::platform::sql::{SqlFailure, SqlResult};

/// How a file survives a crash, and which promise a commit makes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum JournalMode {
    /// A commit is on the disk when it returns: a rollback file with `synchronous=EXTRA`. SQLite
    /// then refuses to write to a file that was renamed since it was opened.
    ///
    /// The rollback file is truncated at the end of a transaction, and that is synced through a
    /// file that is open already. To delete it, SQLite would have to open the folder for the sync,
    /// and it goes on where it cannot: a power cut would then bring the rollback file back, and
    /// take the transaction away.
    Durable,
    /// A write-ahead log: readers do not wait for the writer. `synchronous` is the value of that
    /// pragma: `FULL` syncs each commit, `NORMAL` only the checkpoints.
    WriteAhead { synchronous: &'static str },
    /// A rollback file, and nothing is ever synced: what the file holds may be lost in a power cut.
    Unsynced,
}

impl JournalMode {
    fn synchronous(self) -> &'static str {
        match self {
            JournalMode::Durable => "EXTRA",
            JournalMode::WriteAhead { synchronous } => synchronous,
            JournalMode::Unsynced => "OFF",
        }
    }

    fn has_log(self) -> bool {
        matches!(self, JournalMode::WriteAhead { .. })
    }
}

/// Keeps the plan of a statement. Otherwise SQLite plans some statements anew for each value that is
/// bound, which takes longer than to run them.
pub(crate) const STABLE_PLANS: (DbConfig, bool) = (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true);

#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// Its name in messages, such as "the sandbox's database".
    pub(crate) name: &'static str,
    /// The `application_id` of such files; 0 if the kind has none.
    pub(crate) application: i64,
    /// The `user_version` of such files.
    pub(crate) version: i64,
    pub(crate) schema: &'static str,
    /// Brings a new file (version 0), or one of another version, to this one; else it is refused.
    pub(crate) migrate: Option<fn(&Connection, i64) -> SqlResult<()>>,
    pub(crate) journal: JournalMode,
    /// Sets the options of a connection, and the page size of a new file.
    pub(crate) tune: fn(&Connection) -> rusqlite::Result<()>,
}

/// Opens or creates the file: 0600, in a 0700 folder. Waits for locks as [`LockWait`] does.
pub(crate) fn open(path: &Path, kind: &Kind) -> Result<Connection, SqlFailure> {
    make::make(path, kind)?;
    let mut connection = connect(path, kind)?;
    // SQLite also opens a file that it can only read.
    let is_readonly = connection.is_readonly("main")?;
    if is_readonly && kind.journal.has_log() {
        return Err(SqlFailure::ReadOnly);
    }
    // A checkpoint at every exit would cost each command two syncs. See `checkpoint`.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Check before changing anything, so that a file of another kind stays as it is.
    make::check_schema(&mut connection, kind)?;
    (kind.tune)(&connection)?;
    if !is_readonly {
        switch_journal(&connection, path, kind)?;
    }
    connection.pragma_update(None, "synchronous", kind.journal.synchronous())?;
    if cfg!(target_os = "macos") {
        // There, a plain sync leaves data in the drive's cache. The standard library's does not.
        connection.pragma_update(None, "fullfsync", true)?;
        connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    }
    Ok(connection)
}

/// Opens the file as it is, even if it is damaged. Waits for locks as [`open`] does.
pub(crate) fn connect(path: &Path, kind: &Kind) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // Before any pragma: several processes may be here at once.
    connection.busy_handler(Some(LockWait::handler(waited_for(path, kind))))?;
    // Our files have no triggers or views. Added ones would run with each statement.
    for (option, on) in [
        STABLE_PLANS,
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
    ] {
        connection.set_db_config(option, on)?;
    }
    Ok(connection)
}

/// Enables the kind's journal mode. Switching to a write-ahead log needs an exclusive lock, and
/// SQLite does not call the busy handler for it.
fn switch_journal(connection: &Connection, path: &Path, kind: &Kind) -> rusqlite::Result<()> {
    let switch = if kind.journal.has_log() {
        "PRAGMA journal_mode = WAL"
    } else {
        "PRAGMA journal_mode = TRUNCATE"
    };
    let mut wait = LockWait::begin(waited_for(path, kind));
    loop {
        match connection.query_row(switch, (), |_| Ok(())) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && wait.pause() => {}
            outcome => return outcome,
        }
    }
}

fn waited_for(path: &Path, kind: &Kind) -> String {
    format!("{} {}", kind.name, path.display())
}

/// The size of the write-ahead log in bytes.
pub(crate) fn log_size(path: &Path) -> u64 {
    std::fs::metadata(add_suffix(path, "-wal")).map_or(0, |file| file.len())
}

/// Moves the content of the write-ahead log into the database, and empties the log. If another
/// process uses the file right now, that process or the next one does it. From then on the
/// connection does not wait for locks.
pub(crate) fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
}

/// The number in the header that every transaction changes, without a write-ahead log.
pub(crate) fn change_counter(path: &Path) -> Option<[u8; 4]> {
    let mut counter = [0; 4];
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(24)).ok()?;
    file.read_exact(&mut counter).ok()?;
    Some(counter)
}

#[cfg(test)]
mod tests;
