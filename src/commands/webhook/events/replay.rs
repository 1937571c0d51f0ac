use jiff::Timestamp;
use serde_json::json;

use super::find;
use super::since::Since;
use crate::app::Context;
use crate::app::in_flight::Situation;
use crate::commands::field::header;
use crate::commands::webhook::listen::{answer_in_words, attempt_json, unwritten};
use crate::flows::webhook_secrets;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{Page, TableCell, Tone, View};
use crate::webhook::{Answer, App, DEADLINE, Endpoint, Event, Query, Signing, Store};

/// Send events that were received once more, one after the other, in the order in which they came
///
/// They are signed afresh, as the service signs each of its attempts, unless --as-received. What becomes of it is
/// noted with the event, and changes nothing else: what waits to be forwarded still does. Where an answer is not 2xx,
/// the exit code is 18.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook events replay evt_01 --to http://127.0.0.1:3000/webhooks\n  \
    bookctl webhook events replay --booking bk_01 --to http://127.0.0.1:3000/webhooks\n  \
    bookctl webhook events replay --since 1h --booking bk_01 --to http://127.0.0.1:3000/webhooks --json")]
pub(crate) struct Args {
    /// Ids of events
    #[arg(value_name = "EVENT", conflicts_with_all = ["since", "until", "booking"])]
    events: Vec<String>,
    /// All that were received since: so long ago (`2h`), or a time as in search
    #[arg(long, value_name = "WHEN", value_parser = Since::parse)]
    since: Option<Since>,
    /// All that were received until then
    #[arg(long, value_name = "WHEN", value_parser = Since::parse)]
    until: Option<Since>,
    /// All of this booking; with --since or --until those of that time
    #[arg(long, value_name = "BOOKING")]
    booking: Option<String>,
    /// Where to
    #[arg(long, value_name = "URL", value_parser = Endpoint::parse)]
    to: Endpoint,
    /// A header to add; may be given several times
    #[arg(short = 'H', long = "header", value_name = "K: V", value_parser = header)]
    headers: Vec<(String, String)>,
    /// With the headers and the signature as they came, however old
    #[arg(long)]
    as_received: bool,
    /// Read the secret from standard input
    #[arg(long, conflicts_with = "as_received")]
    secret_stdin: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let narrows = args.since.is_some() || args.until.is_some() || args.booking.is_some();
    if args.events.is_empty() && !narrows {
        return Err(Error::usage("nothing says which events are sent again")
            .hint("name them by their ids, or give --booking, --since or --until"));
    }
    let webhooks = context.webhooks()?;
    let events = if args.events.is_empty() {
        let now = Timestamp::now();
        let resolve = |when: Option<Since>| when.map(|when| when.resolve(now)).transpose();
        webhooks.events(&Query {
            booking: args.booking,
            since: resolve(args.since)?,
            until: resolve(args.until)?,
            ..Query::default()
        })?
    } else {
        let ids = args.events.iter();
        ids.map(|id| find(&webhooks, id)).collect::<Result<_>>()?
    };
    let (signing, secret) = match args.as_received {
        true => (Signing::AsReceived, None),
        false => {
            let mut secrets = webhook_secrets(context, args.secret_stdin).await?;
            (Signing::Afresh, Some(secrets.swap_remove(0)))
        }
    };
    let headers = args.headers.iter().map(|(name, value)| {
        let sendable = name.parse().ok().zip(value.parse().ok());
        sendable.ok_or_else(|| Error::usage(format!("the header {name} cannot be sent")))
    });
    let headers = headers.collect::<Result<_>>()?;
    let deadline = context.timeout().unwrap_or(DEADLINE);
    let names = crate::commands::webhook::names(context);
    let app = App::new(args.to, names, secret, headers, deadline)?;
    let store = Store::new(webhooks)?;
    let mut replayed = Replayed(Vec::new());
    let progress = context.out.progress("");
    for (place, row) in events.iter().enumerate() {
        progress.say(&format!("{} of {}", place + 1, events.len()));
        let begun = store.begin_replay(row.number, app.url().to_owned()).await;
        let parcel = begun.map_err(unwritten)?;
        let (event, attempt) = (parcel.event.clone(), parcel.attempt);
        context.situation.replace(Situation::Posted {
            what: format!("{} of {} events were", place + 1, events.len()),
            to: app.url().to_owned(),
        });
        let answer = app.take(parcel, signing, |_| ()).await;
        let noted = store.note_replay(row.number, attempt, answer.clone());
        noted.await.map_err(unwritten)?;
        replayed.0.push((event, attempt, answer));
    }
    drop(progress);
    context.out.emit(&replayed)?;
    if context.out.is_human() && replayed.0.is_empty() {
        context.out.note("no such event was received here");
    }
    let all_taken = replayed.0.iter().all(|(.., answer)| answer.is_delivered());
    Ok(if all_taken {
        Exit::Done
    } else {
        Exit::PartialBatch
    })
}

struct Replayed(Vec<(Event, u32, Answer)>);

impl View for Replayed {
    fn json(&self) -> Document {
        let events = self.0.iter().map(|(event, attempt, answer)| {
            json!({
                "event_id": event.id,
                "type": event.kind,
                "booking_id": event.booking,
                "delivered": answer.is_delivered(),
                "attempt": attempt_json(*attempt, answer),
            })
        });
        json!({ "events": events.collect::<Vec<_>>() }).into()
    }

    fn page(&self) -> Page {
        let rows = self.0.iter().map(|(event, _, answer)| {
            let tone = match answer.is_delivered() {
                true => Tone::Good,
                false => Tone::Bad,
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
