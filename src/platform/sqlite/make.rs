//! Creating a SQLite file. The file appears under its name with its schema in it. An empty file is
//! therefore never a new one: something emptied it, and its content is lost, so it must not be
//! taken for a new one.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::{JournalMode, Kind, connect, switch_journal};
use crate::platform::ownership::COMPANIONS;
use crate::platform::private_file::{self, add_suffix};
use crate::platform::sql::SqlFailure;

/// Creates the file if there is none. Removes the access of others from an existing one.
pub(super) fn make(path: &Path, kind: &Kind) -> Result<(), SqlFailure> {
    if fs::symlink_metadata(path).is_err() {
        private_file::make_folder_of(path)?;
        let _alone = private_file::lock(path)?;
        // Another process may have created it in the meantime.
        if fs::symlink_metadata(path).is_err() {
            make_whole(path, kind)?;
            // Whoever waits for the lock now finds the file, so the lock file is no longer needed.
            // The journal's stays, because a damaged journal is replaced under the same lock.
            if kind.journal != JournalMode::Durable {
                remove_one(&add_suffix(path, ".lock"))?;
            }
        }
    } else if !path.exists() {
        // The disk that it leads to may only be missing.
        return Err(io::Error::other("it is a link to a file that is not there").into());
    }
    private_file::make(path)?;
    if fs::metadata(path)?.len() == 0 {
        return Err(SqlFailure::Empty);
    }
    if kind.journal == JournalMode::Durable {
        let rollback = add_suffix(path, "-journal");
        if !rollback.exists() {
            private_file::make(&rollback)?;
        }
    }
    Ok(())
}

/// Creates the file under another name, and renames it once it is complete and synced.
fn make_whole(path: &Path, kind: &Kind) -> Result<(), SqlFailure> {
    let new = add_suffix(path, ".new");
    // SQLite would apply the log of a deleted file to the new one.
    remove_companions(path)?;
    let connection = build(&new, kind)?;
    if kind.journal.has_log() {
        // Enabled last, so that no log is needed for what the file already contains.
        switch_journal(&connection, &new, kind)?;
    }
    connection.close().map_err(|(_, error)| error)?;
    if kind.journal == JournalMode::Unsynced {
        return Ok(fs::rename(&new, path)?);
    }
    private_file::sync(&new)?;
    if kind.journal == JournalMode::Durable {
        // Its name is kept with that of the file.
        private_file::make_unsynced(&add_suffix(path, "-journal"))?;
    }
    private_file::rename(&new, path)?;
    // Where the last commits may be lost, a file that is as young may be, too.
    if matches!(kind.journal.synchronous(), "EXTRA" | "FULL") {
        private_file::keep_names(path)?;
    }
    Ok(())
}

/// Creates a file with the schema at `path`, in place of what a process that died has left there.
/// Neither the file nor anything that is written through this connection is synced.
pub(crate) fn build(path: &Path, kind: &Kind) -> Result<Connection, SqlFailure> {
    remove(path)?;
    private_file::make_unsynced(path)?;
    let mut connection = connect(path, kind)?;
    (kind.tune)(&connection)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    let transaction = connection.transaction()?;
    transaction.pragma_update(None, "application_id", kind.application)?;
    transaction.execute_batch(kind.schema)?;
    kind.migrate.map_or(Ok(()), |migrate| migrate(&transaction, 0))?;
    transaction.pragma_update(None, "user_version", kind.version)?;
    transaction.commit()?;
    Ok(connection)
}

/// Removes a file, if it is there, and what SQLite keeps next to it.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    remove_one(path)?;
    remove_companions(path)
}

fn remove_companions(path: &Path) -> io::Result<()> {
    COMPANIONS.iter().try_for_each(|companion| remove_one(&add_suffix(path, companion)))
}

fn remove_one(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

pub(super) fn check_schema(connection: &mut Connection, kind: &Kind) -> Result<(), SqlFailure> {
    // One snapshot: another process may replace the file's content in between.
    let checked = check_version(&*connection.transaction()?, kind);
    let (Err(SqlFailure::OtherVersion { .. }), Some(migrate)) = (&checked, kind.migrate) else {
        return checked;
    };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile.
    if let Err(SqlFailure::OtherVersion { found, .. }) = check_version(&transaction, kind) {
        migrate(&transaction, found)?;
    }
    Ok(transaction.commit()?)
}

fn check_version(connection: &Connection, kind: &Kind) -> Result<(), SqlFailure> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, found) = (pragma("application_id")?, pragma("user_version")?);
    let has_tables = "SELECT EXISTS (SELECT 1 FROM sqlite_schema)";
    let has_tables: bool = connection.query_row(has_tables, (), |row| row.get(0))?;
    let known = kind.version;
    if !has_tables && application == 0 && found == 0 {
        Err(SqlFailure::Empty)
    } else if application != kind.application || found == 0 {
        Err(SqlFailure::Foreign)
    } else if found != known {
        Err(SqlFailure::OtherVersion { found, known, written_by: None })
    } else {
        Ok(())
    }
}
