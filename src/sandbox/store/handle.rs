//! The connection, and the transaction in which a group of writes runs.

use std::cell::Cell;

use rusqlite::Connection;

use super::number::count_on;

/// The connection.
pub(super) struct Handle {
    pub(super) connection: Connection,
    /// Whether other processes may write to the database.
    is_shared: bool,
    /// Whether the transaction that runs deleted everything.
    is_emptied: Cell<bool>,
}

impl Handle {
    pub(super) fn new(connection: Connection, is_shared: bool) -> Self {
        Self {
            connection,
            is_shared,
            is_emptied: Cell::default(),
        }
    }

    /// Begins a transaction. In a database of this process alone there is one already, and this is a part of it.
    pub(super) fn begin(&self) -> rusqlite::Result<()> {
        self.check_that_nothing_is_lost()?;
        if self.is_shared {
            self.execute("BEGIN IMMEDIATE")?;
            // Those of a database of this process alone follow each other already.
            count_on(&self.connection)
        } else {
            self.execute("SAVEPOINT jobs")
        }
    }

    pub(super) fn commit(&self) -> rusqlite::Result<()> {
        self.execute(if self.is_shared {
            "COMMIT"
        } else {
            "RELEASE jobs"
        })?;
        if self.is_emptied.take() && self.is_shared {
            // So that neither the file nor its log holds anything of what was deleted. Fails where another process keeps it busy.
            let rewrite = "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)";
            let _ = self.connection.execute_batch(rewrite);
        }
        Ok(())
    }

    /// Lets the commit remove from the file what was deleted.
    pub(super) fn note_emptied(&self) {
        self.is_emptied.set(true);
    }

    pub(super) fn roll_back(&self) {
        self.is_emptied.set(false);
        // SQLite has done so itself after some errors. If this fails too, the next beginning reports it.
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch(if self.is_shared {
                "ROLLBACK"
            } else {
                "ROLLBACK TO jobs; RELEASE jobs"
            });
        }
    }

    /// Fails if a database of this process alone is lost: where SQLite cannot write its temporary file, it rolls back
    /// everything.
    pub(super) fn check_that_nothing_is_lost(&self) -> rusqlite::Result<()> {
        if !self.is_shared && self.connection.is_autocommit() {
            let full = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
            let lost = "its temporary file could not be written, so its bookings are lost";
            return Err(rusqlite::Error::SqliteFailure(full, Some(lost.to_owned())));
        }
        Ok(())
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.execute(()).map(|_| ())
    }
}
