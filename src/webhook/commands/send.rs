use std::path::PathBuf;

use jiff::Timestamp;
use reqwest::Url;
use serde::Serialize;
use serde_json::Value;

use super::signature::second;
use super::{handler, no_response, posting, webhook_secrets};
use crate::app::{Api, Parts, Records};
use crate::booking::find::locate::locate_booking;
use crate::booking::watch::wait::read_booking;
use crate::outcome::{Exit, Result};
use crate::service::client::Call;
use crate::service::documents::booking::Booking;
use crate::service::documents::field::{Field, field};
use crate::terminal::output::{Draw, Page, Tone};
use crate::terminal::view::RequestView;
use crate::webhook::event::{KINDS, SampleEvent};
use crate::webhook::handler::{beginning, endpoint, first_headers};
use crate::webhook::reporter::ForwardAttempt;
use crate::webhook::signature;

/// Send a signed event to your handler
///
/// The event is about a sample booking, or with --booking about one of the service. It is sent
/// once, to the address in --to. The exit code is 7 if the response is not 2xx, and 15 if there is
/// none.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook send booking.confirmed --to http://127.0.0.1:8080/webhooks\n  \
    bookctl webhook send booking.failed --to http://127.0.0.1:8080/webhooks \\\n    \
      -F data.object.error_code=slot_taken\n  \
    bookctl webhook send booking.cancelled --booking bk_01 \\\n    \
      --to http://127.0.0.1:8080/webhooks\n  \
    bookctl webhook send booking.modified --to http://127.0.0.1:8080 --dry-run")]
pub(crate) struct Args {
    /// Kind of event
    #[arg(value_parser = KINDS)]
    kind: String,
    /// Send the event to this address
    #[arg(long, value_name = "URL", value_parser = endpoint)]
    to: Url,
    /// Send an event about this booking [default: a sample]
    #[arg(long, value_name = "BOOKING")]
    pub(crate) booking: Option<String>,
    /// Set a field of the event: JSON value or text
    #[arg(short = 'F', long = "field", value_name = "PATH=VALUE", value_parser = field)]
    fields: Vec<Field>,
    /// Sign with this time: seconds or RFC 3339 [default: now]
    #[arg(long, value_name = "TIME", value_parser = second)]
    timestamp: Option<i64>,
    /// Trust the certificate authorities in this file
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
    /// Print the request without sending it
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(Parts { api, records, ui, settings }: &Parts, args: Args) -> Result<Exit> {
    let booking = of_service(api, records, args.booking.as_deref()).await?;
    let now = Timestamp::now();
    let document = booking.as_ref().map(Booking::value);
    let mut event = SampleEvent::new(&args.kind, document, api.facts.dialect(), now);
    for Field { key, value } in args.fields {
        event.set(&key, value);
    }
    let secrets = webhook_secrets(api, ui, settings, args.secret_stdin).await?;
    let body = event.body();
    let time = args.timestamp.unwrap_or_else(|| now.as_second());
    let signature = signature::sign(secrets.signing(), time, &body);
    let headers = first_headers(api.facts.dialect(), Some(&signature));
    if args.dry_run {
        return ui.emit(&RequestView::new(Call::post(args.to.as_str(), event.document), headers));
    }
    let handler = handler(&api.facts, settings, args.to, args.ca_file.as_deref())?;
    posting(api, format!("event {} was", event.id().escape_debug()), &handler.url);
    let reaction = handler.post(&headers, &body).await;
    let elapsed_ms = reaction.latency_ms();
    let delivered = reaction.is_delivered();
    let answer = ForwardAttempt::new(1, &reaction).in_words();
    let reply = reaction.outcome.map_err(|why| no_response(&why, &handler.url))?;
    ui.out.emit(&Sent {
        delivered,
        url: handler.url.to_string(),
        status: reply.status,
        body: reply.body,
        elapsed_ms,
        signature,
        answer,
        named: format!("{} {}", event.id(), args.kind),
        event: event.document,
    })?;
    if delivered {
        return Ok(Exit::Done);
    }
    ui.out.warn("not delivered: only a 2xx response counts, so the service would retry");
    Ok(Exit::Refused)
}

pub(crate) async fn of_service(
    api: &Api,
    records: &Records,
    id: Option<&str>,
) -> Result<Option<Booking>> {
    let Some(id) = id else {
        return Ok(None);
    };
    api.refuse_sandbox().await?;
    let id = locate_booking(records, id)?;
    read_booking(api, &id).await.map(Some)
}

#[derive(Serialize)]
struct Sent {
    delivered: bool,
    url: String,
    status: u16,
    body: String,
    elapsed_ms: u32,
    signature: String,
    event: Value,
    #[serde(skip)]
    answer: String,
    #[serde(skip)]
    named: String,
}

impl Draw for Sent {
    fn draw(&self, page: &mut Page) {
        let (tone, state) =
            if self.delivered { (Tone::Good, "delivered") } else { (Tone::Bad, "not delivered") };
        page.heading(tone, state, &self.url);
        page.field("event", &self.named);
        page.field("response", &self.answer);
        let (beginning, rest) = beginning(&self.body);
        page.field_if("body", Some(beginning).filter(|it| !it.is_empty()));
        if rest > 0 {
            page.field("", format!("… {rest} more bytes; --json prints all"));
        }
    }
}
