//! What nearly every request asks of the database and seldom changes: it is read once and kept until it changes.
//!
//! Whoever writes any of it forgets all of it, and so does a transaction that is rolled back. Another process may write
//! to a file: the file's version tells. In a debug build each transaction compares what is kept with the database.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension};

use super::clock::Clock;
use super::number::count_on;
use crate::sandbox::rules::organization::Organization;

/// After how many reads in a row the cache is cleaned. It is high enough that writes between reads do not write the same
/// pages again and again.
const READS_IN_A_ROW: u32 = 256;

/// The connection, with what is kept of the database.
pub(super) struct Handle {
    pub(super) connection: Connection,
    /// Whether other processes may write to the database.
    is_shared: bool,
    kept: RefCell<Kept>,
    /// Reads since the last write.
    reads: Cell<u32>,
    /// Whether the transaction that runs deleted everything.
    is_emptied: Cell<bool>,
}

/// What is kept; `None` and what is missing has to be read.
#[derive(Default)]
struct Kept {
    /// The file's version when the rest was read.
    version: Option<i64>,
    /// Whether new numbers follow all those in the database.
    is_counted: bool,
    clock: Option<Clock>,
    first_due: Option<Option<i64>>,
    has_faults: Option<bool>,
    organizations: HashMap<String, Arc<Organization>>,
}

impl Handle {
    pub(super) fn new(connection: Connection, is_shared: bool) -> Self {
        Self {
            connection,
            is_shared,
            kept: RefCell::default(),
            reads: Cell::default(),
            is_emptied: Cell::default(),
        }
    }

    /// Begins a transaction. In a database of this process alone there is one already, and this is a part of it.
    pub(super) fn begin(&self) -> rusqlite::Result<()> {
        self.reads.set(0);
        if self.is_shared {
            self.execute("BEGIN IMMEDIATE")?;
            self.refresh()
        } else {
            self.refresh()?;
            self.execute("SAVEPOINT jobs")
        }
    }

    pub(super) fn commit(&self) -> rusqlite::Result<()> {
        self.execute(match self.is_shared {
            true => "COMMIT",
            false => "RELEASE jobs",
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
        self.forget();
        self.is_emptied.set(false);
        // SQLite has done so itself after some errors. If this fails too, the next beginning reports it.
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch(match self.is_shared {
                true => "ROLLBACK",
                false => "ROLLBACK TO jobs; RELEASE jobs",
            });
        }
    }

    /// Forgets what is kept if another process has written to the file. For the beginning of a read or a transaction.
    ///
    /// Fails if a database of this process alone is lost: where SQLite cannot write its temporary file, it rolls back
    /// everything.
    pub(super) fn refresh(&self) -> rusqlite::Result<()> {
        if !self.is_shared && self.connection.is_autocommit() {
            let full = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
            let lost = "its temporary file could not be written, so its bookings are lost";
            return Err(rusqlite::Error::SqliteFailure(full, Some(lost.to_owned())));
        }
        if self.is_shared {
            let version = Some(self.data_version()?);
            if self.kept().version != version {
                self.forget();
                self.kept().version = version;
            }
        }
        if cfg!(debug_assertions) {
            self.compare()?;
        }
        Ok(())
    }

    /// Counts a read. Where a database of this process alone has outgrown the cache, nine tenths of the cache are pages that
    /// are not in its temporary file yet, and reads share the rest: after many reads in a row these pages are written, so
    /// that reads have all of the cache.
    pub(super) fn count_read(&self) -> rusqlite::Result<()> {
        let reads = self.reads.get().saturating_add(1);
        self.reads.set(reads);
        if self.is_shared || reads != READS_IN_A_ROW {
            return Ok(());
        }
        let is_outgrown = "SELECT page_count * page_size > -1024 * cache_size \
             FROM pragma_page_count, pragma_page_size, pragma_cache_size";
        let connection = &self.connection;
        if connection.query_row(is_outgrown, (), |row| row.get(0))? {
            // If there is no room for the pages, the next write says so.
            let _ = connection.cache_flush();
        }
        Ok(())
    }

    /// Forgets what is kept, because it was or will be written.
    pub(super) fn forget(&self) {
        let version = self.kept().version;
        *self.kept() = Kept {
            version,
            ..Kept::default()
        };
    }

    /// A number that changes when another process has written to the file.
    pub(super) fn data_version(&self) -> rusqlite::Result<i64> {
        self.connection
            .prepare_cached("PRAGMA data_version")?
            .query_row((), |row| row.get(0))
    }

    /// Makes new numbers follow those in the database.
    pub(super) fn count_on(&self) -> rusqlite::Result<()> {
        if !self.kept().is_counted {
            count_on(&self.connection)?;
            self.kept().is_counted = true;
        }
        Ok(())
    }

    /// How the clock is set.
    pub(super) fn clock(&self) -> rusqlite::Result<Clock> {
        self.kept_or_read(|kept| &mut kept.clock, Self::read_clock)
    }

    /// When the next booking changes by time alone, in milliseconds.
    pub(super) fn first_due(&self) -> rusqlite::Result<Option<i64>> {
        self.kept_or_read(|kept| &mut kept.first_due, Self::read_first_due)
    }

    /// Takes note of when a new booking changes by time alone.
    pub(super) fn add_due(&self, due_at: Option<i64>) {
        let mut kept = self.kept();
        if let Some(first) = &mut kept.first_due {
            *first = [*first, due_at].into_iter().flatten().min();
        }
    }

    /// Forgets when the next booking changes by time alone, because a booking was changed.
    pub(super) fn forget_due(&self) {
        self.kept().first_due = None;
    }

    /// Whether any fault is configured.
    pub(super) fn has_faults(&self) -> rusqlite::Result<bool> {
        self.kept_or_read(|kept| &mut kept.has_faults, Self::read_has_faults)
    }

    fn kept_or_read<T: Copy>(
        &self,
        part: fn(&mut Kept) -> &mut Option<T>,
        read: fn(&Self) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let kept = *part(&mut self.kept());
        match kept {
            Some(kept) => Ok(kept),
            None => {
                let found = read(self)?;
                Ok(*part(&mut self.kept()).insert(found))
            }
        }
    }

    /// The organization's settings; the defaults of a built-in one if they were never changed.
    pub(super) fn organization(&self, id: &str) -> rusqlite::Result<Option<Arc<Organization>>> {
        if let Some(kept) = self.kept().organizations.get(id) {
            return Ok(Some(Arc::clone(kept)));
        }
        let found = self.read_organization(id)?.map(Arc::new);
        // What is not found is not kept: there is no end of such ids.
        let kept = found.iter().map(|it| (id.to_owned(), Arc::clone(it)));
        self.kept().organizations.extend(kept);
        Ok(found)
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.execute(()).map(|_| ())
    }

    fn kept(&self) -> RefMut<'_, Kept> {
        self.kept.borrow_mut()
    }

