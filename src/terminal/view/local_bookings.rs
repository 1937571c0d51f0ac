//! The bookings that this machine knows.

use std::collections::HashMap;

use console::{Alignment, measure_text_width, pad_str};
use jiff::Timestamp;
use serde_json::Value;

use super::tone_of;
use crate::journal::KeptBooking;
use crate::json::{Document, plain};
use crate::model::booking::Booking;
use crate::model::document_time::as_text;
use crate::model::time_text::{human, local, relative};
use crate::model::when::When;
use crate::terminal::output::{Page, TableCell, View, visible};

/// Bookings of the journal, and when each was last seen. `more` tells whether the list was cut.
pub(crate) struct LocalBookings<'a> {
    pub(crate) kept: &'a [KeptBooking],
    pub(crate) more: bool,
    /// This machine's current time.
    pub(crate) now: Timestamp,
}

impl View for LocalBookings<'_> {
    fn json(&self) -> Document {
        let bookings = Document::array(self.kept.iter().map(|it| it.booking.document()));
        let more = Document::from(Value::from(self.more));
        Document::object(&[("bookings", &bookings), ("more", &more)])
    }

    fn page(&self) -> Page {
        let rows = self.kept.iter().map(|kept| {
            let seen = kept.seen_at.parse::<Timestamp>().ok();
            let mut cells = cells(&kept.booking, &kept.booking);
            cells.push(
                TableCell::from(human(&kept.seen_at))
                    .in_short(seen.map(|seen| relative(seen, self.now))),
            );
            cells
        });
        table(rows.collect(), &["last seen"])
    }
}

/// The organization's unfinished bookings, each with what this machine knows of it: the service lists them without
/// guest, venue and time.
pub(crate) struct OpenBookings<'a> {
    pub(crate) bookings: &'a [(Booking, Option<Booking>)],
}

impl View for OpenBookings<'_> {
    fn json(&self) -> Document {
        Document::array(self.bookings.iter().map(|(booking, _)| booking.document()))
            .named("bookings")
    }

    fn page(&self) -> Page {
        let rows = self.bookings.iter().map(|(booking, known)| {
            let mut cells = cells(booking, known.as_ref().unwrap_or(booking));
            let asked = booking
                .next_action()
                .and_then(|action| action.get("message"));
            cells.push(booking.str("provider").unwrap_or_default().into());
            cells.push(asked.map(plain).unwrap_or_default().into());
            cells
        });
        table(rows.collect(), &["provider", "waiting for"])
    }
}

/// A table of [`cells`] below their numbers, with further columns.
fn table(mut rows: Vec<Vec<TableCell>>, more: &[&'static str]) -> Page {
    for (row, cells) in rows.iter_mut().enumerate() {
        cells.insert(0, TableCell::from(format!("@{}", row + 1)));
    }
    let mut page = Page::default();
    page.table([&[""], HEADERS, more].concat(), rows, vec![0]);
    page
}

pub(super) const HEADERS: &[&str] = &["id", "status", "venue", "when", "guest", "party"];

/// The cells of a row: the status of `booking`, and what is known of it.
pub(super) fn cells(booking: &Booking, known: &Booking) -> Vec<TableCell> {
    let venue = known.venue_name().or_else(|| known.venue_id());
    let time = known
        .value()
        .get("datetime")
        .map(as_text)
        .unwrap_or_default();
    let party = known.value().get("party_size").map(plain);
    vec![
        TableCell::from(booking.id()),
        TableCell::toned(booking.status().as_str(), tone_of(&booking.status())),
        TableCell::from(venue.unwrap_or_default()),
        TableCell::from(human(&time)).in_short(local(&time)),
        TableCell::from(known.guest().unwrap_or_default()),
        TableCell::from(party.unwrap_or_default()),
    ]
}

/// What a row of a menu says of a booking, or of what is to become one.
pub(crate) struct RowParts {
    pub(crate) guest: String,
    pub(crate) venue: String,
    /// As it stands in the document.
    pub(crate) time: Value,
    pub(crate) state: String,
    pub(crate) id: String,
}

/// From this width a row has room for the whole time, and from `WIDE` for the id.
const ROOMY: usize = 70;
const WIDE: usize = 120;

/// The rows of a menu on a terminal of so many columns: guest, venue, time, state, and the id if there is room. Rows that
/// could not be told apart have their ids at every width.
pub(crate) fn row_lines(rows: &[RowParts], columns: usize) -> Vec<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for row in rows {
        *counts.entry(row_line(row, columns, false)).or_default() += 1;
    }
    let line = |row| {
        let line = row_line(row, columns, false);
        match counts.get(&line) {
            Some(2..) => row_line(row, columns, true),
            _ => line,
        }
    };
    rows.iter().map(line).collect()
}

