use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use super::event_row::{find, pick};
use super::since::Since;
use crate::app::Context;
use crate::app::in_flight::InFlight;
use crate::commands::field::header;
use crate::commands::webhook::app_answer::{answer_in_words, attempt_json};
use crate::commands::webhook::consumer;
use crate::flows::{locate_booking, webhook_secrets};
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{Page, TableCell, Tone, View};
use crate::webhook::{AppAnswer, Endpoint, Event, EventRow, Query, Signing, Store, Webhooks};

/// Send received events again, one at a time, oldest first
///
/// Signs each event again, unless --as-received is given. Stores the responses with the events; events that are
/// waiting to be forwarded keep waiting. The exit code is 18 if a response is not 2xx.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook events replay evt_01 --to http://127.0.0.1:3000/webhooks\n  \
    bookctl webhook events replay --booking bk_01 --to http://127.0.0.1:3000/\n  \
    bookctl webhook events replay --since 1h --booking bk_01 \\\n    \
      --to http://127.0.0.1:3000/webhooks --json")]
pub(crate) struct Args {
    /// Ids of the events, @N for a row of the last list of events, or @last for the newest
    #[arg(value_name = "EVENT", conflicts_with_all = ["since", "until", "booking"])]
    events: Vec<String>,
    /// Events received since then: how long ago (2h), or a time
    #[arg(long, value_name = "WHEN", value_parser = Since::parse)]
    since: Option<Since>,
    /// Events received until then
    #[arg(long, value_name = "WHEN", value_parser = Since::parse)]
    until: Option<Since>,
    /// Events of this booking
    #[arg(long, value_name = "BOOKING")]
    booking: Option<String>,
    /// Address to send them to
    #[arg(long, value_name = "URL", value_parser = Endpoint::parse)]
    to: Endpoint,
    /// Header to add; can be repeated
    #[arg(short = 'H', long = "header", value_name = "K: V", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Send the received headers and signature unchanged
    #[arg(long)]
    as_received: bool,
    /// Read the webhook secret from standard input
    #[arg(long, conflicts_with = "as_received")]
    secret_stdin: bool,
}

pub(super) async fn run(context: &Context, mut args: Args) -> Result<Exit> {
    let booking = args.booking.as_deref();
    args.booking = booking.map(|it| locate_booking(context, it)).transpose()?;
    let is_narrowed = args.since.is_some() || args.until.is_some() || args.booking.is_some();
    if args.events.is_empty() && !is_narrowed && context.prompter.interactive() {
        args.events.push(pick(context).await?);
    }
    if args.events.is_empty() && !is_narrowed {
        return Err(Error::usage("no events were selected")
            .hint("pass event ids, or --booking, --since or --until"));
    }
    let webhooks = context.webhooks()?;
    let events = chosen(context, &webhooks, &args)?;
    let (signing, secret) = if args.as_received {
        (Signing::AsReceived, None)
    } else {
        let secrets = webhook_secrets(context, args.secret_stdin).await?;
        (Signing::Always, Some(secrets.signing))
    };
    let app = consumer::app(context, args.to, secret, &args.headers)?
        .showing_requests(context.is_verbose());
    let store = Store::new(webhooks);
    let mut replayed = Replayed(Vec::new());
    let progress = context.out.progress("");
    for (place, row) in events.iter().enumerate() {
        progress.say(&format!("{} of {}", place + 1, events.len()));
        let url = app.url().to_owned();
        let delivery = store.begin_replay(row.number, url).await?;
        let (event, attempt) = (delivery.event.clone(), delivery.attempt);
        context.in_flight.replace(InFlight::Posted {
            what: format!("{} of {} events were", place + 1, events.len()),
            to: app.url().to_owned(),
        });
        let answer = app.post(delivery, signing).await;
        consumer::trace_replay(context, app.url(), &answer);
        let result = answer.clone();
        store.end_replay(row.number, attempt, result).await?;
        replayed.0.push((event, attempt, answer));
    }
    drop(progress);
    let is_empty = replayed.0.is_empty();
    context
        .out
        .emit_list(&replayed, is_empty, "no events found")?;
    let answers = replayed.0.iter().map(|(.., answer)| answer);
    let answered = answers.filter(|it| it.status.is_ok());
    if let Some(longest) = answered.map(|it| it.latency_ms).max() {
        consumer::warn_if_late(context, Duration::from_millis(longest));
    }
    let all_taken = replayed.0.iter().all(|(.., answer)| answer.is_delivered());
    Ok(if all_taken {
        Exit::Done
    } else {
        Exit::PartialBatch
    })
}

fn chosen(context: &Context, webhooks: &Webhooks, args: &Args) -> Result<Vec<EventRow>> {
    if !args.events.is_empty() {
        let events = args.events.iter();
        return events.map(|id| find(context, webhooks, id)).collect();
    }
    let now = Timestamp::now();
    let resolve = |when: &Option<Since>| when.as_ref().map(|when| when.resolve(now)).transpose();
    let mut events = webhooks.events(&Query {
        booking: args.booking.clone(),
        since: resolve(&args.since)?,
        until: resolve(&args.until)?,
        ..Query::default()
    })?;
    events.reverse();
    Ok(events)
}

struct Replayed(Vec<(Event, u32, AppAnswer)>);

impl View for Replayed {
    fn json(&self) -> Document {
        let events = self.0.iter().map(|(event, attempt, answer)| {
            let mut row = json!(event);
            row["delivered"] = json!(answer.is_delivered());
            row["attempt"] = attempt_json(*attempt, answer);
            row
        });
        json!({ "events": events.collect::<Vec<_>>() }).into()
    }

    fn page(&self) -> Page {
        let rows = self.0.iter().map(|(event, _, answer)| {
            let tone = if answer.is_delivered() {
                Tone::Good
            } else {
                Tone::Bad
            };
            vec![
                TableCell::from(event.id.as_str()),
                event.kind.as_str().into(),
                event.booking.as_deref().unwrap_or_default().into(),
                TableCell::toned(answer_in_words(answer), tone),
            ]
        });
        let mut page = Page::default();
        page.table(
            vec!["event", "kind", "booking", "app"],
            rows.collect(),
            vec![],
        );
        page
    }
}
