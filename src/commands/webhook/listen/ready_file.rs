//! The file that says where the listener is, and that it is there.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::outcome::{Error, Result};

/// It goes with this value.
pub(super) struct ReadyFile(PathBuf);

impl ReadyFile {
    /// What an earlier listener left there is not true any more.
    pub(super) fn new(path: PathBuf) -> Result<Self> {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(failed(&path, &error))
            }
            _ => Ok(ReadyFile(path)),
        }
    }

    /// The file appears with all that is in it.
    pub(super) fn write(&self, address: &str) -> Result<()> {
        let mut name = self.0.file_name().unwrap_or_default().to_owned();
        name.push(".new");
        let new = self.0.with_file_name(name);
        // A file that is made anew is no pipe, which would be waited for, and no link to something else.
        let _ = fs::remove_file(&new);
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&new)
            .and_then(|mut file| file.write_all(address.as_bytes()))
            .and_then(|()| fs::rename(&new, &self.0))
            .map_err(|error| failed(&self.0, &error))
    }
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::io(
        format!("the ready file {} cannot be written", path.display()),
        error,
    )
}
