//! The schema of a file. `user_version` is the schema's number.

use rusqlite::Connection;

use super::{Failure, Kind};

/// Creates the schema in a new database.
pub(crate) fn create(connection: &mut Connection, kind: &Kind) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    transaction.pragma_update(None, "application_id", kind.application)?;
    transaction.execute_batch(kind.schema)?;
    transaction.pragma_update(None, "user_version", kind.version)?;
    transaction.commit()
}

/// Checks that a file is of this kind and has its schema.
pub(super) fn check(connection: &mut Connection, kind: &Kind) -> Result<(), Failure> {
    // One snapshot: another process may replace the file's content in between.
    let connection = connection.transaction()?;
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, found) = (pragma("application_id")?, pragma("user_version")?);
    let has_tables = "SELECT EXISTS (SELECT 1 FROM sqlite_schema)";
    let has_tables: bool = connection.query_row(has_tables, (), |row| row.get(0))?;
    let known = kind.version;
    if !has_tables && application == 0 && found == 0 {
        Err(Failure::Empty)
    } else if application != kind.application || found == 0 {
        Err(Failure::Foreign)
    } else if found != known {
        Err(Failure::OtherVersion { found, known })
    } else {
        Ok(())
    }
}
