//! Views of the service's documents that several commands emit.

#[cfg(test)]
mod any_shape_tests;
mod booking;
mod fields;
mod local_bookings;
mod next_step;
mod request;
mod search_lists;
mod terms;

pub(crate) use booking::{BookingLine, BookingView};
pub(crate) use fields::{Fields, change_text, field_word};
pub(crate) use local_bookings::{
    BookingRow, bookings_page, is_listed_as, kept_page, open_page, row_lines, time_left,
    tone_and_word,
};
pub(crate) use next_step::{requested_fields, restriction};
pub(crate) use request::RequestView;
pub(crate) use search_lists::{
    SlotDetails, slot_line, slots_page, venue_line, venue_place, venues_page,
};
pub(crate) use terms::TermsReader;

use serde_json::Value;

use crate::json::plain;
use crate::service::documents::booking::Status;
use crate::service::time::document_time::{DocumentTime, time_text};
use crate::terminal::output::{Page, TableCell, Tone};

pub(crate) fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// What there is of a line's parts: `19:30 · 90 min`.
pub(crate) fn joined(parts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// A time of a document: in RFC 3339 for a pipe, for a person in these words, else in full.
pub(crate) fn time_cell(value: &Value, words: Option<String>) -> TableCell {
    let exact = DocumentTime::read(value).map_or_else(|| plain(value), |time| time.rfc3339());
    TableCell::from(exact).in_short(Some(words.unwrap_or_else(|| time_text(value))))
}

pub(crate) fn tone_of(status: &Status) -> Tone {
    match status {
        Status::Confirmed => Tone::Good,
        Status::RequiresAction | Status::Processing => Tone::Warn,
        Status::Failed | Status::Expired => Tone::Bad,
        Status::Cancelled => Tone::Dim,
        Status::Other(_) => Tone::Strong,
    }
}

/// A table whose rows `@N` names, each with its cells and with what else came. A service that keeps
/// the contract says nothing else, and has no column for it. A terminal has first what a person
/// reads; `pipe` are the first columns of a pipe.
fn numbered(
    headers: &[&'static str],
    pipe: &[usize],
    rows: impl Iterator<Item = (Vec<TableCell>, Option<String>)>,
) -> Page {
    let mut page = Page::default();
    let rows: Vec<_> = rows.collect();
    let says_more = rows.iter().any(|(_, also)| also.is_some());
    let rows = rows.into_iter().zip(1..).map(|((mut cells, also), row)| {
        cells.insert(0, TableCell::from(format!("@{row}")));
        if says_more {
            cells.push(TableCell::from(also.unwrap_or_default()));
        }
        cells
    });
    let also: &[&str] = if says_more { &["also"] } else { &[] };
    let headers = [&[""], headers, also].concat();
    let pipe = pipe.iter().copied().chain(pipe.len()..headers.len() - 1);
    let pipe = pipe.map(|column| column + 1).collect();
    page.table(headers, rows.collect(), pipe);
    page
}
