//! Why a SQLite file cannot be used.

use std::fmt;
use std::io;

use rusqlite::ErrorCode;

use crate::outcome::reason;
use crate::platform::lock_wait::LockWaitSettings;

/// Why a file cannot be used. The text completes a sentence that starts with the file's name.
#[derive(Debug)]
pub(crate) enum SqliteFailure {
    /// The file or its folder cannot be created or read.
    Unreachable(String),
    ReadOnly,
    /// The file is damaged, or not a database.
    Damaged,
    /// The file is empty. Our files always contain a schema, so something else emptied it.
    Empty,
    /// The file belongs to another program.
    Foreign,
    /// Another version of bookctl wrote the file.
    OtherVersion {
        found: i64,
        known: i64,
    },
    /// Another process held the lock for too long, or a signal ended the wait.
    Held,
    /// The disk is full.
    Full,
    /// The file has another name since it was opened.
    Moved,
    /// A statement does not fit the tables, which are not those of its version.
    Tables(String),
    /// SQLite refused for another reason.
    Other(String),
}

impl SqliteFailure {
    /// Whether the file will never be usable as it is. A file that is held, full or forbidden is not lost.
    pub(crate) fn is_permanent(&self) -> bool {
        matches!(
            self,
            SqliteFailure::Damaged
                | SqliteFailure::Empty
                | SqliteFailure::Foreign
                | SqliteFailure::OtherVersion { .. }
                | SqliteFailure::Tables(_)
        )
    }
}

impl fmt::Display for SqliteFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SqliteFailure::Unreachable(reason) => write!(f, "cannot be opened: {reason}"),
            SqliteFailure::ReadOnly => {
                f.write_str("cannot be written: it, or its folder, is read-only")
            }
            SqliteFailure::Damaged => f.write_str("is damaged"),
            SqliteFailure::Empty => {
                f.write_str("is empty: it was truncated, or its log was removed")
            }
            SqliteFailure::Foreign => f.write_str("is a database of another program"),
            SqliteFailure::OtherVersion { found, known } => write!(
                f,
                "was written by another version of bookctl (its tables have version {found}, and this one needs {known})"
            ),
            SqliteFailure::Held => write!(
                f,
                "is in use by another process (waited {} s)",
                LockWaitSettings::limit().as_secs_f32()
            ),
            SqliteFailure::Full => f.write_str("cannot be written: the disk is full"),
            SqliteFailure::Moved => f.write_str("was moved or replaced while this command used it"),
            SqliteFailure::Tables(reason) | SqliteFailure::Other(reason) => {
                write!(f, "cannot be used: {reason}")
            }
        }
    }
}

impl From<rusqlite::Error> for SqliteFailure {
    fn from(error: rusqlite::Error) -> Self {
        SqliteFailure::from(&error)
    }
}

impl From<&rusqlite::Error> for SqliteFailure {
    fn from(error: &rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => SqliteFailure::Damaged,
            Some(ErrorCode::ReadOnly) if is_moved(error) => SqliteFailure::Moved,
            Some(ErrorCode::ReadOnly) => SqliteFailure::ReadOnly,
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                SqliteFailure::Unreachable(error.to_string())
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => SqliteFailure::Held,
            Some(ErrorCode::DiskFull) => SqliteFailure::Full,
            Some(ErrorCode::Unknown) => SqliteFailure::Tables(error.to_string()),
            _ => SqliteFailure::Other(error.to_string()),
        }
    }
}

impl From<io::Error> for SqliteFailure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut => SqliteFailure::Held,
            io::ErrorKind::StorageFull => SqliteFailure::Full,
            io::ErrorKind::ReadOnlyFilesystem => SqliteFailure::ReadOnly,
            _ => SqliteFailure::Unreachable(reason(&error)),
        }
    }
}

fn is_moved(error: &rusqlite::Error) -> bool {
    let error = error.sqlite_error();
    error.is_some_and(|it| it.extended_code == rusqlite::ffi::SQLITE_READONLY_DBMOVED)
}
