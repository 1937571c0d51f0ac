//! What is in the journal, in numbers.

use serde::Serialize;

use super::{Journal, team};
use crate::outcome::Result;
use crate::platform::sql::{FromCell, Statements};

/// The journal in numbers, of all services.
#[derive(Debug, Serialize)]
pub(crate) struct JournalState {
    /// `file` or `postgresql`.
    #[serde(skip)]
    pub(crate) kind: &'static str,
    /// The version of its tables.
    pub(crate) version: i64,
    pub(crate) attempts: i64,
    pub(crate) bookings: i64,
    pub(crate) open_attempts: i64,
    /// RFC 3339.
    pub(crate) oldest_open_at: Option<String>,
    /// Whether searches have an index in PostgreSQL; `None` for the file, which needs none.
    #[serde(rename = "search_indexed", skip_serializing_if = "Option::is_none")]
    pub(crate) search_is_indexed: Option<bool>,
}

impl Journal {
    /// Whether a change could be written now. Nothing is changed.
    ///
    /// # Errors
    /// `journal` if not: a shared journal's server may be a standby, or this user may only read.
    pub(crate) fn takes_changes(&mut self) -> Result<()> {
        self.write(|statements, _| {
            statements.execute("UPDATE attempts SET state = state WHERE 1 = 0", &[])?;
            for table in [
                "attempts",
                "runs",
                "bookings",
                "sightings",
                "limits",
                "claims",
            ] {
                let insert = format!("INSERT INTO {table} SELECT * FROM {table} WHERE 1 = 0");
                statements.execute(&insert, &[])?;
                let delete = format!("DELETE FROM {table} WHERE 1 = 0");
                statements.execute(&delete, &[])?;
            }
            Ok(())
        })
    }

    pub(crate) fn state(&self) -> Result<JournalState> {
        let (kind, version) = match self.file() {
            Some(_) => ("file", "SELECT user_version FROM pragma_user_version"),
            None => ("postgresql", "SELECT version FROM bookctl_journal"),
        };
        self.read(|statements| {
            let unsettled = "FROM attempts WHERE state = 'unsettled'";
            Ok(JournalState {
                kind,
                version: one(statements, version)?,
                attempts: one(statements, "SELECT count(*) FROM attempts")?,
                bookings: one(statements, "SELECT count(*) FROM bookings")?,
                open_attempts: one(statements, &format!("SELECT count(*) {unsettled}"))?,
                oldest_open_at: one(statements, &format!("SELECT min(created_at) {unsettled}"))?,
                search_is_indexed: match self.file() {
                    Some(_) => None,
                    None => Some(one(statements, team::IS_SEARCH_INDEXED)?),
                },
            })
        })
    }
}

fn one<T: FromCell>(statements: &dyn Statements, query: &str) -> crate::platform::sql::Answer<T> {
    let row = statements.first(query, &[])?;
    row.ok_or(crate::platform::sql::Trouble::Unreadable)?
        .take(0)
}
