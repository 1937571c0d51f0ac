//! The consumer that webhook commands post to.

use std::time::Duration;

use crate::app::Context;
use crate::outcome::{Code, Error, Result};
use crate::secrets::Secret;
use crate::webhook::{App, DEADLINE, Endpoint, Names, NoReply, Poster};

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
    let names = Names::new(context.dialect());
    App::new(url, names, secret, headers, deadline(context))
}

fn deadline(context: &Context) -> Duration {
    context.timeout().unwrap_or(DEADLINE)
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
