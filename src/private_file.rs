//! Small files for their owner alone: written whole or not at all, by one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::patience::{Patience, Wait};

/// What is larger was not written by a person, nor by us.
const LARGEST: u64 = 1024 * 1024;

/// The file's text; `None` where there is no file. What is no file (a pipe would be waited for) or is too large is
/// refused.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !found.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if found.len() > LARGEST {
        return Err(io::Error::other(format!(
            "it is larger than {} MB",
            LARGEST / 1024 / 1024
        )));
    }
    fs::read_to_string(path).map(Some)
}

/// Makes the file where it is not there, for its owner alone: 0600, its folder 0700. One that is there, and that
/// others may read, is closed to them.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    if path.exists() {
        close_to_others(path, 0o077, 0o600);
    } else {
        create(path, false)?;
    }
    // An empty one may have been left by a process that died before its names were kept.
    if fs::metadata(path)?.len() == 0 {
        keep_names(path)?;
    }
    Ok(())
}

/// Syncs the folders around a new file, as far as its file system goes: one that was just made would, in a power cut,
/// be lost with all that was synced in it.
#[cfg(unix)]
pub(crate) fn keep_names(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let path = path.canonicalize()?;
    let device = path.metadata()?.dev();
    for folder in path.ancestors().skip(1) {
        // One that may not be read was not made here.
        let Ok(opened) = File::open(folder) else {
            break;
        };
        if opened.metadata()?.dev() != device {
            break;
        }
        match opened.sync_all() {
            // Some file systems have no such thing.
            Err(error) if error.kind() == ErrorKind::InvalidInput => {}
            synced => synced?,
        }
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn keep_names(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Closes a folder of ours in which everybody may write: what is kept there could be replaced.
pub(crate) fn close_folder_of(path: &Path) {
    if let Some(folder) = path.parent() {
        close_to_others(folder, 0o002, 0o700);
    }
}

/// Where a mode gives others what they must not have, it becomes this one. Who may not change it has not made it.
#[cfg(unix)]
fn close_to_others(path: &Path, forbidden: u32, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    /// In such a folder, as in /tmp, others may write and yet touch nothing of ours.
    const STICKY: u32 = 0o1000;
    // What else a name may lead to, such as a device, is nothing of ours.
    let found = fs::metadata(path).ok();
    let found = found.filter(|found| found.is_file() || found.is_dir());
    let found = found.map(|found| found.permissions().mode());
    if found.is_some_and(|found| found & forbidden != 0 && found & STICKY == 0) {
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    }
}

#[cfg(not(unix))]
fn close_to_others(_: &Path, _: u32, _: u32) {}

/// Replaces the file's text with what `edit` makes of it, while no other process does; `None` leaves it as it is.
///
/// The file is 0600, its folder is made 0700 where it is not there. A reader sees the old text or the new one.
pub(crate) fn update<E: From<io::Error>>(
    path: &Path,
    edit: impl FnOnce(String) -> Result<Option<String>, E>,
) -> Result<(), E> {
    // A link (to a folder of dotfiles, say) stays one: what it names is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    // What cannot be read is not written either, and gets no lock beside it.
    read(path).map_err(E::from)?;
    let _lock = lock(path)?;
    if let Some(text) = edit(read(path)?.unwrap_or_default())? {
        replace(path, &text)?;
    }
    Ok(())
}

/// Makes the folder of a file where it is not there: 0700.
pub(crate) fn make_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), make_folder)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn create(path: &Path, truncate: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(truncate);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Held until dropped. The lock is on a file of its own, which stays: the file itself is replaced at each write.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    let file = create(&beside(path, ".lock"), false)?;
    let mut wait = Wait::begin(path.display().to_string());
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if wait.goes_on() => {}
            Err(TryLockError::WouldBlock) => {
                let why = format!(
                    "another process has been writing it for {} s",
                    Patience::limit().as_secs_f32()
                );
                return Err(io::Error::new(ErrorKind::TimedOut, why));
            }
        }
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    // Whoever writes holds the lock, so one name is enough; what a crash left there is overwritten.
    let new = beside(path, ".new");
    let _ = fs::remove_file(&new);
    let mut file = create(&new, true)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)
}

/// The path of a file next to this one, of the same name with `suffix` at its end.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_that_others_could_read_is_its_owners_alone_after_a_write_and_a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        update(&link, |text| Ok::<_, io::Error>(Some(text + ", new"))).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "old, new");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_mode_of_what_is_no_file_of_ours_stays() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let mode = || fs::metadata(&socket).unwrap().permissions().mode();
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
        let before = mode();
        make(&socket).unwrap();
        assert_eq!(mode(), before);
    }

    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("file");
        let append = || update(&path, |text| Ok::<_, io::Error>(Some(text + "x")));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10).for_each(|_| append().unwrap()));
            }
        });
        assert_eq!(read(&path).unwrap().unwrap().len(), 40);
    }
}
