//! The handler that webhook commands post to, and how its responses are shown.

use reqwest::Url;

use crate::app::Context;
use crate::app::in_flight::InFlight;
use crate::outcome::{Code, Error, Result};
use crate::terminal::output::Output;
use crate::webhook::handler::{DEADLINE, Handler, HandlerVerdict, HeaderLine, NoReply};

/// How much of a body is shown, in lines and in bytes: the drill sends large ones, and an error page may be one.
const SHOWN_LINES: usize = 10;
const SHOWN: usize = 1024;

/// A client for the handler, with the user's `--timeout`.
pub(crate) fn handler(context: &Context, url: Url) -> Result<Handler> {
    Handler::new(url, context.timeout.unwrap_or(DEADLINE))
}

/// What an interrupt says from now on: that `what` was posted.
pub(crate) fn posting(context: &Context, what: String, to: &Url) {
    let said = format!("{what} posted to {to}, which may have handled it");
    let hint = "check what it did before you send anything again";
    context.in_flight.replace(InFlight::other(said, hint));
}

/// Shows with `--verbose` what was sent, and what came back.
pub(crate) fn trace(
    context: &Context,
    url: &Url,
    headers: &[HeaderLine],
    body: &[u8],
    reaction: Option<&HandlerVerdict>,
) {
    if !context.verbose {
        return;
    }
    Output::trace(&format!("> POST {url}"));
    for (name, value) in headers {
        Output::trace(&format!("> {name}: {value}"));
    }
    trace_body('>', &String::from_utf8_lossy(body));
    match reaction.map(|it| &it.outcome) {
        Some(Ok(reply)) => {
            Output::trace(&format!("< {}", reply.status));
            trace_body('<', &reply.body);
        }
        Some(Err(why)) => Output::trace(&format!("< {why}")),
        None => {}
    }
}

fn trace_body(sign: char, body: &str) {
    let (shown, rest) = beginning(body);
    for line in shown.lines() {
        Output::trace(&format!("{sign} {line}"));
    }
    if rest > 0 {
        Output::trace(&format!("{sign} … {rest} more bytes"));
    }
}

/// The first lines of a text, and how many bytes follow them.
pub(crate) fn beginning(text: &str) -> (&str, usize) {
    let lines = text.split_inclusive('\n').take(SHOWN_LINES);
    let mut end = lines.map(str::len).sum::<usize>().min(SHOWN);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (text[..end].trim_end(), text.len() - end)
}

/// The error for a handler that did not respond (15).
pub(crate) fn no_response(why: &NoReply, url: &Url) -> Error {
    let code = match why {
        NoReply::TooLate => Code::Timeout,
        NoReply::NotReached(_) | NoReply::Broken(_) => Code::Network,
    };
    Error::new(code, format!("no response from {url}: {why}"))
        .hint("check that your handler is running at this address and responds within 10 seconds")
}
