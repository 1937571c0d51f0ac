//! A booking's story as a table.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::tone_of;
use crate::json::Document;
use crate::model::booking::{Booking, Status};
use crate::model::zone::system_zone;
use crate::terminal::output::{Page, TableCell, View};

pub(crate) struct TimelineRow {
    pub(crate) at: jiff::Timestamp,
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// With `at` and `kind`.
    pub(crate) document: Value,
}

/// A booking with its story: `{"booking": …, "timeline": […]}`.
pub(crate) struct Timeline<'a> {
    pub(crate) id: &'a str,
    pub(crate) booking: Option<&'a Booking>,
    pub(crate) rows: Vec<TimelineRow>,
}

impl View for Timeline<'_> {
    fn json(&self) -> Document {
        let none = Document::from(Value::Null);
        let booking = self.booking.map_or(&none, Booking::document);
        let rows = self.rows.iter().map(|row| row.document.clone());
        let rows = Document::from(Value::Array(rows.collect()));
        Document::object(&[("booking", booking), ("timeline", &rows)])
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let status = self.booking.map(Booking::status);
        let status = status.unwrap_or(Status::Other("unknown".to_owned()));
        page.heading(tone_of(&status), status.as_str(), self.id);
        let zone = system_zone();
        // One clock in the first column, and the reader's own beside it where it differs.
        let is_elsewhere = self.rows.iter().any(|row| {
            let here = row.at.to_zoned(zone.clone());
            here.offset().seconds() != 0
        });
        let rows = self.rows.iter().map(|row| {
            let clock = |zone: &TimeZone, format| {
                let there = row.at.to_zoned(zone.clone());
                there.strftime(format).to_string()
            };
            let utc = TableCell::from(clock(&TimeZone::UTC, "%F %T"))
                .in_short(Some(clock(&TimeZone::UTC, "%-d %b %T")));
            let own =
                TableCell::from(clock(&zone, "%F %T")).in_short(Some(clock(&zone, "%-d %b %T")));
            let mut cells = vec![utc, own, row.kind.into(), row.text.as_str().into()];
            if !is_elsewhere {
                cells.remove(1);
            }
            cells
        });
        let mut headers = vec!["time (UTC)", "your time", "what", "details"];
        if !is_elsewhere {
            headers.remove(1);
        }
        page.table(headers, rows.collect(), vec![]);
        page
    }
}
