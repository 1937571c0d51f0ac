//! Schema migrations. `user_version` counts the migrations that a file has run.

use rusqlite::{Connection, TransactionBehavior};

use super::{Failure, Kind};

/// What a file says about itself.
struct Found {
    application: i64,
    version: i64,
    is_empty: bool,
}

impl Found {
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
        Ok(Self {
            application: pragma("application_id")?,
            version: pragma("user_version")?,
            is_empty: connection.query_row(
                "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)",
                (),
                |row| row.get(0),
            )?,
        })
    }

    /// The number of migrations that the file has run, if it is of this kind.
    fn steps_done(&self, kind: &Kind) -> Result<usize, Failure> {
        if self.is_empty && self.application == 0 && self.version == 0 {
            return Err(Failure::Empty);
        }
        if self.application != kind.application || self.version == 0 {
            return Err(Failure::Foreign);
        }
        let known = kind.steps.len();
        let found = self.version;
        match usize::try_from(found) {
            Ok(done) if done <= known => Ok(done),
            _ => Err(Failure::Newer { found, known }),
        }
    }
}

/// Creates the schema in a new database.
pub(crate) fn create(connection: &mut Connection, kind: &Kind) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    transaction.pragma_update(None, "application_id", kind.application)?;
    go_through(&transaction, kind, 0)?;
    transaction.commit()
}

/// The version of a file of this kind, which may be older than the present one.
pub(super) fn check(connection: &mut Connection, kind: &Kind) -> Result<usize, Failure> {
    // Read both in one snapshot: another process may migrate the file in between.
    let found = Found::read(&*connection.transaction()?)?;
    found.steps_done(kind)
}

/// Migrates an older file to the present version.
pub(super) fn bring_up(connection: &mut Connection, kind: &Kind) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated it in the meantime.
    let done = Found::read(&transaction)?.steps_done(kind)?;
    go_through(&transaction, kind, done)?;
    Ok(transaction.commit()?)
}

fn go_through(connection: &Connection, kind: &Kind, done: usize) -> rusqlite::Result<()> {
    for step in kind.steps.iter().skip(done) {
        connection.execute_batch(step)?;
    }
    connection.pragma_update(None, "user_version", kind.steps.len() as i64)
}
