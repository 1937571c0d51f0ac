//! The write-ahead log of a file whose commits last.
//!
//! A rollback file costs five syncs per transaction: the old pages, their folder, their count, the new pages, and the
//! end of the rollback file. A log costs one, or three once the transaction is in the file itself.
//!
//! What is committed is in the file itself as soon as there is time for that (see [`Place`]). So the file is whole
//! without its log, except while a command runs and after one that was killed, as it is with a rollback file.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode};

use super::{Failure, Kind, connect, log_size, wait_for_locks, waited_for};
use crate::platform::lock_wait::LockWait;
use crate::platform::private_file::{self, beside};

/// The log is emptied when it has more pages. Each command reads it once, and the first transaction of an empty log
/// costs a sync more.
const LARGE_LOG: i64 = 128;

/// The size of the log's header, and the two values of its first four bytes (SQLite, WAL-mode File Format).
const HEADER: u64 = 32;
const MAGIC: [[u8; 4]; 2] = [[0x37, 0x7f, 0x06, 0x82], [0x37, 0x7f, 0x06, 0x83]];

/// Whether processes can share memory through a file at `path`, which SQLite needs for a log.
///
/// Network file systems cannot, and nothing says whether an unknown one is a network file system.
#[cfg(target_os = "linux")]
pub(super) fn works_at(path: &Path) -> bool {
    /// What `statfs` calls local file systems (linux/magic.h).
    const LOCAL: [u32; 9] = [
        0xef53,      // ext2, ext3, ext4
        0x5846_5342, // XFS
        0x9123_683e, // Btrfs
        0xf2f5_2010, // F2FS
        0x2fc1_2fc1, // ZFS
        0xca45_1a4e, // bcachefs
        0x3153_464a, // JFS
        0x0102_1994, // tmpfs
        0x794c_7630, // overlayfs
    ];
    let folder = path.parent().unwrap_or(path);
    let found = rustix::fs::statfs(path).or_else(|_| rustix::fs::statfs(folder));
    found.is_ok_and(|found| LOCAL.contains(&(found.f_type as u32)))
}

/// There is no such list for other systems yet.
#[cfg(not(target_os = "linux"))]
pub(super) fn works_at(_: &Path) -> bool {
    false
}

/// SQLite keeps the log next to the file that a link leads to.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn of(path: &Path) -> PathBuf {
    beside(&real(path), "-wal")
}

/// Notices a log that something else removed or overwrote. SQLite takes it for an empty one.
///
/// SQLite removes the log together with its index in shared memory, and the index first. It syncs the header before it
/// writes what follows it.
pub(super) fn check(path: &Path) -> Result<(), Failure> {
    let log = of(path);
    let mut start = [0; 4];
    match File::open(&log) {
        Ok(mut file) if file.metadata()?.len() > HEADER => file.read_exact(&mut start)?,
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let is_lost = beside(&real(path), "-shm").exists();
            return if is_lost {
                Err(Failure::LogLost)
            } else {
                Ok(())
            };
        }
        Err(error) => return Err(error.into()),
    }
    match MAGIC.contains(&start) {
        true => Ok(()),
        false => Err(Failure::LogLost),
    }
}

#[cfg(unix)]
type FileId = (u64, u64);

#[cfg(unix)]
fn id(path: &Path) -> io::Result<FileId> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Nobody can rename an open file there.
#[cfg(not(unix))]
type FileId = ();

#[cfg(not(unix))]
fn id(path: &Path) -> io::Result<FileId> {
    fs::metadata(path).map(drop)
}

/// Where a connection expects the file that it has open.
pub(super) struct Opened {
    path: PathBuf,
    file: FileId,
    had_log: bool,
}

impl Opened {
    /// Opens the file as it is.
    pub(super) fn connect(path: &Path, kind: &Kind) -> Result<(Connection, Self), Failure> {
        let mut opened = Opened {
            path: path.to_owned(),
            file: id(path)?,
            had_log: of(path).exists(),
        };
        loop {
            let connection = connect(path, kind)?;
            let found = id(path)?;
            if found == opened.file {
                return Ok((connection, opened));
            }
            // It was replaced, or an overlay file system has copied it because it is opened for writing.
            opened.file = found;
        }
    }

