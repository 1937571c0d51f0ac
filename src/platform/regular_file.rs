//! Opening files that a person named or another process may have replaced, without blocking.
//!
//! Opening a named pipe blocks until another process opens its other end, and no signal ends that
//! wait. A device may deliver bytes without end. Neither can be a configuration or certificate.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use super::input::bounded;
use super::system::files;

/// Opens a regular file for reading. Refuses anything else at once.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Like [`open`], with the caller's options. A file that is created is its owner's alone.
pub(crate) fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Check first: opening a pipe or some devices has an effect at their other end.
    if let Ok(found) = fs::metadata(path) {
        refuse_all_but_files(&found)?;
    }
    // Not blocking guards against a file that is replaced after the check above.
    let file = files::open(options, path)?;
    refuse_all_but_files(&file.metadata()?)?;
    Ok(file)
}

pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    bounded(open(path)?, most)
}

fn refuse_all_but_files(found: &Metadata) -> io::Result<()> {
    if found.is_file() { Ok(()) } else { Err(io::Error::other("it is not a regular file")) }
}