    fn read_clock(&self) -> rusqlite::Result<Clock> {
        self.connection
            .prepare_cached("SELECT offset_ms, frozen_at FROM clock")?
            .query_row((), |row| {
                Ok(Clock {
                    offset_ms: row.get(0)?,
                    frozen_at: row.get(1)?,
                })
            })
    }

    fn read_first_due(&self) -> rusqlite::Result<Option<i64>> {
        self.connection
            .prepare_cached(
                "SELECT due_at FROM bookings WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1",
            )?
            .query_row((), |row| row.get(0))
            .optional()
    }

    fn read_has_faults(&self) -> rusqlite::Result<bool> {
        self.connection
            .prepare_cached("SELECT 1 FROM faults LIMIT 1")?
            .exists(())
    }

    fn read_organization(&self, id: &str) -> rusqlite::Result<Option<Organization>> {
        let settings: Option<String> = self
            .connection
            .prepare_cached("SELECT settings FROM organizations WHERE id = ?")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        match settings {
            None => Ok(Organization::is_built_in(id).then(|| Organization::fresh(id))),
            Some(settings) => parse(&settings).map(Some),
        }
    }

    /// Panics if something was written and not forgotten. Outside a transaction another process may be at it.
    fn compare(&self) -> rusqlite::Result<()> {
        if self.is_shared && self.connection.is_autocommit() {
            return Ok(());
        }
        let kept = self.kept();
        if let Some(clock) = kept.clock {
            assert_eq!(clock, self.read_clock()?);
        }
        if let Some(first_due) = kept.first_due {
            assert_eq!(first_due, self.read_first_due()?);
        }
        if let Some(has_faults) = kept.has_faults {
            assert_eq!(has_faults, self.read_has_faults()?);
        }
        for (id, organization) in &kept.organizations {
            assert_eq!(Some(&**organization), self.read_organization(id)?.as_ref());
        }
        Ok(())
    }
}

/// Reads the settings of an organization.
pub(super) fn parse(settings: &str) -> rusqlite::Result<Organization> {
    serde_json::from_str(settings)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}
