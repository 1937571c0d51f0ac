//! The file that tells another program that a server is ready, and where.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::outcome::{Error, Result};
use crate::platform::private_file::{add_suffix, rename};

/// The file of `--ready-file`, with the address while the server is ready: dropped, it is gone.
pub(crate) struct ReadyFile(PathBuf);

impl ReadyFile {
    /// Removes the file that an earlier server left.
    pub(crate) fn new(path: PathBuf) -> Result<Self> {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(unwritable(&path, error))
            }
            _ => Ok(ReadyFile(path)),
        }
    }

    pub(crate) fn write(&self, address: &str) -> Result<()> {
        let new = add_suffix(&self.0, ".new");
        // A pipe would block, a link lead elsewhere. Another user's file cannot be removed.
        let _ = fs::remove_file(&new);
        let written = File::create_new(&new)
            .and_then(|mut file| file.write_all(address.as_bytes()))
            .and_then(|()| rename(&new, &self.0));
        written.map_err(|error| unwritable(&self.0, error))
    }
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn unwritable(path: &Path, error: std::io::Error) -> Error {
    let displayed = path.display();
    Error::io(format!("cannot write the ready file {displayed}"), error)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_never_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name| folder.path().join(name);
        fs::write(at("other"), "kept").unwrap();
        std::os::unix::fs::symlink(at("other"), at("ready.new")).unwrap();
        let ready = ReadyFile::new(at("ready")).unwrap();
        ready.write("http://127.0.0.1:1/").unwrap();
        let read = |name| fs::read_to_string(at(name)).unwrap();
        assert_eq!(
            (read("ready").as_str(), read("other").as_str()),
            ("http://127.0.0.1:1/", "kept")
        );
    }
}
