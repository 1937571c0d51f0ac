//! The table of rate limit windows. All processes on one file count in it.

use rusqlite::OptionalExtension;

use super::tx::{Tx, moment};
use crate::sandbox::rules::rate_limit::{RateLimit, RateLimitStatus, RateWindow, count};

impl Tx<'_> {
    /// Counts a request of the organization against a rate limit.
    pub(crate) fn count_request(
        &self,
        organization: &str,
        rate_limit: RateLimit,
    ) -> rusqlite::Result<RateLimitStatus> {
        let window = self
            .sql("SELECT opened_at, used FROM rate_windows WHERE organization = ? AND budget = ?")?
            .query_row((organization, rate_limit.as_str()), |row| {
                Ok(RateWindow {
                    opened_at: moment(row.get(0)?)?,
                    used: row.get(1)?,
                })
            })
            .optional()?;
        let (window, status) = count(rate_limit, window, self.now);
        self.sql("INSERT OR REPLACE INTO rate_windows VALUES (?, ?, ?, ?)")?
            .execute((
                organization,
                rate_limit.as_str(),
                window.opened_at.as_millisecond(),
                window.used,
            ))?;
        Ok(status)
    }
}
