//! Standard input as an answer: bounded, and never deaf to Ctrl-C.

use std::io::Read;

use crate::error::{Error, Result};

/// The longest input that is read: the service takes no larger body.
const LONGEST_INPUT: u64 = 1024 * 1024;

/// Read on a thread of its own, so that Ctrl-C ends the command while a pipe says nothing.
pub(crate) async fn read_stdin() -> Result<String> {
    let read = tokio::task::spawn_blocking(|| {
        let mut text = String::new();
        std::io::stdin()
            .lock()
            .take(LONGEST_INPUT)
            .read_to_string(&mut text)
            .map(|_| text)
    });
    let read = read
        .await
        .map_err(|_| Error::usage("standard input cannot be read"))?;
    read.map_err(|error| Error::io("standard input cannot be read", &error))
}
