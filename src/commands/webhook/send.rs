use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::consumer;
use crate::app::Context;
use crate::app::in_flight::InFlight;
use crate::client::Call;
use crate::commands::field::{Field, field};
use crate::flows::{locate_booking, read_booking, webhook_secrets};
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{Page, Tone, View};
use crate::terminal::view::RequestView;
use crate::webhook::{Endpoint, KINDS, SampleEvent, sign, status_of, summary_of};

/// Send a signed event to your handler
///
/// The event is about a sample booking, or with --booking about one of the service. It is sent once, to the address in
/// --to. The exit code is 7 if the response is not 2xx, and 15 if there is none.
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
    /// Address of your handler
    #[arg(long, value_name = "URL", value_parser = Endpoint::parse)]
    to: Endpoint,
    /// Booking that the event is about [default: a sample booking]
    #[arg(long, value_name = "BOOKING")]
    pub(super) booking: Option<String>,
    /// Field of the event to set; true, false, null, numbers, JSON lists and objects keep their type, the rest is text
    #[arg(short = 'F', long = "field", value_name = "PATH=VALUE", value_parser = field)]
    fields: Vec<Field>,
    /// Time of the signature, as seconds since 1970 or RFC 3339 [default: now]
    #[arg(long, value_name = "T", value_parser = super::input::second)]
    timestamp: Option<i64>,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
    /// Print the request without sending it
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let mut event = event(context, &args).await?;
    for Field { key, value } in args.fields {
        event.set(&key, structured(value)).map_err(|known| {
            Error::usage(format!("an event has no field {}", key.escape_debug()))
                .hint(format!("known fields: {known}"))
        })?;
    }
    let secrets = webhook_secrets(context, args.secret_stdin).await?;
    let body = event.body();
    let time = args
        .timestamp
        .unwrap_or_else(|| Timestamp::now().as_second());
    let header = (
        context.dialect().signature_header(),
        sign(&secrets.signing, time, &body),
    );
    if args.dry_run {
        let headers = vec![
            header,
            ("Content-Type".to_owned(), "application/json".to_owned()),
        ];
        let call = Call::post(args.to.as_str(), event.document().clone());
        context.out.emit(&RequestView::new(call, headers))?;
        return Ok(Exit::Done);
    }
    let poster = consumer::poster(context, args.to)?;
    context.in_flight.replace(InFlight::Posted {
        what: format!("event {} was", event.id().escape_debug()),
        to: poster.endpoint.as_str().to_owned(),
    });
    let reaction = poster
        .post(std::slice::from_ref(&header), body.clone())
        .await;
    let sent = (&poster.endpoint, std::slice::from_ref(&header), &body[..]);
    consumer::trace(context, sent, &reaction);
    if let Err(why) = &reaction.outcome {
        return Err(consumer::no_answer(why, &poster.endpoint, poster.deadline));
    }
    let sent = Sent {
        delivered: reaction.is_delivered(),
        url: poster.endpoint.as_str(),
        status: reaction.status(),
        body: reaction.outcome.map_or(String::new(), |reply| reply.body),
        elapsed_ms: u64::try_from(reaction.elapsed.as_millis()).unwrap_or(u64::MAX),
        signature: header.1,
        event: event.document(),
        named: format!("{} {}", event.id(), args.kind),
    };
    context.out.emit(&sent)?;
    consumer::warn_if_late(context, reaction.elapsed);
    if sent.delivered {
        return Ok(Exit::Done);
    }
    context
        .out
        .warn("not delivered: only a 2xx response counts, so the service would retry");
    Ok(Exit::Refused)
}

async fn event(context: &Context, args: &Args) -> Result<SampleEvent> {
    let dialect = context.dialect();
    let Some(id) = &args.booking else {
        return Ok(SampleEvent::invented(&args.kind, dialect, Timestamp::now()));
    };
    context.refuse_sandbox().await?;
    let booking = read_booking(context, &locate_booking(context, id)?).await?;
    let (status, expected) = (booking.status(), status_of(&args.kind));
    if args.kind != "booking.created" && status.as_str() != expected {
        context.out.note(&format!(
            "the event has the booking's status: {} is {status}, although {} usually has {expected}",
            booking.id(),
            args.kind
        ));
    }
    let summary = summary_of(booking.value());
    Ok(SampleEvent::new(
        &args.kind,
        summary,
        dialect,
        Timestamp::now(),
    ))
}

/// Parses text that looks like a JSON list or object.
fn structured(value: Value) -> Value {
    match value {
        Value::String(text) if text.starts_with(['{', '[']) => {
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        }
        value => value,
    }
}

#[derive(Serialize)]
struct Sent<'a> {
    delivered: bool,
    url: &'a str,
    status: Option<u16>,
    /// The beginning of the response's body.
    body: String,
    elapsed_ms: u64,
    signature: String,
    event: &'a Value,
    /// The event's id and kind.
    #[serde(skip)]
    named: String,
}

impl View for Sent<'_> {
    fn json(&self) -> Document {
        Document::serialized(self)
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let (tone, state) = if self.delivered {
            (Tone::Good, "delivered")
        } else {
            (Tone::Bad, "not delivered")
        };
        page.heading(tone, state, self.url);
        page.field("event", &self.named);
        let status = self.status.unwrap_or_default();
        page.field("response", format!("{status} in {} ms", self.elapsed_ms));
        let (beginning, rest) = consumer::beginning(&self.body);
        page.field_if("body", Some(beginning).filter(|it| !it.is_empty()));
        if rest > 0 {
            page.field("", format!("… {rest} more bytes; --json prints all"));
        }
        page
    }
}
