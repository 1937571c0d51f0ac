//! Why a SQLite file cannot be used.

use std::fmt;
use std::io;

use rusqlite::ErrorCode;

use crate::outcome::reason;
use crate::platform::lock_wait::LockWaitSettings;

/// Why a file cannot be used. The text completes a sentence that starts with the file's name.
#[derive(Debug)]
pub(crate) enum Failure {
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

impl Failure {
    /// Whether the file will never be usable as it is. A file that is held, full or forbidden is not lost.
    pub(crate) fn is_permanent(&self) -> bool {
        matches!(
            self,
            Failure::Damaged
                | Failure::Empty
                | Failure::Foreign
                | Failure::OtherVersion { .. }
                | Failure::Tables(_)
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unreachable(reason) => write!(f, "cannot be opened: {reason}"),
            Failure::ReadOnly => f.write_str("cannot be written: it, or its folder, is read-only"),
            Failure::Damaged => f.write_str("is damaged"),
            Failure::Empty => f.write_str("is empty: it was truncated, or its log was removed"),
            Failure::Foreign => f.write_str("is a database of another program"),
            Failure::OtherVersion { found, known } => write!(
                f,
                "was written by another version of bookctl (its tables have version {found}, and this one needs {known})"
            ),
            Failure::Held => write!(
                f,
                "is in use by another process (waited {} s)",
                LockWaitSettings::limit().as_secs_f32()
            ),
            Failure::Full => f.write_str("cannot be written: the disk is full"),
            Failure::Moved => f.write_str("was moved or replaced while this command used it"),
            Failure::Tables(reason) | Failure::Other(reason) => {
                write!(f, "cannot be used: {reason}")
            }
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Failure::from(&error)
    }
}

impl From<&rusqlite::Error> for Failure {
    fn from(error: &rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Failure::Damaged,
            Some(ErrorCode::ReadOnly) if is_moved(error) => Failure::Moved,
            Some(ErrorCode::ReadOnly) => Failure::ReadOnly,
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Failure::Unreachable(error.to_string())
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Failure::Held,
            Some(ErrorCode::DiskFull) => Failure::Full,
            Some(ErrorCode::Unknown) => Failure::Tables(error.to_string()),
            _ => Failure::Other(error.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut => Failure::Held,
            io::ErrorKind::StorageFull => Failure::Full,
            io::ErrorKind::ReadOnlyFilesystem => Failure::ReadOnly,
            _ => Failure::Unreachable(reason(&error)),
        }
    }
}

fn is_moved(error: &rusqlite::Error) -> bool {
    let error = error.sqlite_error();
    error.is_some_and(|it| it.extended_code == rusqlite::ffi::SQLITE_READONLY_DBMOVED)
}
