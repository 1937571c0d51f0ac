//! `bookctl show --timeline`: what happened to a booking, in order.

use jiff::tz::TimeZone;
use serde_json::Value;

use crate::app::Context;
use crate::flows::{pick, timeline};
use crate::json::Document;
use crate::model::booking::{Booking, Status};
use crate::model::zone::system_zone;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{DocumentView, Page, TableCell};
use crate::terminal::view::tone_of;

pub(super) async fn run(context: &Context, named: &[String], judged: bool) -> Result<Exit> {
    if named.len() > 1 {
        return Err(Error::usage("--timeline shows one booking").hint("name one booking"));
    }
    let named = named.first().map(String::as_str);
    let mut named = pick::booking_or_pick(context, named, |_| true, true).await?;
    let id = &named.id.clone();
    // What this machine knows is worth showing where the service does not answer, or has lost the booking.
    let (booking, failed) = match named.booking(context).await {
        Ok(booking) => (Some(booking), None),
        Err(error) => (last_seen(context, id)?, Some(error)),
    };
    let rows = timeline::timeline(context, id, booking.as_ref())?;
    let mut exit = match &booking {
        Some(booking) if judged => booking.exit_of_read(),
        _ => Exit::Done,
    };
    if let Some(error) = failed {
        if booking.is_none() && rows.is_empty() {
            return Err(error);
        }
        let why = &error.message;
        context
            .out
            .warn(&format!("{why}; this is what this computer knows"));
        exit = error.exit;
    }
    let none = Document::from(Value::Null);
    let documents = rows.iter().map(|row| row.document.clone());
    let documents = Document::from(Value::Array(documents.collect()));
    let shown = booking.as_ref().map_or(&none, Booking::document);
    let document = Document::object(&[("booking", shown), ("timeline", &documents)]);
    let page = |_: &Document| page(id, booking.as_ref(), &rows);
    context.out.emit(&DocumentView(document, page))?;
    Ok(exit)
}

/// The booking as the journal has it.
fn last_seen(context: &Context, id: &str) -> Result<Option<Booking>> {
    match context.has_journal() {
        true => Ok(context.journal()?.kept(id)?.map(|kept| kept.booking)),
        false => Ok(None),
    }
}

fn page(id: &str, booking: Option<&Booking>, rows: &[timeline::TimelineRow]) -> Page {
    let mut page = Page::default();
    let status = booking.map(Booking::status);
    let status = status.unwrap_or(Status::Other("unknown".to_owned()));
    page.heading(tone_of(&status), status.as_str(), id);
    // One clock in the first column, and the reader's own beside it where it differs.
    let own = system_zone();
    let mut clocks = vec![("time (UTC)", TimeZone::UTC)];
    if rows.iter().any(|row| own.to_offset(row.at).seconds() != 0) {
        clocks.push(("your time", own));
    }
    let cells = rows.iter().map(|row| {
        let times = clocks.iter().map(|(_, zone)| {
            let there = zone.to_datetime(row.at);
            TableCell::from(there.strftime("%F %T").to_string())
                .in_short(Some(there.strftime("%-d %b %T").to_string()))
        });
        let told = [row.kind.into(), row.text.as_str().into()];
        times.chain(told).collect()
    });
    let headers = clocks.iter().map(|(header, _)| *header);
    let headers = headers.chain(["what", "details"]).collect();
    page.table(headers, cells.collect(), vec![]);
    page
}