    /// Refuses every commit from the moment on at which the file or its log has another name. With a rollback file
    /// SQLite notices that itself. With a log it would go on writing to what was set aside.
    pub(super) fn guard(self, connection: &mut Connection) -> Result<(), Failure> {
        if !self.had_log {
            // SQLite makes the log when it reads for the first time.
            connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
            private_file::keep_names(&self.path)?;
        }
        let Opened { path, file, .. } = self;
        let log_path = of(&path);
        let log = id(&log_path).map_err(|_| Failure::Moved)?;
        let is_there = move || {
            let found = |path: &Path, expected: &FileId| id(path).is_ok_and(|it| it == *expected);
            found(&path, &file) && found(&log_path, &log)
        };
        Ok(connection.commit_hook(Some(move || !is_there()))?)
    }
}

fn is_used(connection: &Connection) -> rusqlite::Result<bool> {
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok(mode == "wal")
}

/// Where a transaction is, synced, once it has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the log, if there is one: that takes the fewest syncs.
    Log,
    /// In the file itself, with all that was in the log before, except for what others still read around.
    File,
}

/// Runs `work`, one transaction, which is on the disk when this returns.
pub(crate) fn commit_to<T, E: From<Failure>>(
    place: Place,
    connection: &mut Connection,
    path: &Path,
    kind: &Kind,
    work: impl FnOnce(&mut Connection) -> Result<T, E>,
) -> Result<T, E> {
    let moves = place == Place::File && is_used(connection).map_err(Failure::from)?;
    // Moving the transaction into the file syncs the log first.
    let level = if moves {
        "NORMAL"
    } else {
        kind.journal.synchronous()
    };
    connection
        .pragma_update(None, "synchronous", level)
        .map_err(Failure::from)?;
    let value = work(connection)?;
    if moves {
        move_to_file(connection, path, kind)?;
    }
    Ok(value)
}

fn move_to_file(connection: &mut Connection, path: &Path, kind: &Kind) -> Result<(), Failure> {
    match fold(connection) {
        Ok(Folded { all: true, pages }) if pages > LARGE_LOG => {
            // Where others read, the next command empties it.
            let _ = super::fold_in(connection);
            wait_for_locks(connection, path, kind)?;
        }
        Ok(Folded { all: true, .. }) => {}
        Ok(_) => private_file::sync(&of(path))?,
        // There is no room for it in the file, which has to grow.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => {
            private_file::sync(&of(path))?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// What of a log is in the file.
struct Folded {
    all: bool,
    /// The number of pages in the log.
    pages: i64,
}

/// Moves into the file what of the log nobody reads at an older state, without waiting.
fn fold(connection: &Connection) -> rusqlite::Result<Folded> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |row| {
        let (is_busy, pages, folded): (bool, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let all = !is_busy && pages == folded;
        Ok(Folded { all, pages })
    })
}

/// Moves all of the log into the file, and leaves nothing in it. Waits for others that read or do the same.
pub(crate) fn empty(connection: &Connection, path: &Path, kind: &Kind) -> Result<(), Failure> {
    let empty = "PRAGMA wal_checkpoint(TRUNCATE)";
    // SQLite does not call the busy handler where another process moves the log.
    let mut wait = LockWait::begin(waited_for(path, kind));
    while connection.query_row(empty, (), |row| row.get(0))? {
        if !wait.pause() {
            return Err(Failure::Held);
        }
    }
    Ok(())
}

/// Opens a file as it is, and lets nobody write to it until the connection is dropped. All that was written is then in
/// the file itself, as far as its log can be read.
pub(crate) fn hold(path: &Path, kind: &Kind) -> Result<Connection, Failure> {
    let held = connect(path, kind)?;
    held.execute_batch("BEGIN IMMEDIATE")?;
    if log_size(&real(path)) > 0 {
        let other = connect(path, kind)?;
        let mut wait = LockWait::begin(waited_for(path, kind));
        while fold(&other).is_ok_and(|folded| !folded.all) {
            if !wait.pause() {
                return Err(Failure::Held);
            }
        }
    }
    Ok(held)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
