use clap::builder::PossibleValuesParser;
use jiff::Timestamp;
use serde_json::json;

use super::since::Since;
use crate::app::Context;
use crate::commands::webhook::input::warn_of_unknown_kinds;
use crate::flows::locate_booking;
use crate::json::Document;
use crate::model::zone::system_zone;
use crate::outcome::{Exit, Result};
use crate::recent::RecentList;
use crate::terminal::output::{Page, TableCell, Tone, View};
use crate::webhook::{EventRow, Query, State};

/// List received events, newest first
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook events list --since 1h\n  \
    bookctl webhook events show @1\n  \
    bookctl webhook events list --booking bk_01 --json\n  \
    bookctl webhook events list --state abandoned --jq '.events[].event_id'")]
pub(crate) struct Args {
    /// Only events of this booking
    #[arg(long, value_name = "BOOKING")]
    booking: Option<String>,
    /// Only events of this kind, such as booking.confirmed
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only events in this state
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(State::ALL.map(State::as_str)))]
    state: Option<String>,
    /// Only events received since then: how long ago (2h), or a time
    #[arg(long, value_name = "WHEN", value_parser = Since::parse)]
    since: Option<Since>,
    /// Show at most this many of the newest events; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
}

pub(super) fn run(context: &Context, args: Args) -> Result<Exit> {
    warn_of_unknown_kinds(context, &args.kind);
    let now = Timestamp::now();
    let since = args.since.map(|since| since.resolve(now)).transpose()?;
    let state = args.state.as_deref();
    let booking = args.booking.as_deref();
    let booking = booking.map(|it| locate_booking(context, it)).transpose()?;
    let events = context.webhooks()?.events(&Query {
        booking,
        kind: args.kind,
        state: State::ALL.into_iter().find(|it| Some(it.as_str()) == state),
        since,
        until: None,
        limit: (args.limit > 0).then_some(args.limit),
    })?;
    let ids = events.iter().map(|row| row.event.id.as_str());
    context.remember_rows(RecentList::Events, ids);
    let none = "no events found; receive some with: bookctl webhook listen";
    let list = EventList(&events);
    context.out.emit_list(&list, events.is_empty(), none)?;
    Ok(Exit::Done)
}

struct EventList<'a>(&'a [EventRow]);

impl View for EventList<'_> {
    fn json(&self) -> Document {
        json!({ "events": self.0 }).into()
    }

    fn page(&self) -> Page {
        let zone = system_zone();
        let rows = self.0.iter().enumerate().map(|(number, row)| {
            let at = row.received_at.to_zoned(zone.clone());
            let tone = match row.state {
                State::Delivered => Tone::Good,
                State::Kept => Tone::Dim,
                State::Waiting => Tone::Warn,
                State::Abandoned => Tone::Bad,
            };
            let answer = match (row.last_status, &row.last_error) {
                (Some(status), _) => status.to_string(),
                (None, Some(why)) => why.clone(),
                (None, None) => String::new(),
            };
            vec![
                TableCell::from(format!("@{}", number + 1)),
                row.event.id.as_str().into(),
                at.strftime("%F %H:%M:%S").to_string().into(),
                row.event.shown_kind().into(),
                row.event.booking.as_deref().unwrap_or_default().into(),
                row.event.status.as_deref().unwrap_or_default().into(),
                TableCell::toned(row.state.as_str(), tone),
                answer.into(),
            ]
        });
        let mut page = Page::default();
        let headers = vec![
            "",
            "event",
            "received (local)",
            "kind",
            "booking",
            "status",
            "state",
            "app",
        ];
        page.table(headers, rows.collect(), vec![0]);
        page
    }
}
