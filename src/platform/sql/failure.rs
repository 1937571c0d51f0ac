//! Why a database cannot be used.

use std::fmt;
use std::io;

use rusqlite::ErrorCode;

use crate::outcome::reason;
use crate::platform::lock_wait::LockWaitSettings;

/// Why a SQLite file or a PostgreSQL database cannot be used. The text completes a sentence that
/// starts with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SqlFailure {
    /// The file or its folder cannot be created or read.
    Unreachable(String),
    ReadOnly,
    Damaged,
    /// The file is empty. Our files always contain a schema, so something else emptied it.
    Empty,
    Foreign,
    OtherVersion {
        found: i64,
        known: i64,
        /// The bookctl that wrote it, if that is known.
        written_by: Option<String>,
    },
    /// Its tables are of an older version, and have to be brought to this one first.
    Older,
    /// Another process held the lock for too long, or a signal ended the wait.
    Locked,
    Full,
    /// The file has another name since it was opened.
    Replaced,
    /// A statement does not fit the tables, which are not those of its version.
    Tables(String),
    Unconnected(String),
    /// The connection ended, or the server did: whether the last statement was done is not known.
    Lost(String),
    /// The server starts, stops or has no room for another connection: it may be ready in a moment.
    NotReady(String),
    /// The user or the password was refused, or the user may not do this.
    NotAllowed(String),
    Standby,
    /// Another transaction was in the way. Nothing was done.
    Conflict,
    /// No answer came in time, or another transaction held a row for too long.
    TimedOut,
    NotPrepared,
    /// Its tables would be made in a second schema.
    Second {
        there: String,
        here: String,
    },
    Unreadable,
    Other(String),
}

impl SqlFailure {
    /// Whether the file will never be usable. One that is held, full or forbidden is not lost.
    pub(crate) fn is_permanent(&self) -> bool {
        matches!(
            self,
            SqlFailure::Damaged
                | SqlFailure::Empty
                | SqlFailure::Foreign
                | SqlFailure::OtherVersion { .. }
                | SqlFailure::Tables(_)
        )
    }
}

impl fmt::Display for SqlFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waited = LockWaitSettings::limit().as_secs_f32();
        match self {
            SqlFailure::Unreachable(why) => write!(f, "cannot be opened: {why}"),
            SqlFailure::ReadOnly => {
                f.write_str("cannot be written: it, or its folder, is read-only")
            }
            SqlFailure::Damaged => f.write_str("is damaged"),
            SqlFailure::Empty => f.write_str("is empty: it was truncated, or its log was removed"),
            SqlFailure::Foreign => f.write_str("is a database of another program"),
            SqlFailure::OtherVersion { found, known, written_by } => {
                let by = written_by.as_ref().map(|it| format!("{it}; ")).unwrap_or_default();
                write!(
                    f,
                    "was made by another version of bookctl ({by}its tables have version {found}, and this one reads {known})"
                )
            }
            SqlFailure::Older => f.write_str("was made by an older version of bookctl"),
            SqlFailure::Locked => write!(f, "is in use by another process (waited {waited} s)"),
            SqlFailure::Full => f.write_str("cannot be written: the disk is full"),
            SqlFailure::Replaced => f.write_str("was moved or replaced while this command used it"),
            SqlFailure::Unconnected(why) => write!(f, "cannot be reached: {why}"),
            SqlFailure::Lost(why) => write!(f, "ended the connection: {why}"),
            SqlFailure::NotReady(why) => write!(f, "is not ready: {why}"),
            SqlFailure::NotAllowed(why) => write!(f, "refused: {why}"),
            SqlFailure::Standby => f.write_str("rejects changes: it is a standby, or read-only"),
            SqlFailure::Conflict => f.write_str("was changed by others again and again"),
            SqlFailure::TimedOut => write!(f, "did not respond in time (waited {waited} s)"),
            SqlFailure::Second { there, here } => write!(
                f,
                "is in schema {there} already, and new tables would hide it from schema {here}"
            ),
            SqlFailure::NotPrepared => f.write_str("has no tables of bookctl yet"),
            SqlFailure::Unreadable => {
                f.write_str("cannot be used: a column does not hold what is expected there")
            }
            SqlFailure::Tables(why) | SqlFailure::Other(why) => write!(f, "cannot be used: {why}"),
        }
    }
}

impl From<rusqlite::Error> for SqlFailure {
    fn from(error: rusqlite::Error) -> Self {
        let extended = error.sqlite_error().map(|it| it.extended_code);
        let is_moved = extended == Some(rusqlite::ffi::SQLITE_READONLY_DBMOVED);
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => SqlFailure::Damaged,
            Some(ErrorCode::ReadOnly) if is_moved => SqlFailure::Replaced,
            Some(ErrorCode::ReadOnly) => SqlFailure::ReadOnly,
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                SqlFailure::Unreachable(error.to_string())
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => SqlFailure::Locked,
            Some(ErrorCode::DiskFull) => SqlFailure::Full,
            Some(ErrorCode::Unknown) => SqlFailure::Tables(error.to_string()),
            _ => SqlFailure::Other(error.to_string()),
        }
    }
}

impl From<io::Error> for SqlFailure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut => SqlFailure::Locked,
            io::ErrorKind::StorageFull => SqlFailure::Full,
            io::ErrorKind::ReadOnlyFilesystem => SqlFailure::ReadOnly,
            _ => SqlFailure::Unreachable(reason(&error)),
        }
    }
}
