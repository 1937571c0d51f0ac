//! What is in the journal, in numbers, and whether it takes changes.

use serde::Serialize;

use super::{Journal, VERSION};
use crate::outcome::Result;
use crate::platform::sql::SqlFailure;

#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) version: i64,
    pub(crate) attempts: i64,
    pub(crate) bookings: i64,
    pub(crate) open_attempts: i64,
    /// RFC 3339.
    pub(crate) oldest_open_at: Option<String>,
}

const COUNT: &str = "
    SELECT (SELECT count(*) FROM attempts) AS attempts, (SELECT count(*) FROM bookings) AS bookings,
           count(*) AS open_attempts, min(created_at) AS oldest_open_at FROM attempts WHERE state = 'unresolved'";

impl Journal {
    /// Fails where no change could be written: a shared journal's server may be a standby, or this user may only read.
    pub(crate) fn takes_changes(&self) -> Result<()> {
        self.write(|statements, _| {
            let change = "INSERT INTO attempts SELECT * FROM attempts WHERE 1 = 0";
            statements.execute(change, &[]).map(drop)
        })
    }

    pub(crate) fn summary(&self) -> Result<Summary> {
        self.read(|statements, _| {
            let row = statements.first(COUNT, &[])?;
            let row = row.ok_or(SqlFailure::Unreadable)?;
            Ok(Summary {
                version: VERSION,
                attempts: row.get("attempts")?,
                bookings: row.get("bookings")?,
                open_attempts: row.get("open_attempts")?,
                oldest_open_at: row.get("oldest_open_at")?,
            })
        })
    }
}
