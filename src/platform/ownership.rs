//! Whose files are trusted: the user's own and root's, as ssh does it.
//!
//! `BOOKCTL_HOME` may lie in a folder where everybody may write, such as /tmp. Whoever puts a file there first would
//! otherwise choose the address that the user's key is sent to, or read in a journal of theirs who is booked for.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::outcome::{Error, Result};

/// As many links as Linux follows in one path.
const MOST_LINKS: usize = 40;

/// What another user owns.
#[derive(Debug)]
struct Foreign {
    path: PathBuf,
    owner: u32,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} belongs to user {}, who is neither you nor root",
            self.path.display(),
            self.owner
        )
    }
}

impl std::error::Error for Foreign {}

/// Refuses a file that another user owns, or whose folder another user owns. One that is not there is in order.
///
/// A link of the user's own leads to what the user chose, as with the tools that keep configuration files in one
/// folder and link to them; so links are followed. Each link on the way and the file at its end must be the user's or
/// root's: otherwise another user's link could make any file of the user's a configuration or a journal.
pub(crate) fn check(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        check_name(folder)?;
    }
    check_name(path)
}

/// The same for a database: what SQLite keeps beside it is part of it.
pub(crate) fn check_database(path: &Path) -> io::Result<()> {
    check(path)?;
    for suffix in ["-journal", "-wal", "-shm"] {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(suffix);
        check_name(&path.with_file_name(name))?;
    }
    Ok(())
}

/// The same, as the error that a person sees (3).
pub(crate) fn refuse_others(path: &Path) -> Result<()> {
    check_database(path).map_err(|error| {
        refusal(&error).unwrap_or_else(|| {
            Error::config(format!(
                "cannot look at {}: {}",
                path.display(),
                crate::outcome::reason(&error)
            ))
        })
    })
}

/// The error that a person sees (3), where an owner is what is wrong.
pub(crate) fn refusal(error: &io::Error) -> Option<Error> {
    let foreign = error.get_ref()?.downcast_ref::<Foreign>()?;
    let said = Error::config(format!("{foreign}: it is not used"));
    Some(said.hint(
        "set BOOKCTL_HOME to a folder of your own; if this one is meant, make its files yours with chown",
    ))
}

fn check_name(path: &Path) -> io::Result<()> {
    let mut name = path.to_owned();
    for _ in 0..MOST_LINKS {
        let found = match fs::symlink_metadata(&name) {
            Ok(found) => found,
            // Who opens it says what is wrong with it.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let owner = found.uid();
        if owner != 0 && owner != geteuid().as_raw() {
            let foreign = Foreign { path: name, owner };
            return Err(io::Error::new(ErrorKind::PermissionDenied, foreign));
        }
        if !found.is_symlink() {
            return Ok(());
        }
        let target = fs::read_link(&name)?;
        name = name.parent().unwrap_or(Path::new("")).join(target);
    }
    // A circle: opening it fails.
    Ok(())
}
