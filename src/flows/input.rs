//! Reads standard input and files, with a size limit and interruptible by Ctrl-C.

use crate::outcome::{Error, Result};
use crate::platform::input::{Source, read_text};

/// The longest input that is read. Requests are limited to 1 MB (spec, Errors: 413), which the service enforces.
const LONGEST_INPUT: u64 = 16 * 1024 * 1024;

/// Reads all of standard input.
pub(crate) async fn read_stdin() -> Result<String> {
    read_text(Source::Stdin, LONGEST_INPUT)
        .await
        .map_err(|error| Error::unreadable("standard input", error))
}

/// Reads a whole file, or whatever else the path names.
pub(crate) async fn read_file(path: &str) -> Result<String> {
    let read = read_text(Source::File(path.into()), LONGEST_INPUT).await;
    read.map_err(|error| Error::unreadable(path, error))
}
