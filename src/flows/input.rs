//! Standard input and files as answers: bounded, and never deaf to Ctrl-C.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use crate::outcome::{Error, Result, reason};

/// The longest input that is read; a request may be 1 MB (spec, Errors: 413), which is the service's to refuse.
const LONGEST_INPUT: u64 = 16 * 1024 * 1024;

/// The whole of standard input.
pub(crate) async fn read_stdin() -> Result<String> {
    let read = read(|| Ok(io::stdin())).await;
    read.map_err(|error| Error::usage(format!("cannot read standard input: {}", reason(&error))))
}

/// The whole of a file, or of whatever else has a path.
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

/// On a thread of its own, so that Ctrl-C ends the command while a pipe says nothing.
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
