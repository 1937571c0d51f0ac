//! `bookctl webhook events`: the events that listeners received on this computer.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::app::{Parts, Records};
use crate::booking::find::locate::{LAST, locate_booking, locate_row};
use crate::journal::recent::RecentList;
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::time::duration::duration;
use crate::service::time::text::whole_seconds;
use crate::service::time::zone::system_zone;
use crate::terminal::output::{Draw, Output, Page, TableCell, Tone};
use crate::webhook::sample_event::KINDS;
use crate::webhook::signature::Header;
use crate::webhook::{AttemptRow, EventQuery, EventRow, EventState};

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
    ui.out.emit_list(&EventList { events }, is_empty, none)?;
    Ok(Exit::Done)
}

/// Warns of kinds that the service does not document. It may have them, so they are no error.
pub(crate) fn warn_of_unknown_kinds<'a>(out: &Output, kinds: impl IntoIterator<Item = &'a String>) {
    let kinds = kinds.into_iter();
    for kind in kinds.filter(|kind| !KINDS.contains(&kind.as_str())) {
        let known = KINDS.join(", ");
        out.warn(&format!("unknown kind of event: {kind}; known kinds: {known}"));
    }
}

pub(crate) fn ago(length: Duration) -> Timestamp {
    let length = SignedDuration::try_from(length).unwrap_or(SignedDuration::MAX);
    Timestamp::now().saturating_sub(length).unwrap_or(Timestamp::MIN)
}

/// The event with this id, `@N` for a row of the last list of events, or `@last` for the newest;
/// else the error (6).
pub(crate) fn find(records: &Records, id: &str) -> Result<EventRow> {
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
    let (headers, body) = webhooks.content(row.number)?;
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
            vec![
                it.attempt.number.to_string().into(),
                format!("{:.3}", it.begun_at).into(),
                if it.replay { "replay" } else { "forward" }.into(),
                it.url.as_str().into(),
                it.attempt.in_words().into(),
            ]
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
        page.line("delivery:");
        match serde_json::from_str::<serde::de::IgnoredAny>(&self.body) {
            Ok(_) => page.json(&self.body),
            Err(_) => page.line(&self.body),
        };
        page.next(format!("bookctl webhook events replay {} --to URL", event.id));
    }
}
