//! Reads standard input and files, with a size limit and interruptible by Ctrl-C.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use crate::outcome::{Error, Result, reason};

/// The longest input that is read. Requests are limited to 1 MB (spec, Errors: 413), which the service enforces.
const LONGEST_INPUT: u64 = 16 * 1024 * 1024;

/// Reads all of standard input.
pub(crate) async fn read_stdin() -> Result<String> {
    let read = read(|| Ok(io::stdin())).await;
    read.map_err(|error| Error::usage(format!("standard input cannot be read: {}", reason(&error))))
}

/// Reads a whole file, or whatever else the path names.
pub(crate) async fn read_file(path: &str) -> Result<String> {
    let file = PathBuf::from(path);
    let read = read(move || File::open(file)).await;
    read.map_err(|error| {
        Error::usage(format!(
            "cannot read {}: {}",
            path.escape_debug(),
            reason(&error)
        ))
    })
}

/// Reads on a thread of its own, so that Ctrl-C works while a pipe is silent.
async fn read<R: Read>(
    open: impl FnOnce() -> io::Result<R> + Send + 'static,
) -> io::Result<String> {
    let read = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        open()?.take(LONGEST_INPUT + 1).read_to_string(&mut text)?;
        if text.len() as u64 > LONGEST_INPUT {
            let megabytes = LONGEST_INPUT / 1024 / 1024;
            return Err(io::Error::other(format!(
                "it is larger than {megabytes} MB"
            )));
        }
        Ok(text)
    });
    read.await
        .unwrap_or_else(|_| Err(io::ErrorKind::Interrupted.into()))
}
