//! `bookctl webhook events`: the events that listeners received on this computer.

use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::Url;
use serde::Serialize;

use super::{handler, posting, webhook_secrets};
use crate::app::{Parts, Records};
use crate::booking::arguments::header;
use crate::booking::find::locate::{LAST, locate_booking, locate_row};
use crate::journal::recent::RecentList;
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::time::duration::duration;
use crate::service::time::text::whole_seconds;
use crate::service::time::zone::system_zone;
use crate::terminal::output::{Draw, Output, Page, TableCell, Tone};
use crate::webhook::event::KINDS;
use crate::webhook::forwarder::App;
use crate::webhook::handler::endpoint;
use crate::webhook::reporter::ForwardAttempt;
use crate::webhook::signature::Header;
use crate::webhook::store::ReceivedDelivery;
use crate::webhook::{AttemptRow, Event, EventQuery, EventRow, EventState};

/// List received events, newest first
#[derive(clap::Args, Debug, Default)]
#[command(after_help = "Examples:\n  \
    bookctl webhook events list --since 1h\n  \
    bookctl webhook events show @1\n  \
    bookctl webhook events list --booking bk_01 --json\n  \
    bookctl webhook events list --state abandoned --jq '.events[].event_id'")]
pub(crate) struct ListArgs {
    /// List only events of this booking
    #[arg(long, value_name = "BOOKING")]
    booking: Option<String>,
    /// List only events of this kind, such as booking.confirmed
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// List only events in this state
    #[arg(long, value_name = "STATE")]
    state: Option<EventState>,
    /// List only events received in this time before now
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    since: Option<Duration>,
    /// Show at most this many, or all with 0 [default: 100]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

/// Show an event: its headers, raw body, signature time and forwards
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook events show evt_01\n  \
    bookctl webhook events show evt_01 --jq .body")]
pub(crate) struct ShowArgs {
    /// Id of the event, @N for a row of the last list of events, or @last for the newest
    event: String,
}

pub(crate) fn list(Parts { records, ui, .. }: &Parts, args: ListArgs) -> Result<Exit> {
    warn_of_unknown_kinds(&ui.out, &args.kind);
    let events = records.webhooks()?.events(&EventQuery {
        booking: args.booking.map(|it| locate_booking(records, &it)).transpose()?,
        kind: args.kind,
        state: args.state,
        since: args.since.map(ago),
        limit: Some(args.limit.unwrap_or(100)).filter(|it| *it > 0),
    })?;
    records.remember_rows(RecentList::Events, events.iter().map(|row| row.event.id.as_str()));
    let none = "No events found. Receive some: bookctl webhook listen";
    let is_empty = events.is_empty();
    ui.out.emit_list(&EventList { events }, is_empty, none)
}

/// Warns of kinds that the service does not document. It may have them, so they are no error.
pub(crate) fn warn_of_unknown_kinds<'a>(out: &Output, kinds: impl IntoIterator<Item = &'a String>) {
    let kinds = kinds.into_iter();
    for kind in kinds.filter(|kind| !KINDS.contains(&kind.as_str())) {
        let known = KINDS.join(", ");
        out.warn(&format!("unknown kind of event: {kind}; known kinds: {known}"));
    }
}

fn ago(length: Duration) -> Timestamp {
    let length = SignedDuration::try_from(length).unwrap_or(SignedDuration::MAX);
    Timestamp::now().saturating_sub(length).unwrap_or(Timestamp::MIN)
}

/// The event with this id, of `@N` in the last list, or `@last` for the newest; else the error (6).
fn find(records: &Records, id: &str) -> Result<EventRow> {
    let named = (id != LAST).then(|| locate_row(records, RecentList::Events, id));
    records.webhooks()?.event(named.transpose()?.as_deref())?.ok_or_else(|| {
        let displayed = id.escape_debug();
        let what = format!("no event {displayed} of this service was received on this computer");
        Error::new(Code::UnknownEvent, what)
            .hint("list the received events with: bookctl webhook events list")
    })
}

#[derive(Serialize)]
struct EventList {
    events: Vec<EventRow>,
}

fn tone(state: EventState) -> Tone {
    match state {
        EventState::Delivered => Tone::Good,
        EventState::Kept => Tone::Dim,
        EventState::Waiting => Tone::Warn,
        EventState::Abandoned => Tone::Bad,
    }
}

