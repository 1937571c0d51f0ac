//! Files: who may read them, who owns them, how they are renamed while others have them open.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::access_list;

/// Creates a folder that only its owner can use, and those above it that do not exist. What is
/// created in it later has the same access.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        create_folder(above)?;
    }
    match fs::create_dir(folder) {
        Ok(()) => access_list::close_folder(folder),
        // Another process may have created it in the meantime.
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates a file for writing. There must be none. It is its owner's alone. One that takes the
/// place of `like`, which another user placed, has what the folder passes on to new files.
pub(crate) fn create_new(path: &Path, like: Option<&Path>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if like.is_some() {
        return options.open(path);
    }
    // Until it is closed to others, no other process can open it.
    let mut file = options.access_mode(access_list::WRITE_AND_CLOSE).share_mode(0).open(path)?;
    access_list::close_file(&mut file)?;
    Ok(file)
}

pub(crate) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let is_new = !path.exists();
    let file = options.open(path)?;
    if is_new {
        close_file(path);
    }
    Ok(file)
}

/// Opens a file that this process alone writes until it is closed. The error is `WouldBlock`
/// if another one does. A lock would also keep others from reading it.
pub(crate) fn open_alone(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    const READ: u32 = 1;
    match create_new(path, None) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    options.share_mode(READ).open(path).map_err(|error| match error.raw_os_error() {
        Some(SHARING_VIOLATION) => ErrorKind::WouldBlock.into(),
        _ => error,
    })
}

pub(crate) fn is_open_to_others(path: &Path) -> bool {
    access_list::is_open_to_others(path).unwrap_or(false)
}

/// The access list of our folder keeps other writers out; their files fail by their owner.
pub(crate) fn is_writable_by_others(_: &Path) -> bool {
    false
}

pub(crate) fn closing_command(path: &str) -> String {
    format!(r#"icacls {path} /inheritance:r /grant:r "${{env:USERNAME}}:F""#)
}

/// Removes the access of others from a file. A link keeps its access, because its owner chose it.
pub(crate) fn close_file(path: &Path) {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    if is_file && is_open_to_others(path) {
        // A user who may not change the list did not create the file.
        let _ = access_list::close(path);
    }
}

/// A folder of another user keeps its access list: it may be a drive's or a share's
/// own folder, and only its owner knows who is meant to use it.
pub(crate) fn close_folder(_: &Path) {}

/// What may be done in a folder is known only when it is done.
pub(crate) fn is_read_only(_: &Path) -> bool {
    false
}

/// Who owns a file, if that is another account than the user's. Groups such as Administrators, and
/// the system, are trusted; so is a file system without owners.
pub(crate) fn other_owner(path: &Path, _: &Metadata) -> Option<String> {
    access_list::other_owner(path)
}

pub(crate) const RIGHT_OWNERS: (&str, &str) =
    ("neither you nor an administrator", "take its files over with `takeown /F FOLDER /R`");

/// NTFS keeps names in a journal of its own, and Windows has no call that syncs a folder.
pub(crate) fn sync_names(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether a file that is open can be renamed. SQLite opens its files so that they cannot.
pub(crate) const RENAMES_OPEN_FILES: bool = false;
/// How long an open file is tried again. Virus scanners briefly open new files.
const LONGEST_RENAME: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);
/// Another process has the file open, and did not allow that it is renamed or replaced.
const SHARING_VIOLATION: i32 = 32;

/// Gives a file a name that may be another file's, whose place it takes. Tries again while another
/// process has one of the two open, which Windows refuses.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        let Err(error) = fs::rename(from, to) else {
            return Ok(());
        };
        let is_open = error.raw_os_error() == Some(SHARING_VIOLATION)
            || error.kind() == ErrorKind::PermissionDenied;
        if !is_open {
            return Err(error);
        }
        if begun.elapsed() >= LONGEST_RENAME {
            let (from, to) = (from.display(), to.display());
            let why = format!(
                "{from} cannot be renamed to {to} while another program has one of them open: {error}"
            );
            return Err(io::Error::new(error.kind(), why));
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Opens a file as SQLite does: no process may rename or replace it meanwhile.
    fn held(path: &Path) -> File {
        const READ_AND_WRITE: u32 = 3;
        let mut options = OpenOptions::new();
        options.read(true).share_mode(READ_AND_WRITE).open(path).unwrap()
    }

    #[test]
    fn file_open_elsewhere_is_replaced_once_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let (new, old) = (folder.path().join("new"), folder.path().join("old"));
        fs::write(&new, "new").unwrap();
        fs::write(&old, "old").unwrap();
        let open = held(&old);
        let closed = std::thread::spawn(move || {
            std::thread::sleep(PAUSE * 5);
            drop(open);
        });
        rename(&new, &old).unwrap();
        closed.join().unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), "new");
    }

    #[test]
    fn a_file_that_stays_open_elsewhere_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let (new, old) = (folder.path().join("new"), folder.path().join("old"));
        fs::write(&new, "new").unwrap();
        fs::write(&old, "old").unwrap();
        let _open = held(&old);
        let error = rename(&new, &old).unwrap_err().to_string();
        assert!(error.contains("another program has one of them open"), "{error}");
        assert_eq!(fs::read_to_string(&old).unwrap(), "old");
    }

    #[test]
    fn file_opened_alone_is_read_by_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let alone = || open_alone(OpenOptions::new().read(true).write(true), &path);
        let mut file = alone().unwrap();
        file.write_all(b"x").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "x");
        assert_eq!(alone().unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(!is_open_to_others(&path));
        drop(file);
        alone().unwrap();
    }

    #[test]
    fn a_new_file_and_a_new_folder_are_the_users_alone() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a").join("b");
        create_folder(&inner).unwrap();
        let path = inner.join("file");
        let mut file = create_new(&path, None).unwrap();
        file.write_all(b"x").unwrap();
        drop(file);
        for place in [path, inner, folder.path().join("a")] {
            assert!(!is_open_to_others(&place), "{place:?}");
        }
    }
}
