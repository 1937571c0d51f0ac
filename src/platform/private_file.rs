//! Small files for their owner alone: written whole or not at all, by one process at a time.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags, access};
use rustix::io::Errno;

use crate::platform::lock_wait::{LockWait, LockWaitSettings};
use crate::platform::ownership;
use crate::platform::regular_file;

/// What is larger was not written by a person, nor by us.
const LARGEST: u64 = 1024 * 1024;
/// What its owner alone may read and write.
const OWNERS_ALONE: u32 = 0o600;

/// The file's text; `None` where there is no file. What another user owns, what is no file (a pipe would be waited for)
/// or is too large is refused.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    ownership::check(path)?;
    match regular_file::read(path, LARGEST) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is no UTF-8")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes a database's file where it is not there, for its owner alone: 0600, its folder 0700. One that is there, and
/// that others may read, is closed to them; one that another user owns is refused.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    make_folder_of(path)?;
    ownership::check_database(path)?;
    if path.exists() {
        close_file(path);
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
pub(crate) fn keep_names(path: &Path) -> io::Result<()> {
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

/// What keeps a database from being written at `path`: the file, or the folder that it would be made in. `None` where
/// both may be written; SQLite keeps a file of its own in the folder during each change.
///
/// The system is asked, and nothing is written. A full disk is not noticed by this.
pub(crate) fn read_only_place(path: &Path) -> Option<PathBuf> {
    let folder = path.ancestors().skip(1).find(|folder| folder.exists());
    let places = path.exists().then_some(path).into_iter().chain(folder);
    places
        .into_iter()
        .find(|place| {
            matches!(
                access(*place, Access::WRITE_OK),
                Err(Errno::ACCESS | Errno::PERM | Errno::ROFS)
            )
        })
        .map(Path::to_owned)
}

/// Closes a file to others where its mode lets them in.
///
/// The mode stays where the name is a link, symbolic or hard. Such a file has another name, somebody chose its mode
/// there, and it need not be ours at all: run by root, we would otherwise close /etc/passwd to everybody.
fn close_file(path: &Path) {
    let is_open =
        |found: &Metadata| found.is_file() && found.nlink() == 1 && found.mode() & 0o077 != 0;
    if !fs::symlink_metadata(path).is_ok_and(|found| is_open(&found)) {
        return;
    }
    // By the opened file, because another one may have got the name since. Who may not open it has not made it.
    let mut options = OpenOptions::new();
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.read(true).custom_flags(flags.bits().cast_signed());
    let Ok(file) = options.open(path) else { return };
    if file.metadata().is_ok_and(|found| is_open(&found)) {
        let _ = file.set_permissions(fs::Permissions::from_mode(OWNERS_ALONE));
    }
}

/// Closes a folder of ours in which everybody may write: what is kept there could be replaced.
pub(crate) fn close_folder_of(path: &Path) {
    /// In such a folder, as in /tmp, others may write and yet touch nothing of ours.
    const STICKY: u32 = 0o1000;
    let Some(folder) = path.parent() else { return };
    let found = fs::metadata(folder).ok().filter(Metadata::is_dir);
    if found.is_some_and(|found| found.mode() & 0o002 != 0 && found.mode() & STICKY == 0) {
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    }
}

/// Replaces the file's text with what `edit` makes of it, while no other process does; `None` leaves it as it is.
///
/// The file is 0600, its folder is made 0700 where it is not there. A reader sees the old text or the new one.
///
/// A link, as tools that manage dotfiles make it, stays one: what it names is replaced, and keeps its mode.
pub(crate) fn update<E: From<io::Error>>(
    path: &Path,
    edit: impl FnOnce(String) -> Result<Option<String>, E>,
) -> Result<(), E> {
    ownership::check(path)?;
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    // What cannot be read is not written either, and gets no lock beside it.
    read(path).map_err(E::from)?;
    let _lock = lock(path)?;
    if let Some(text) = edit(read(path)?.unwrap_or_default())? {
        let mode = match fs::metadata(path) {
            Ok(found) if is_link => found.mode() & 0o777,
            _ => OWNERS_ALONE,
        };
        replace(path, &text, mode)?;
    }
    Ok(())
}

/// Makes the folder of a file if it is not there: 0700.
pub(crate) fn make_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), make_folder)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

fn create(path: &Path, is_new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).create_new(is_new);
    regular_file::open_with(options.mode(OWNERS_ALONE), path)
}

/// Held until dropped. The lock is on a file of its own, which stays: the file itself is replaced at each write.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    let name = beside(path, ".lock");
    ownership::check(&name)?;
    let file = create(&name, false).map_err(|error| {
        let why = format!("its lock {} cannot be used: {error}", name.display());
        io::Error::new(error.kind(), why)
    })?;
    let mut wait = LockWait::begin(path.display().to_string());
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if wait.pause() => {}
            Err(TryLockError::WouldBlock) => {
                let why = format!(
                    "another process has been writing it for {} s",
                    LockWaitSettings::limit().as_secs_f32()
                );
                return Err(io::Error::new(ErrorKind::TimedOut, why));
            }
        }
    }
}

fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    // Whoever writes holds the lock, so one name is enough; what a crash left there is removed.
    let new = beside(path, ".new");
    let _ = fs::remove_file(&new);
    let mut file = create(&new, true)?;
    if mode != OWNERS_ALONE {
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    fn file_of_mode(path: &Path, mode: u32) {
        fs::write(path, "old").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_file_that_others_could_read_is_its_owners_alone_after_a_write() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        file_of_mode(&file, 0o644);
        update(&file, |text| Ok::<_, io::Error>(Some(text + ", new"))).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "old, new");
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn a_link_stays_a_link_after_a_write_and_what_it_names_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        file_of_mode(&file, 0o644);
        std::os::unix::fs::symlink(&file, &link).unwrap();
        update(&link, |text| Ok::<_, io::Error>(Some(text + ", new"))).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "old, new");
        assert_eq!(mode(&file), 0o644);
    }

    #[test]
    fn a_database_is_closed_to_others_unless_it_has_another_name() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        file_of_mode(&place("own"), 0o644);
        make(&place("own")).unwrap();
        assert_eq!(mode(&place("own")), 0o600);
        for name in ["symbolic", "hard"] {
            let elsewhere = place(&format!("named by {name}"));
            file_of_mode(&elsewhere, 0o644);
            match name {
                "hard" => fs::hard_link(&elsewhere, place(name)).unwrap(),
                _ => std::os::unix::fs::symlink(&elsewhere, place(name)).unwrap(),
            }
            make(&place(name)).unwrap();
            assert_eq!(mode(&elsewhere), 0o644, "{name}");
        }
    }

    #[test]
    fn the_mode_of_what_is_no_file_of_ours_stays() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
        make(&socket).unwrap();
        assert_eq!(mode(&socket), 0o666);
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