fn row_line(parts: &RowParts, columns: usize, needs_id: bool) -> String {
    let room = columns.saturating_sub(4);
    let written = as_text(&parts.time);
    let is_roomy = columns >= if needs_id { WIDE } else { ROOMY };
    let (time, time_width, state_width) = if is_roomy {
        (local(&written).unwrap_or(written), 22, 15)
    } else {
        (briefly(&written).unwrap_or(written), 12, 9)
    };
    let state = match parts.state.as_str() {
        "requires_action" if !is_roomy => "waiting",
        state => state,
    };
    // A narrow row has room for the id or for the state.
    let (state, state_width, id) = match (columns, needs_id) {
        (WIDE.., _) | (ROOMY.., true) => (state, state_width, parts.id.as_str()),
        (_, true) => (parts.id.as_str(), parts.id.len(), ""),
        (_, false) => (state, state_width, ""),
    };
    let left = room.saturating_sub(time_width + state_width + 6 + id.len());
    let (guest, venue) = ((left / 2).clamp(6, 30), (left - left / 2).clamp(6, 40));
    let cell = |text: &str, width| {
        let text = visible(text);
        pad_str(&text, width, Alignment::Left, Some("…")).into_owned()
    };
    let cells = [
        cell(&parts.guest, guest),
        cell(&parts.venue, venue),
        cell(&time, time_width),
        cell(state, state_width),
        visible(id).into_owned(),
    ];
    let mut line = cells.join("  ");
    line.truncate(line.trim_end().len());
    // The filter of a menu looks at further lines too, which are not shown.
    for (text, width) in [(&parts.guest, guest), (&parts.venue, venue)] {
        if measure_text_width(text) > width {
            line.push('\n');
            line.push_str(&visible(text));
        }
    }
    line
}

/// The time at the venue without weekday and year.
fn briefly(datetime: &str) -> Option<String> {
    let when = When::parse(datetime).ok()?;
    let exact = when.exact().map(|moment| moment.zoned.datetime());
    let local = exact.or(when.wall())?;
    Some(local.strftime("%-d %b %H:%M").to_string())
}

/// Bookings of the service: a table, or a JSON array of its documents.
pub(crate) struct BookingList<'a> {
    pub(crate) bookings: &'a [Booking],
}

impl View for BookingList<'_> {
    fn json(&self) -> Document {
        Document::array(self.bookings.iter().map(Booking::document))
    }

    fn page(&self) -> Page {
        let rows = self.bookings.iter().map(|booking| {
            let asked = booking.next_action().and_then(|it| it.get("message"));
            let mut cells = cells(booking, booking);
            cells.push(booking.str("provider").unwrap_or_default().into());
            cells.push(booking.str("error_code").unwrap_or_default().into());
            cells.push(asked.map(plain).unwrap_or_default().into());
            cells
        });
        let mut page = Page::default();
        let headers = [HEADERS, &["provider", "error", "waiting for"]].concat();
        page.table(headers, rows.collect(), vec![]);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_guest_venue_time_and_state_at_every_width() {
        let parts = RowParts {
            guest: "Ada Lovelace".to_owned(),
            venue: "Crêperie de la Marée Haute 東京タワー".to_owned(),
            time: "2026-11-27T18:00:00+01:00".into(),
            state: "requires_action".to_owned(),
            id: "bk_1".to_owned(),
        };
        let line = row_line(&parts, 50, false);
        assert!(
            line.starts_with("Ada Love") && line.contains("Crêpe"),
            "{line}"
        );
        assert!(line.contains("27 Nov 18:00  waiting"), "{line}");
        assert!(
            line.contains("東京タワー"),
            "what is cut is found all the same"
        );
        let line = row_line(&parts, 80, false);
        assert!(
            line.contains("Fri 27 Nov 2026, 18:00  requires_action"),
            "{line}"
        );
        assert!(row_line(&parts, 200, false).ends_with("bk_1"));
    }
    #[test]
    fn rows_that_look_the_same_have_their_ids() {
        let row = |guest: &str, id: &str| RowParts {
            guest: guest.to_owned(),
            venue: "The Corner Table".to_owned(),
            time: "2026-11-27T18:00:00+01:00".into(),
            state: "confirmed".to_owned(),
            id: id.to_owned(),
        };
        let rows = [
            row("Twin", "bk_38g23bscfz2et"),
            row("Twin", "bk_38g23bs9ph9a0"),
            row("Ada", "bk_38g23bs65jyqf"),
        ];
        for columns in [50, 80] {
            let lines = row_lines(&rows, columns);
            let shown: Vec<_> = lines
                .iter()
                .map(|line| line.lines().next().unwrap())
                .collect();
            assert!(shown[0].contains("bk_38g23bscfz2et"), "{shown:?}");
            assert!(shown[1].contains("bk_38g23bs9ph9a0"), "{shown:?}");
            assert!(!shown[2].contains("bk_"), "{shown:?}");
            for line in shown {
                assert!(measure_text_width(line) <= columns - 2, "{columns}: {line}");
            }
        }
    }
}
