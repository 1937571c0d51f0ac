//! Making a new file. It appears under its name with its schema in it, so that an empty file is never a new one: what
//! emptied it also took what was in it, and nobody must take that for a beginning.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use super::{Failure, Kind, beside, connect, schema};
use crate::platform::private_file;

/// What SQLite keeps beside a file.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

/// Makes the file if there is none, and closes one to others that they may read.
pub(super) fn make(path: &Path, kind: &Kind) -> Result<(), Failure> {
    if !path.exists() {
        private_file::make_folder_of(path)?;
        let _alone = private_file::lock(path)?;
        // Another process may have been faster.
        if !path.exists() {
            make_whole(path, kind)?;
            // Whoever holds or waits for the lock finds the file from now on, so it is needed no more.
            return remove(&beside(path, ".lock"));
        }
    }
    private_file::make(path)?;
    if fs::metadata(path)?.len() == 0 {
        return Err(Failure::Empty);
    }
    Ok(())
}

/// Makes the file under another name, and renames it when it is whole and on the disk.
fn make_whole(path: &Path, kind: &Kind) -> Result<(), Failure> {
    let new = beside(path, ".new");
    remove(&new)?;
    for companion in COMPANIONS {
        // SQLite would write the log of a file that is gone into the new one.
        remove(&beside(path, companion))?;
        remove(&beside(&new, companion))?;
    }
    private_file::make(&new)?;
    let mut connection = connect(&new)?;
    (kind.tune)(&connection)?;
    // It is synced below, once.
    connection.pragma_update(None, "synchronous", "OFF")?;
    schema::create(&mut connection, kind)?;
    // Last, so that no log is needed for what is in the file already.
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
