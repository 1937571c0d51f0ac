//! Files: who may read them, who owns them, how they are opened without blocking and synced.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Access, OFlags, access};
use rustix::process::{getegid, geteuid};

const OWNERS_ALONE: u32 = 0o600;

/// Creates a folder that only its owner can use, and those above it that do not exist.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Creates a file for writing. There must be none. It is its owner's alone, or may be read by the
/// same people as `like`.
pub(crate) fn create_new(path: &Path, like: Option<&Path>) -> io::Result<File> {
    let file = open(OpenOptions::new().write(true).create_new(true), path)?;
    if let Some(like) = like.and_then(|like| fs::metadata(like).ok()) {
        file.set_permissions(like.permissions())?;
    }
    Ok(file)
}

/// Opens a file without waiting for the other end of a pipe. A file that is created is its owner's
/// alone. Replaces the mode and flags that the caller set.
pub(crate) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.mode(OWNERS_ALONE).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Opens a file that this process alone writes until it is closed. The error is `WouldBlock`
/// if another one does.
pub(crate) fn open_alone(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = open(options, path)?;
    file.try_lock()?;
    Ok(file)
}

/// Whether the system says that a folder cannot be written.
pub(crate) fn is_read_only(folder: &Path) -> bool {
    access(folder, Access::WRITE_OK).is_err()
}

pub(crate) fn is_open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.mode() & 0o077 != 0)
}

/// Whether others may write a file; a group that is one's own alone is none.
pub(crate) fn is_writable_by_others(path: &Path) -> bool {
    let own_group = getegid().as_raw();
    let is_open = |found: Metadata| {
        let by_group = found.mode() & 0o020 != 0 && found.gid() != own_group;
        found.is_file() && (found.mode() & 0o002 != 0 || by_group)
    };
    fs::metadata(path).is_ok_and(is_open)
}

/// The command that removes the access of others. `path` is quoted for the shell.
pub(crate) fn closing_command(path: &str) -> String {
    format!("chmod 600 {path}")
}

/// Removes the access of others from a file. One with another name, by a symbolic or hard link,
/// keeps its mode: it may not be ours, and root would otherwise close /etc/passwd to everybody.
pub(crate) fn close_file(path: &Path) {
    let is_open =
        |found: &Metadata| found.is_file() && found.nlink() == 1 && found.mode() & 0o077 != 0;
    if !fs::symlink_metadata(path).is_ok_and(|found| is_open(&found)) {
        return;
    }
    // Change the opened file, because another one may have taken its name. A file that cannot be
    // opened was not created here.
    let mut options = OpenOptions::new();
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.read(true).custom_flags(flags.bits().cast_signed());
    let Ok(file) = options.open(path) else { return };
    if file.metadata().is_ok_and(|found| is_open(&found)) {
        let _ = file.set_permissions(fs::Permissions::from_mode(OWNERS_ALONE));
    }
}

/// Removes the access of others from our folder if everybody can write to it.
pub(crate) fn close_folder(folder: &Path) {
    /// In a folder with the sticky bit, such as /tmp, others can write but cannot touch our files.
    const STICKY: u32 = 0o1000;
    let found = fs::metadata(folder).ok().filter(Metadata::is_dir);
    if found.is_some_and(|found| found.mode() & 0o002 != 0 && found.mode() & STICKY == 0) {
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    }
}

/// Who owns a file, if that is neither the user nor root.
pub(crate) fn other_owner(_: &Path, found: &Metadata) -> Option<String> {
    let owner = found.uid();
    (owner != 0 && owner != geteuid().as_raw()).then(|| format!("user {owner}"))
}

/// The rest of the message about [`other_owner`]: who may own it, and how to become the owner.
pub(crate) const RIGHT_OWNERS: (&str, &str) =
    ("neither you nor root", "make its files yours with chown");

/// Syncs the folders above a new file, up to the root of its file system. Otherwise a power cut
/// could lose a folder that was just created, with everything that was synced in it.
pub(crate) fn sync_names(path: &Path) -> io::Result<()> {
    let path = path.canonicalize()?;
    let device = path.metadata()?.dev();
    for folder in path.ancestors().skip(1) {
        // A folder that cannot be read was not created here.
        let Ok(opened) = File::open(folder) else {
            break;
        };
        if opened.metadata()?.dev() != device {
            break;
        }
        match opened.sync_all() {
            // Some file systems cannot sync a folder.
            Err(error) if error.kind() == ErrorKind::InvalidInput => {}
            synced => synced?,
        }
    }
    Ok(())
}

pub(crate) const RENAMES_OPEN_FILES: bool = true;

/// Gives a file a name that may be another file's, whose place it takes.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}
