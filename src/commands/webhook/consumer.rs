//! The consumer that webhook commands post to.

use std::time::Duration;

use crate::app::Context;
use crate::json::plain;
use crate::outcome::{Code, Error, Result};
use crate::secrets::Secret;
use crate::terminal::output::Output;
use crate::webhook::{App, AppAnswer, DEADLINE, Endpoint, Names, NoReply, Poster, Reaction};

/// How much of a body is shown, in lines and in bytes: an error page may have 64 KB.
const SHOWN_LINES: usize = 10;
const SHOWN: usize = 1024;

/// A client for new deliveries, with the user's `--timeout`.
pub(super) fn poster(context: &Context, url: Endpoint) -> Result<Poster> {
    Poster::new(url, deadline(context))
}

/// A client for received deliveries, with the user's `--timeout` and `--header`s.
///
/// # Errors
/// `usage` (2) if a header cannot be sent.
pub(super) fn app(
    context: &Context,
    url: Endpoint,
    secret: Option<Secret>,
    headers: &[(String, String)],
) -> Result<App> {
    let headers = headers.iter().map(|(name, value)| {
        let header = name.parse().ok().zip(value.parse().ok());
        header.ok_or_else(|| Error::usage(format!("the header {name} is invalid")))
    });
    let headers = headers.collect::<Result<_>>()?;
    let names = Names::new(context.adapter());
    App::new(url, names, secret, headers, deadline(context))
}

fn deadline(context: &Context) -> Duration {
    context.timeout().unwrap_or(DEADLINE)
}

/// Warns of a response that came in the user's `--timeout`, but later than the service waits for one.
pub(super) fn warn_if_late(context: &Context, took: Duration) {
    if took > DEADLINE {
        context.out.warn(&format!(
            "the response came after {:.1} s, and the service waits {} s: it would count this as failed, and retry",
            took.as_secs_f32(),
            DEADLINE.as_secs()
        ));
    }
}

/// Shows with `--verbose` what was sent, and what came back.
pub(super) fn trace(
    context: &Context,
    (url, headers, body): (&Endpoint, &[(String, String)], &[u8]),
    reaction: &Reaction,
) {
    if !context.is_verbose() {
        return;
    }
    trace_request(url.as_str(), headers, &String::from_utf8_lossy(body));
    match &reaction.outcome {
        Ok(reply) => {
            Output::trace(&format!("< {}", reply.status));
            trace_body('<', &reply.body);
        }
        Err(NoReply::NotReached(why) | NoReply::Broken(why)) => {
            Output::trace(&format!("< no answer: {why}"));
        }
        Err(NoReply::TooLate) => Output::trace("< no answer in time"),
    }
}

/// The same of a received delivery that was sent again.
pub(super) fn trace_replay(context: &Context, url: &str, answer: &AppAnswer) {
    if !context.is_verbose() {
        return;
    }
    if let Some(request) = &answer.request {
        let headers = request.headers.iter();
        let headers: Vec<_> = headers
            .map(|(name, it)| (name.clone(), plain(it)))
            .collect();
        trace_request(url, &headers, &request.body);
    }
    match &answer.status {
        Ok(status) => Output::trace(&format!("< {status}")),
        Err(why) => Output::trace(&format!("< no answer: {why}")),
    }
    if let Some(response) = &answer.response {
        trace_body('<', &response.body);
    }
}

fn trace_request(url: &str, headers: &[(String, String)], body: &str) {
    Output::trace(&format!("> POST {url}"));
    for (name, value) in headers {
        Output::trace(&format!("> {name}: {value}"));
    }
    trace_body('>', body);
}

/// The beginning of a body: the drill sends large ones, and an error page may be one.
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
pub(super) fn beginning(text: &str) -> (&str, usize) {
    let lines: usize = text
        .split_inclusive('\n')
        .take(SHOWN_LINES)
        .map(str::len)
        .sum();
    let longest = lines.min(SHOWN);
    let is_end = |end: &usize| text.is_char_boundary(*end);
    let end = (0..=longest).rev().find(is_end).unwrap_or_default();
    (text[..end].trim_end(), text.len() - end)
}

/// The error for a consumer that did not answer (15).
pub(super) fn no_answer(why: &NoReply, url: &Endpoint, deadline: Duration) -> Error {
    let url = url.as_str();
    let (code, message) = match why {
        NoReply::NotReached(why) => (Code::Network, format!("cannot connect to {url}: {why}")),
        NoReply::Broken(why) => (Code::Network, format!("no answer from {url}: {why}")),
        NoReply::TooLate => (
            Code::Timeout,
            format!("{url} did not answer within {} s", deadline.as_secs_f32()),
        ),
    };
    Error::new(code, message)
        .hint("check that your handler is running at this address and responds within 10 seconds")
}
