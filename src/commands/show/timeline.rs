//! `bookctl show --timeline`: what happened to a booking, in order.

use jiff::tz::TimeZone;
use serde_json::Value;

use crate::app::Context;
use crate::flows::{pick, timeline};
use crate::json::Document;
use crate::model::booking::{Booking, Status};
use crate::model::zone::system_zone;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{Page, TableCell, View};
use crate::terminal::view::tone_of;

pub(super) async fn run(context: &Context, named: &[String], judged: bool) -> Result<Exit> {
    if named.len() > 1 {
        return Err(Error::usage("--timeline shows one booking").hint("name one booking"));
    }
    let named = named.first().map(String::as_str);
    let mut named = pick::booking_or_pick(context, named, |_| true).await?;
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
    context.out.emit(&Timeline { id, booking, rows })?;
    Ok(exit)
}

/// The booking as the journal has it.
fn last_seen(context: &Context, id: &str) -> Result<Option<Booking>> {
    match context.has_journal() {
        true => Ok(context.journal()?.kept(id)?.map(|kept| kept.booking)),
        false => Ok(None),
    }
}

/// A booking with its story: `{"booking": …, "timeline": […]}`.
struct Timeline<'a> {
    id: &'a str,
    booking: Option<Booking>,
    rows: Vec<timeline::TimelineRow>,
}

impl View for Timeline<'_> {
    fn json(&self) -> Document {
        let none = Document::from(Value::Null);
        let booking = self.booking.as_ref().map_or(&none, Booking::document);
        let rows = self.rows.iter().map(|row| row.document.clone());
        let rows = Document::from(Value::Array(rows.collect()));
        Document::object(&[("booking", booking), ("timeline", &rows)])
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let status = self.booking.as_ref().map(Booking::status);
        let status = status.unwrap_or(Status::Other("unknown".to_owned()));
        page.heading(tone_of(&status), status.as_str(), self.id);
        // One clock in the first column, and the reader's own beside it where it differs.
        let own = system_zone();
        let differs =
            |row: &timeline::TimelineRow| row.at.to_zoned(own.clone()).offset().seconds() != 0;
        let mut clocks = vec![("time (UTC)", TimeZone::UTC)];
        if self.rows.iter().any(differs) {
            clocks.push(("your time", own.clone()));
        }
        let rows = self.rows.iter().map(|row| {
            let times = clocks.iter().map(|(_, zone)| {
                let there = row.at.to_zoned(zone.clone());
                TableCell::from(there.strftime("%F %T").to_string())
                    .in_short(Some(there.strftime("%-d %b %T").to_string()))
            });
            times
                .chain([row.kind.into(), row.text.as_str().into()])
                .collect()
        });
        let headers = clocks.iter().map(|(header, _)| *header);
        let headers = headers.chain(["what", "details"]).collect();
        page.table(headers, rows.collect(), vec![]);
        page
    }
}
