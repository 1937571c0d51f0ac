//! Creating a SQLite file. The file appears under its name with its schema in it. An empty file is therefore never a
//! new one: something emptied it, and its content is lost, so it must not be taken for a new one.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use super::{Failure, Kind, beside, connect, schema};
use crate::platform::private_file;

/// The suffixes of the files that SQLite keeps next to a database.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

/// Creates the file if there is none. Removes the access of others from an existing one.
pub(super) fn make(path: &Path, kind: &Kind) -> Result<(), Failure> {
    if !path.exists() {
        private_file::make_folder_of(path)?;
        let _alone = private_file::lock(path)?;
        // Another process may have created it in the meantime.
        if !path.exists() {
            make_whole(path, kind)?;
            // Whoever waits for the lock now finds the file, so the lock file is no longer needed.
            return remove(&beside(path, ".lock"));
        }
    }
    private_file::make(path)?;
    if fs::metadata(path)?.len() == 0 {
        return Err(Failure::Empty);
    }
    Ok(())
}

/// Creates the file under another name, and renames it once it is complete and synced.
fn make_whole(path: &Path, kind: &Kind) -> Result<(), Failure> {
    let new = beside(path, ".new");
    remove(&new)?;
    for companion in COMPANIONS {
        // SQLite would apply the log of a deleted file to the new one.
        remove(&beside(path, companion))?;
        remove(&beside(&new, companion))?;
    }
    private_file::make_unsynced(&new)?;
    let mut connection = connect(&new)?;
    (kind.tune)(&connection)?;
    // No sync here: the whole file is synced below.
    connection.pragma_update(None, "synchronous", "OFF")?;
    schema::create(&mut connection, kind)?;
    // Enabled last, so that no log is needed for what the file already contains.
    connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)?;
    File::open(&new)?.sync_all()?;
    fs::rename(&new, path)?;
    private_file::keep_names(path)?;
    Ok(())
}

fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
