//! What is in the journal, in numbers, and whether it takes changes.

use serde::Serialize;

use super::Journal;
use super::schema::VERSION;
use crate::outcome::Result;
use crate::platform::sql::SqlFailure;

#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) version: i64,
    /// Where a shared journal's tables are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<String>,
    pub(crate) attempts: i64,
    pub(crate) bookings: i64,
    pub(crate) unresolved: i64,
    /// RFC 3339.
    pub(crate) oldest_unresolved_at: Option<String>,
}

const COUNT: &str = "
    SELECT (SELECT count(*) FROM attempts) AS attempts, (SELECT count(*) FROM bookings) AS bookings,
           count(*) AS unresolved, min(created_at) AS oldest_unresolved_at FROM attempts WHERE state = 'unresolved'";

impl Journal {
    /// Fails where no change could be written: a shared journal's server may be a standby, or this
    /// user may only read.
    pub(crate) fn takes_changes(&self) -> Result<()> {
        self.write(|statements, _| {
            statements.execute("UPDATE attempts SET state = state WHERE 1 = 0", &[]).map(drop)
        })
    }

    pub(crate) fn summary(&self) -> Result<Summary> {
        self.read(|statements, _| {
            let schema = "SELECT current_schema()::text";
            let schema = match self.is_shared() {
                true => statements.first(schema, &[])?,
                false => None,
            };
            let row = statements.first(COUNT, &[])?.ok_or(SqlFailure::Unreadable)?;
            Ok(Summary {
                version: VERSION,
                schema: schema.map(|row| row.get_at(0)).transpose()?,
                attempts: row.get("attempts")?,
                bookings: row.get("bookings")?,
                unresolved: row.get("unresolved")?,
                oldest_unresolved_at: row.get("oldest_unresolved_at")?,
            })
        })
    }
}
