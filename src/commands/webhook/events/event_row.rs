//! Finding a stored event.

use jiff::Timestamp;

use crate::app::Context;
use crate::flows::{LAST, locate_row, pick_line};
use crate::model::zone::system_zone;
use crate::outcome::{Code, Error, Result};
use crate::recent::RecentList;
use crate::terminal::output::visible;
use crate::terminal::prompt::Question;
use crate::webhook::{EventRow, Query, Webhooks};

/// The longest list that is offered.
const MOST: u32 = 200;

/// The event with this id, `@N` for a row of the last list of events, or `@last` for the newest.
///
/// # Errors
/// `unknown_event` (6) if there is none.
pub(super) fn find(context: &Context, webhooks: &Webhooks, id: &str) -> Result<EventRow> {
    let found = match id {
        LAST => newest(webhooks, 1)?.pop(),
        id => webhooks.event(&locate_row(context, RecentList::Events, id)?)?,
    };
    found.ok_or_else(|| {
        let shown = id.escape_debug();
        Error::new(
            Code::UnknownEvent,
            format!("no event {shown} of this service was received on this computer"),
        )
        .hint("list the received events with: bookctl webhook events list")
    })
}

/// The newest events, the newest first.
fn newest(webhooks: &Webhooks, limit: u32) -> Result<Vec<EventRow>> {
    webhooks.events(&Query {
        limit: Some(limit),
        ..Query::default()
    })
}

/// The id of the event that a person picks.
pub(super) async fn pick(context: &Context) -> Result<String> {
    let question = Question::new("Which event?", "EVENT", "the event").of("events");
    context.prompter.check(&question)?;
    let events = newest(&context.webhooks()?, MOST)?;
    let lines: Vec<String> = events.iter().map(line).collect();
    let row = pick_line(context, question, &lines, "bookctl webhook events list").await?;
    Ok(events[row].event.id.clone())
}

fn line(row: &EventRow) -> String {
    let at = row.received_at.to_zoned(system_zone());
    let event = &row.event;
    let parts = [
        at.strftime("%-d %b %H:%M:%S").to_string(),
        event.shown_kind().to_owned(),
        event.booking.clone().unwrap_or_default(),
        row.state.as_str().to_owned(),
        event.id.clone(),
    ];
    visible(&parts.join("  ")).into_owned()
}

/// A time in RFC 3339, with milliseconds.
pub(super) fn rfc3339(at: Timestamp) -> String {
    format!("{at:.3}")
}
