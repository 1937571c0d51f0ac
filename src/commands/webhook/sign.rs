use jiff::Timestamp;
use serde::Serialize;

use super::input;
use crate::app::Context;
use crate::flows::webhook_secrets;
use crate::outcome::{Exit, Result};
use crate::platform::input::Source;
use crate::terminal::output::{Draw, Page, TableCell};
use crate::webhook::signature::sign;

/// The largest body that is included in the result, in bytes: the service sends no larger one.
const SHOWN: usize = 1024 * 1024;

/// Sign a body and print the signature header
///
/// Signs the raw bytes of the body, including a trailing line end. Prints the header as `curl -H @-` reads it. The
/// secret is BOOKCTL_WEBHOOK_SECRET, the stored one, or the sandbox's. If there are several, the first one signs.
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
    /// Time of the signature, as seconds since 1970 or RFC 3339 [default: now]
    #[arg(long, value_name = "T", value_parser = input::second)]
    timestamp: Option<i64>,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let source = input::source(args.body, args.secret_stdin)?;
    let secrets = webhook_secrets(context, args.secret_stdin).await?;
    let time = args
        .timestamp
        .unwrap_or_else(|| Timestamp::now().as_second());
    let body = input::read(source).await?;
    context.out.emit(&Signed {
        header: context.dialect().signature_header(),
        value: sign(&secrets.signing, time, &body),
        timestamp: time,
        body: String::from_utf8(body).ok().filter(|it| it.len() <= SHOWN),
    })?;
    Ok(Exit::Done)
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
    fn page(&self) -> Page {
        let mut page = Page::default();
        // A single cell, which is not wrapped: a line break would change the header.
        page.columns(vec![(
            TableCell::from(format!("{}: {}", self.header, self.value)),
            0,
        )]);
        page
    }
}
