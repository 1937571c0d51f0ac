//! Files are trusted only if the user, or root or an administrator, owns them, as in ssh.
//!
//! In a folder with write access for all, another user could create a file first, and so choose
//! the address that the API key is sent to, or read who is booked for.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::shell;
use super::system::files::{self, RIGHT_OWNERS, other_owner};
use crate::outcome::{Error, Result};

/// The suffixes of the files that SQLite keeps next to a database.
pub(crate) const COMPANIONS: [&str; 3] = ["-journal", "-wal", "-shm"];
/// The most links that Linux follows in one path.
const MOST_LINKS: usize = 40;

/// Refuses a file if another user owns it, its folder or a link to it: the link could make any file
/// of ours a configuration or a journal. A missing file is accepted.
pub(crate) fn check(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        check_name(folder)?;
    }
    check_name(path)
}

/// Like [`check`], for a database and the files that SQLite keeps next to it.
pub(crate) fn check_database(path: &Path) -> io::Result<()> {
    check(path)?;
    for suffix in COMPANIONS {
        let companion = add_suffix(path, suffix);
        check_name(&companion)?;
        // SQLite opens it without asking what it is, and would wait for ever at a pipe.
        if companion.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::other(format!("{} is not a regular file", companion.display())));
        }
    }
    Ok(())
}

/// Like [`check_database`], with the error that a person sees (exit 3).
pub(crate) fn refuse_others(path: &Path) -> Result<()> {
    Ok(check_database(path).with_context(|| format!("cannot read {}", path.display()))?)
}

/// Refuses a file of settings that others may write, as ssh does: it says where keys are sent.
/// `true` if the file system has no modes.
pub(crate) fn refuse_writable(path: &Path) -> Result<bool> {
    if !files::is_writable_by_others(path) {
        return Ok(false);
    }
    let probe = add_suffix(path, ".probe");
    let keeps_modes =
        files::create_new(&probe, None).is_err() || !files::is_writable_by_others(&probe);
    let _ = fs::remove_file(&probe);
    if !keeps_modes {
        return Ok(true);
    }
    let what = format!("other users may write {}; bookctl does not use it", path.display());
    let command = shell::word(&path.display().to_string());
    Err(Error::config(what).hint(format!("check its contents, then run: chmod go-w {command}")))
}

fn check_name(path: &Path) -> io::Result<()> {
    let mut name = path.to_owned();
    for _ in 0..MOST_LINKS {
        let found = match fs::symlink_metadata(&name) {
            Ok(found) => found,
            // Opening the file reports what is wrong with it.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if let Some(owner) = other_owner(&name, &found) {
            let (path, (neither, take_over)) = (name.display(), RIGHT_OWNERS);
            let foreign = Error::config(format!(
                "{path} belongs to {owner}, who is {neither}; bookctl does not use it"
            ));
            let foreign = foreign.hint(format!(
                "set BOOKCTL_HOME to a folder of your own; if this one is meant, {take_over}"
            ));
            return Err(io::Error::new(ErrorKind::PermissionDenied, foreign));
        }
        if !found.is_symlink() {
            return Ok(());
        }
        name = name.parent().unwrap_or(Path::new("")).join(fs::read_link(&name)?);
    }
    // The links form a circle. Opening the file fails.
    Ok(())
}

pub(crate) fn add_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}
