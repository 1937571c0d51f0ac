use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::Url;
use serde::Serialize;

use super::events::{ago, find};
use super::secrets::webhook_secrets;
use super::{handler, posting};
use crate::app::Parts;
use crate::booking::arguments::header;
use crate::booking::find::locate::locate_booking;
use crate::outcome::{Error, Exit, Result};
use crate::service::time::duration::duration;
use crate::terminal::output::{Draw, Page, TableCell, Tone};
use crate::webhook::app::App;
use crate::webhook::handler::endpoint;
use crate::webhook::reporter::ForwardAttempt;
use crate::webhook::{Event, EventQuery, EventRow};

/// Send received events again, one at a time, oldest first
///
/// Signs each event again, unless --as-received is given. Stores the responses with the events;
/// events that are waiting to be forwarded keep waiting. The exit code is 18 if a response is not
/// 2xx.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook events replay evt_01 --to http://127.0.0.1:3000/webhooks\n  \
    bookctl webhook events replay --booking bk_01 --to http://127.0.0.1:3000/\n  \
    bookctl webhook events replay --since 1h --booking bk_01 \\\n    \
      --to http://127.0.0.1:3000/webhooks --json")]
pub(crate) struct Args {
    /// Ids of the events, @N for a row of the last list of events, or @last for the newest
    #[arg(value_name = "EVENT", conflicts_with_all = ["since", "booking"])]
    events: Vec<String>,
    /// Send events received in this time before now, such as 2h
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    since: Option<Duration>,
    /// Send the events of this booking
    #[arg(long, value_name = "BOOKING")]
    booking: Option<String>,
    /// Send them to this address
    #[arg(long, value_name = "URL", value_parser = endpoint)]
    to: Url,
    /// Trust the certificate authorities in this file
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Add a header, repeatable
    #[arg(short = 'H', long = "header", value_name = "K: V", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Send the received headers and signature unchanged
    #[arg(long)]
    as_received: bool,
    /// Read the webhook secret from standard input
    #[arg(long, conflicts_with = "as_received")]
    secret_stdin: bool,
}

pub(crate) async fn run(Parts { api, records, ui, settings }: &Parts, args: Args) -> Result<Exit> {
    let is_narrowed = args.since.is_some() || args.booking.is_some();
    if args.events.is_empty() && !is_narrowed {
        return Err(
            Error::usage("no events were selected").hint("pass event ids, or --booking or --since")
        );
    }
    let store = records.webhooks()?;
    let rows: Vec<EventRow> = if is_narrowed {
        let mut rows = store.events(&EventQuery {
            booking: args.booking.map(|it| locate_booking(records, &it)).transpose()?,
            since: args.since.map(ago),
            ..EventQuery::default()
        })?;
        rows.reverse();
        rows
    } else {
        args.events.iter().map(|id| find(records, id)).collect::<Result<_>>()?
    };
    let mut signing = None;
    if !args.as_received {
        let secrets = webhook_secrets(api, ui, settings, args.secret_stdin).await?;
        signing = Some((secrets.signing().clone(), SignedDuration::MIN));
    }
    let app = App {
        handler: handler(&api.facts, settings, args.to, args.ca_file.as_deref())?,
        dialect: api.facts.dialect().clone(),
        signing,
        headers: args.headers,
    };
    let url = &app.handler.url;
    let mut events = Vec::new();
    let progress = ui.out.progress("");
    for (row, number) in rows.iter().zip(1..) {
        let place = format!("{number} of {}", rows.len());
        progress.say(&place);
        let delivery = store.begin_attempt(row.number, url.to_string(), true).await?;
        let Some(delivery) = delivery else {
            continue;
        };
        posting(api, format!("{place} events were"), url);
        let headers = app.headers(&delivery, Timestamp::now());
        let reaction = app.handler.post(&headers, &delivery.body).await;
        events.push(ReplayedEvent {
            event: delivery.event,
            delivered: reaction.is_delivered(),
            attempt: ForwardAttempt::new(delivery.attempt, &reaction),
        });
        store.end_attempt(row.number, delivery.attempt, reaction, None).await?;
    }
    drop(progress);
    let (failed, total) = (events.iter().filter(|it| !it.delivered).count(), events.len());
    ui.out.emit_list(&Replayed { events }, total == 0, "No events found.")?;
    if failed > 0 {
        let why = format!("{failed} of {total} events were not delivered");
        return Err(Error::partly_failed(failed, total, why));
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct Replayed {
    events: Vec<ReplayedEvent>,
}

#[derive(Serialize)]
struct ReplayedEvent {
    #[serde(flatten)]
    event: Event,
    delivered: bool,
    attempt: ForwardAttempt,
}

impl Draw for Replayed {
    fn draw(&self, page: &mut Page) {
        let rows = self.events.iter().map(|it| {
            let tone = if it.delivered { Tone::Good } else { Tone::Bad };
            vec![
                TableCell::from(it.event.id.as_str()),
                it.event.kind.as_str().into(),
                it.event.booking.as_deref().unwrap_or_default().into(),
                TableCell::toned(it.attempt.in_words(), tone),
            ]
        });
        page.table(vec!["event", "kind", "booking", "handler"], rows.collect(), vec![]);
    }
}
