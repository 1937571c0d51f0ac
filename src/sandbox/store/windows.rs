//! The rate limits' windows, which all processes on one file count in.

use rusqlite::OptionalExtension;

use super::ledger::{Ledger, moment};
use crate::sandbox::rules::limits::{Budget, Meter, Window, count};

impl Ledger<'_> {
    /// Counts a request of the organization.
    pub(crate) fn meter(&self, organization: &str, budget: Budget) -> rusqlite::Result<Meter> {
        let window = self
            .sql("SELECT opened_at, used FROM rate_windows WHERE organization = ? AND budget = ?")?
            .query_row((organization, budget.as_str()), |row| {
                Ok(Window {
                    opened_at: moment(row.get(0)?)?,
                    used: row.get(1)?,
                })
            })
            .optional()?;
        let (window, meter) = count(budget, window, self.now);
        self.sql("INSERT OR REPLACE INTO rate_windows VALUES (?, ?, ?, ?)")?
            .execute((
                organization,
                budget.as_str(),
                window.opened_at.as_millisecond(),
                window.used,
            ))?;
        Ok(meter)
    }
}
