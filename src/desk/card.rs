//! The card of the selected row, as lines.

use jiff::Timestamp;

use super::list::Entry;
use crate::app::Context;
use crate::booking::finish;
use crate::booking::show::{add_timeline, history};
use crate::journal::Attempt;
use crate::json::plain;
use crate::outcome::Result;
use crate::platform::key::Key;
use crate::service::time::document_time::time_text;
use crate::service::time::text::{dated, to_the_second};
use crate::service::time::zone::system_zone;
use crate::terminal::output::{Page, StreamStyle, Tone, View};

/// The lines that a page key goes over.
const PAGE: usize = 10;

pub(super) struct Card {
    pub(super) lines: Vec<String>,
    /// The first line that is shown.
    pub(super) top: usize,
    /// Whether the journal was read since.
    pub(super) is_old: bool,
    columns: usize,
    /// The second for which it was made, if it counts down.
    second: Option<i64>,
}

impl Card {
    /// The card of a row in so many columns; an open one has the booking's story.
    pub(super) fn of(
        context: &Context,
        entry: &Entry,
        now: Timestamp,
        style: StreamStyle,
        columns: usize,
        is_open: bool,
    ) -> Result<Self> {
        let page = match entry {
            Entry::Request(attempt, venue) => request_page(attempt, venue),
            Entry::Booking(kept) => {
                let booking = &kept.booking;
                let mut view = finish::booking_view(context, booking);
                view.now = now;
                let mut page = view.page().without_commands();
                let seen = kept.seen_at.parse().ok();
                let seen = seen.map(|seen| dated(seen, Timestamp::now(), &system_zone()));
                page.field_if("last seen", seen);
                if is_open {
                    let rows = history::timeline(context, booking.id(), Some(booking))?;
                    page.line("");
                    add_timeline(&mut page, &rows);
                }
                page
            }
        };
        let style = StreamStyle {
            width: columns,
            ..style
        };
        let counts = entry.deadline().is_some();
        Ok(Card {
            lines: page.render(&style).lines().map(str::to_owned).collect(),
            top: 0,
            is_old: false,
            columns,
            second: counts.then(|| now.as_second()),
        })
    }

    /// Whether it is still what is to be shown.
    pub(super) fn is_of(&self, columns: usize, now: Timestamp) -> bool {
        let is_now = self.second.is_none_or(|second| second == now.as_second());
        self.columns == columns && is_now && !self.is_old
    }

    /// Scrolls.
    pub(super) fn press(&mut self, key: Key) {
        self.top = match key {
            Key::Up => self.top.saturating_sub(1),
            Key::Down => self.top + 1,
            Key::PageUp => self.top.saturating_sub(PAGE),
            Key::PageDown => self.top + PAGE,
            Key::Home => 0,
            Key::End => self.lines.len(),
            _ => return,
        };
    }

    /// The lines for so many rows of the screen. Scrolling ends with the last line.
    pub(super) fn shown(&mut self, rows: usize) -> &[String] {
        self.top = self.top.min(self.lines.len().saturating_sub(rows));
        let end = (self.top + rows).min(self.lines.len());
        &self.lines[self.top..end]
    }
}

/// A request whose result is not known.
fn request_page(attempt: &Attempt, venue: &str) -> Page {
    let asked = |pointer| attempt.asked().pointer(pointer);
    let mut page = Page::default();
    page.heading(Tone::Warn, "unresolved", &attempt.idempotency_key);
    page.sentence("The result of this request is not known. The booking may exist: find out before you book again.");
    page.field_if("guest", asked("/customer/name").map(plain));
    page.field_if("phone", asked("/customer/phone").map(plain));
    page.field_if("party", asked("/party_size").map(plain));
    page.field("venue", venue);
    page.field_if("when", asked("/datetime").map(time_text));
    page.field("started", to_the_second(&attempt.created_at));
    page
}
