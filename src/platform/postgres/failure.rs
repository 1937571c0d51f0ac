//! Why a PostgreSQL database cannot be used.

use std::fmt;

/// Why it cannot be used. The text completes a sentence that starts with the database's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PostgresFailure {
    /// No connection could be made.
    Unreachable(String),
    /// The connection ended, or the server did: whether the last statement was done is not known.
    Lost(String),
    /// The server starts, stops or has no room for another connection: it may be ready in a moment.
    NotReady(String),
    /// The user or the password was refused, or the user may not do this.
    NotAllowed(String),
    /// It takes no changes: it is a standby, or read-only.
    ReadOnly,
    /// Another transaction was in the way. Nothing was done.
    Conflict,
    /// No answer came in time, or another transaction held a row for too long.
    Late(u64),
    /// Its tables are missing.
    NotPrepared,
    /// Another version of bookctl has prepared it.
    OtherVersion { found: i64, known: i64 },
    /// The database has this encoding, which does not hold every text.
    Encoding(String),
    /// The server refused for another reason.
    Other(String),
}

impl PostgresFailure {
    /// Whether the same transaction may work in a moment. One whose commit may have been done is repeated too: the work
    /// of a transaction finds what it has done before.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(
            self,
            PostgresFailure::Lost(_) | PostgresFailure::NotReady(_) | PostgresFailure::Conflict
        )
    }

    pub(crate) fn ends_connection(&self) -> bool {
        !matches!(
            self,
            PostgresFailure::Conflict | PostgresFailure::ReadOnly | PostgresFailure::Other(_)
        )
    }
}

impl fmt::Display for PostgresFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PostgresFailure::Unreachable(reason) => write!(f, "cannot be reached: {reason}"),
            PostgresFailure::Lost(reason) => write!(f, "ended the connection: {reason}"),
            PostgresFailure::NotReady(reason) => write!(f, "is not ready: {reason}"),
            PostgresFailure::NotAllowed(reason) => write!(f, "refused: {reason}"),
            PostgresFailure::ReadOnly => {
                f.write_str("takes no changes: it is a standby, or read-only")
            }
            PostgresFailure::Conflict => f.write_str("was changed by others again and again"),
            PostgresFailure::Late(seconds) => {
                write!(f, "did not answer in time (waited {seconds} s)")
            }
            PostgresFailure::NotPrepared => f.write_str("has no tables of bookctl yet"),
            PostgresFailure::OtherVersion { found, known } => write!(
                f,
                "was prepared by another version of bookctl (its tables have version {found}, and this one needs {known})"
            ),
            PostgresFailure::Encoding(name) => {
                write!(f, "has the encoding {name}, which cannot hold every name")
            }
            PostgresFailure::Other(reason) => write!(f, "cannot be used: {reason}"),
        }
    }
}
