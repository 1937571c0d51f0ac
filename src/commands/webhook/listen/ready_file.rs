//! The file of `--ready-file`: its presence says that the listener is ready, its content where.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::outcome::{Error, Result};
use crate::platform::private_file::{beside, rename};

/// The file, which is removed when this is dropped.
pub(super) struct ReadyFile(PathBuf);

impl ReadyFile {
    /// Removes the file that an earlier listener left.
    ///
    /// # Errors
    /// `io` if it cannot be removed.
    pub(super) fn new(path: PathBuf) -> Result<Self> {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(&path, error)),
            _ => Ok(ReadyFile(path)),
        }
    }

    /// Creates the file atomically, with its content.
    pub(super) fn write(&self, address: &str) -> Result<()> {
        let new = beside(&self.0, ".new");
        // `create_new` refuses a pipe, which would block, and a symbolic link.
        let _ = fs::remove_file(&new);
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&new)
            .and_then(|mut file| file.write_all(address.as_bytes()))
            .and_then(|()| rename(&new, &self.0))
            .map_err(|error| failed(&self.0, error))
    }
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn failed(path: &Path, error: std::io::Error) -> Error {
    Error::io(
        format!("cannot write the ready file {}", path.display()),
        error,
    )
}