impl Draw for EventList {
    fn draw(&self, page: &mut Page) {
        let rows = self.events.iter().zip(1..).map(|(row, number)| {
            let event = &row.event;
            let local = row.received_at.to_zoned(system_zone()).strftime("%F %H:%M:%S").to_string();
            let received = whole_seconds(row.received_at);
            vec![
                TableCell::from(format!("@{number}")),
                event.id.as_str().into(),
                TableCell::from(received).in_short(Some(local)),
                event.shown_kind().into(),
                event.booking.as_deref().unwrap_or_default().into(),
                event.status.as_deref().unwrap_or_default().into(),
                TableCell::toned(row.state.as_str(), tone(row.state)),
                row.last_result.as_deref().unwrap_or_default().into(),
            ]
        });
        let headers =
            vec!["", "event", "received (local)", "kind", "booking", "status", "state", "handler"];
        page.table(headers, rows.collect(), (1..8).collect());
    }
}

pub(crate) fn show(Parts { api, records, ui, .. }: &Parts, args: &ShowArgs) -> Result<Exit> {
    let row = find(records, &args.event)?;
    let webhooks = records.webhooks()?;
    let ReceivedDelivery { headers, body, .. } = webhooks.delivery(row.number)?;
    let name = api.facts.dialect().signature_header();
    let signature = headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
    let signed_at = signature
        .and_then(|(_, value)| Header::parse(value.as_bytes()).ok())
        .and_then(|header| Timestamp::from_second(header.time()).ok());
    ui.emit(&Received {
        attempts: webhooks.attempts(row.number)?,
        headers: headers.into_iter().map(|(name, value)| HeaderField { name, value }).collect(),
        body: String::from_utf8_lossy(&body).into_owned(),
        verification: Verification {
            verified: true,
            signed_at,
            age_seconds: signed_at.map(|at| row.received_at.as_second() - at.as_second()),
        },
        row,
    })
}

#[derive(Serialize)]
struct Received {
    #[serde(flatten)]
    row: EventRow,
    headers: Vec<HeaderField>,
    body: String,
    verification: Verification,
    /// In JSON they replace their count.
    attempts: Vec<AttemptRow>,
}

#[derive(Serialize)]
struct HeaderField {
    name: String,
    value: String,
}

#[derive(Serialize)]
struct Verification {
    /// Only deliveries that verify are stored.
    verified: bool,
    signed_at: Option<Timestamp>,
    /// The signature's age on arrival.
    age_seconds: Option<i64>,
}

impl Draw for Received {
    fn draw(&self, page: &mut Page) {
        let (row, event) = (&self.row, &self.row.event);
        page.heading(tone(row.state), row.state.as_str(), &event.id);
        page.field("kind", event.shown_kind());
        page.field_if("booking", event.booking.as_deref());
        page.field_if("status", event.status.as_deref());
        let received = format!("{:.3}", row.received_at);
        page.field("received (this computer)", received);
        if let (Some(at), Some(age)) = (self.verification.signed_at, self.verification.age_seconds)
        {
            page.field("signed", format!("{at}, {age} s earlier (verified)"));
        }
        if row.duplicates > 0 {
            page.field("duplicates", row.duplicates.to_string());
        }
        let headers = self.headers.iter();
        let headers = headers.map(|it| vec![it.name.as_str().into(), it.value.as_str().into()]);
        page.table(vec!["header", "value"], headers.collect(), vec![]);
        let attempts = self.attempts.iter().map(|it| {
            let (number, at) = (it.attempt.number.to_string(), format!("{:.3}", it.begun_at));
            let kind = if it.replay { "replay" } else { "forward" };
            [&number, &at, kind, &it.url, &it.attempt.in_words()].map(TableCell::from).to_vec()
        });
        page.table(vec!["attempt", "at", "as", "to", "response"], attempts.collect(), vec![]);
        for attempt in &self.attempts {
            let Some(response) = &attempt.response else {
                continue;
            };
            page.line(format!("response to attempt {}:", attempt.attempt.number));
            for line in response.body.lines() {
                page.line(format!("  {line}"));
            }
            if response.truncated {
                page.line("  (the body was longer; the rest was not kept)");
            }
        }
        page.line("delivery:").body(&self.body);
        page.next(format!("bookctl webhook events replay {} --to URL", event.id));
    }
}

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
pub(crate) struct ReplayArgs {
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

pub(crate) async fn replay(
    Parts { api, records, ui, settings }: &Parts,
    args: ReplayArgs,
) -> Result<Exit> {
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
        let begun = store.begin_attempt(row.number, url.to_string(), true).await?;
        let Some((delivery, attempt, _)) = begun else {
            continue;
        };
        posting(api, format!("{place} events were"), url);
        let headers = app.headers(&delivery, attempt, Timestamp::now());
        let reaction = app.handler.post(&headers, &delivery.body).await;
        events.push(ReplayedEvent {
            event: delivery.event,
            delivered: reaction.is_delivered(),
            attempt: ForwardAttempt::new(attempt, &reaction),
        });
        store.end_attempt(row.number, attempt, reaction, None).await?;
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
