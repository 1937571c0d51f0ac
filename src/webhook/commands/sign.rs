use jiff::Timestamp;
use serde::Serialize;

use super::secrets::webhook_secrets;
use crate::app::Parts;
use crate::outcome::{Error, Exit, Result};
use crate::platform::input::{Source, read_bytes};
use crate::terminal::output::{Draw, Page, TableCell, Terminals};
use crate::webhook::signature::sign;

/// The largest body that is included in the result, in bytes: the service sends no larger one.
const SHOWN: usize = 1024 * 1024;

/// Sign a body and print the signature header
///
/// Signs the raw bytes of the body, including a trailing line end. Prints the header as `curl -H
/// @-` reads it. The secret is BOOKCTL_WEBHOOK_SECRET, the stored one, or the sandbox's. If there
/// are several, the first one signs.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook sign event.json\n  \
    bookctl webhook sign event.json |\n    \
      curl -H @- --data-binary @event.json http://127.0.0.1:8080/webhooks\n  \
    printf '{}' | bookctl webhook sign - --timestamp 1795262400 --json")]
pub(crate) struct Args {
    /// File with the body, or - for standard input
    #[arg(value_name = "FILE|-", value_parser = Source::parse)]
    body: Option<Source>,
    /// Sign with this time: seconds or RFC 3339 [default: now]
    #[arg(long, value_name = "TIME", value_parser = second)]
    timestamp: Option<i64>,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(crate) async fn run(Parts { api, ui, settings, .. }: &Parts, args: Args) -> Result<Exit> {
    let body = source(args.body, args.secret_stdin)?;
    let secrets = webhook_secrets(api, ui, settings, args.secret_stdin).await?;
    let time = args.timestamp.unwrap_or_else(|| Timestamp::now().as_second());
    let body = read(body).await?;
    ui.emit(&Signed {
        header: api.facts.dialect().signature_header(),
        value: sign(secrets.signing(), time, &body),
        timestamp: time,
        body: String::from_utf8(body).ok().filter(|it| it.len() <= SHOWN),
    })
}

#[derive(Serialize)]
struct Signed {
    header: String,
    value: String,
    timestamp: i64,
    /// `None` if it is not text, or larger than [`SHOWN`].
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

impl Draw for Signed {
    fn draw(&self, page: &mut Page) {
        // A single cell, which is not wrapped: a line break would change the header.
        let line = format!("{}: {}", self.header, self.value);
        page.columns(vec![(TableCell::from(line), 0)]);
    }
}

/// The largest body that is read, in bytes: far beyond the service's own limit ("Limits", 3).
const LARGEST: u64 = 256 * 1024 * 1024;

/// The source of a body: `named`, else standard input, unless that is a terminal or has the secret.
pub(crate) fn source(named: Option<Source>, secret_stdin: bool) -> Result<Source> {
    if named.is_none() && Terminals::detect().stdin {
        return Err(Error::usage("the body is missing")
            .hint("pass a file name, pipe the body in, or pass - to type it"));
    }
    let source = named.unwrap_or(Source::Stdin);
    if secret_stdin && source == Source::Stdin {
        return Err(Error::usage("the body and the secret cannot both come from standard input")
            .hint("pass the body as a file, or set BOOKCTL_WEBHOOK_SECRET"));
    }
    Ok(source)
}

pub(crate) async fn read(source: Source) -> Result<Vec<u8>> {
    let name = source.name();
    read_bytes(source, LARGEST).await.map_err(|error| Error::unreadable(&name, error))
}

pub(crate) fn second(text: &str) -> Result<i64, String> {
    let second = if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        text.parse().ok().map(Timestamp::as_second)
    };
    second
        .ok_or_else(|| "use seconds since 1970, or a time such as 2026-12-01T19:30:00Z".to_owned())
}
