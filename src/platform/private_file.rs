//! Small files that only their owner can read, written atomically by one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use super::system::files;
use crate::platform::input;
use crate::platform::lock_wait::{LockWait, LockWaitSettings};
use crate::platform::ownership;
pub(crate) use crate::platform::ownership::add_suffix;
use crate::platform::regular_file;
pub(crate) use files::{is_read_only, rename, sync_names as keep_names};

/// The most bytes that are read. Neither people nor bookctl write larger files.
const LARGEST: u64 = 1024 * 1024;

/// The file's text, or `None` if there is no file. Refuses what another user owns, is too large or
/// not a regular file.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    ownership::check(path)?;
    match regular_file::read(path, LARGEST) {
        Ok(bytes) => input::text(bytes).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates a database file: 0600, in a 0700 folder. Takes access from others if it exists.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    make_unsynced(path)?;
    // An empty file may be left from a process that died before its folder was synced.
    if fs::metadata(path)?.len() == 0 {
        keep_names(path)?;
    }
    Ok(())
}

/// Like [`make`], for a file whose name need not survive a power cut yet.
pub(crate) fn make_unsynced(path: &Path) -> io::Result<()> {
    make_folder_of(path)?;
    ownership::check_database(path)?;
    if path.exists() {
        files::close_file(path);
        return Ok(());
    }
    create(path).map(drop)
}

pub(crate) fn sync(path: &Path) -> io::Result<()> {
    // Windows syncs only what could be written.
    OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Replaces the file's text with the result of `edit`, while no other process does; `None` leaves
/// the file as it is. Readers see either the old text or the new one. The file is 0600, and its
/// folder is created with 0700; a symbolic link, as tools that manage dotfiles create it, stays:
/// the file it names is replaced and keeps its mode.
pub(crate) fn update(
    path: &Path,
    edit: impl FnOnce(String) -> anyhow::Result<Option<String>>,
) -> anyhow::Result<()> {
    ownership::check(path)?;
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let path = &dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    make_folder_of(path)?;
    // A file that cannot be read is not written either, and gets no lock file.
    read(path)?;
    let _lock = lock(path)?;
    if let Some(text) = edit(read(path)?.unwrap_or_default())? {
        replace(path, &text, is_link)?;
    }
    Ok(())
}

/// Creates the folder of a file if it does not exist: 0700.
pub(crate) fn make_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), files::create_folder)
}

fn create(path: &Path) -> io::Result<File> {
    regular_file::open_with(OpenOptions::new().write(true).create(true).truncate(false), path)
}

/// A lock, held until it is dropped. It is on a file of its own, because the file itself is
/// replaced at each write.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    let name = add_suffix(path, ".lock");
    ownership::check(&name)?;
    let file = create(&name).map_err(|error| {
        io::Error::new(error.kind(), format!("its lock {} cannot be used: {error}", name.display()))
    })?;
    let mut wait = LockWait::begin(path.display().to_string());
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if wait.pause() => {}
            Err(TryLockError::WouldBlock) => {
                let waited = LockWaitSettings::limit().as_secs_f32();
                let why = format!("another process has been writing it for {waited} s");
                return Err(io::Error::new(ErrorKind::TimedOut, why));
            }
        }
    }
}

fn replace(path: &Path, text: &str, keeps_mode: bool) -> io::Result<()> {
    // The writer holds the lock, so one name is enough.
    let new = add_suffix(path, ".new");
    // A crash may have left the file behind.
    let _ = fs::remove_file(&new);
    let like = keeps_mode.then_some(path);
    let written = files::create_new(&new, like).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        // Windows renames no file that is open, so it is closed here.
        file.sync_all()
    });
    let replaced = written.and_then(|()| rename(&new, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&new);
    }
    replaced
}

#[cfg(all(test, windows))]
mod tests {
    use super::*;

    #[test]
    fn readable_file_is_its_owners_alone_after_a_write() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "old").unwrap();
        update(&file, |text| Ok(Some(text + ", new"))).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "old, new");
        assert!(!files::is_open_to_others(&file));
    }
}
