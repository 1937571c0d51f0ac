//! The sandbox's clock. It goes ahead of real time, or stands still.

use jiff::Timestamp;
use rusqlite::Connection;

/// What the clock shows, without reading the database again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) offset_ms: i64,
    pub(super) frozen_at: Option<i64>,
}

impl Clock {
    /// How the clock is set.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        connection
            .prepare_cached("SELECT offset_ms, frozen_at FROM clock")?
            .query_row((), |row| {
                Ok(Self {
                    offset_ms: row.get(0)?,
                    frozen_at: row.get(1)?,
                })
            })
    }

    /// The time in milliseconds.
    pub(super) fn now(self) -> i64 {
        let going = || real_now().saturating_add(self.offset_ms);
        self.frozen_at.unwrap_or_else(going)
    }
}

/// Real time in milliseconds.
pub(super) fn real_now() -> i64 {
    Timestamp::now().as_millisecond()
}
