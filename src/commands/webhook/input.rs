//! The input of the webhook commands: bodies, times and kinds of events.

use std::io::ErrorKind;

use jiff::Timestamp;

use crate::app::Context;
use crate::outcome::{Error, Result};
use crate::platform::input::{Source, bounded};
use crate::terminal::output::Terminals;
use crate::webhook::sample_event::KINDS;

/// The largest body that is read, in bytes: far beyond the service's own limit ("Limits", 3).
const LARGEST: u64 = 256 * 1024 * 1024;

/// The source of a body: `named`, else standard input if it is a pipe or a file.
///
/// # Errors
/// `usage` (2) if standard input is a terminal, where nobody means to type a body, or is to supply the secret.
pub(super) fn source(named: Option<Source>, secret_stdin: bool) -> Result<Source> {
    if named.is_none() && Terminals::detect().stdin {
        return Err(Error::usage("the body is missing")
            .hint("pass a file name, pipe the body in, or pass - to type it"));
    }
    let source = named.unwrap_or(Source::Stdin);
    if secret_stdin && source == Source::Stdin {
        return Err(
            Error::usage("the body and the secret cannot both come from standard input")
                .hint("pass the body as a file, or set BOOKCTL_WEBHOOK_SECRET"),
        );
    }
    Ok(source)
}

/// The bytes of a body, read on a thread of its own, so that Ctrl-C works while a pipe is silent.
pub(super) async fn read(source: Source) -> Result<Vec<u8>> {
    let name = source.name();
    let read = tokio::task::spawn_blocking(move || bounded(source.open()?, LARGEST)).await;
    read.unwrap_or_else(|_| Err(ErrorKind::Interrupted.into()))
        .map_err(|error| Error::unreadable(&name, error))
}

/// Parses seconds since 1970 or RFC 3339; returns seconds since 1970.
pub(super) fn second(text: &str) -> Result<i64, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text
            .parse()
            .map_err(|_| "the number of seconds is too large".to_owned());
    }
    let time = text.parse::<Timestamp>();
    time.map(Timestamp::as_second)
        .map_err(|_| "use seconds since 1970, or a time such as 2026-12-01T19:30:00Z".to_owned())
}

/// Warns of kinds that the service does not document. It may have them all the same, so they are no error.
pub(super) fn warn_of_unknown_kinds<'a>(
    context: &Context,
    kinds: impl IntoIterator<Item = &'a String>,
) {
    for kind in kinds {
        if KINDS.contains(&kind.as_str()) {
            continue;
        }
        let known = KINDS.join(", ");
        context.out.warn(&format!(
            "unknown kind of event: {kind}; known kinds: {known}"
        ));
    }
}
