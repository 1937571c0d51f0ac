//! What the webhook tools read: bodies, times, one standard input.

use std::io;

use jiff::Timestamp;

use crate::outcome::{Error, Result, reason};
use crate::terminal::output::Terminals;
use crate::webhook::Source;

/// Runs what reads a body on a thread of its own, so that Ctrl-C ends a pipe that says nothing.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(Error::usage("the body cannot be read")))
}

/// A body that cannot be read: the arguments named nothing that can (2).
pub(super) fn unreadable(source: &Source, error: &io::Error) -> Error {
    Error::usage(format!(
        "cannot read {}: {}",
        source.name().escape_debug(),
        reason(error)
    ))
}

/// Where the body comes from: what was named, else a pipe. A terminal is none that somebody types a body into by
/// mistake.
pub(super) fn body(named: Option<Source>) -> Result<Source> {
    match named {
        Some(source) => Ok(source),
        None if Terminals::detect().stdin => Err(Error::usage("the body is missing")
            .hint("name its file, or pipe it in; - reads it from the terminal")),
        None => Ok(Source::Stdin),
    }
}

/// Refuses a body and a secret that would both come from standard input.
pub(super) fn one_stdin(body: &Source, secret_stdin: bool) -> Result<()> {
    if secret_stdin && *body == Source::Stdin {
        return Err(
            Error::usage("the body and the secret cannot both come from standard input")
                .hint("name the body's file, or set BOOKCTL_WEBHOOK_SECRET"),
        );
    }
    Ok(())
}

/// Seconds since 1970, in digits or as RFC 3339.
pub(super) fn second(text: &str) -> Result<i64, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text
            .parse()
            .map_err(|_| "that many seconds are beyond every clock".to_owned());
    }
    let time = text.parse::<Timestamp>();
    time.map(Timestamp::as_second)
        .map_err(|_| "write seconds since 1970, or 2026-12-01T19:30:00Z".to_owned())
}
