//! Lists of bookings: of the journal, of the service, and to pick from.

use console::{Alignment, measure_text_width, pad_str};
use jiff::Timestamp;
use serde_json::Value;

use super::{numbered, tone_of};
use crate::journal::KeptBooking;
use crate::json::plain;
use crate::service::documents::booking::Booking;
use crate::service::time::document_time::as_text;
use crate::service::time::text::{human, local, relative};
use crate::service::time::when::When;
use crate::terminal::output::{Page, TableCell, visible};

const HEADERS: &[&str] = &["id", "status", "venue", "when", "guest", "party"];

/// Bookings of the journal, and when each was last seen. `now` is this machine's time.
pub(crate) fn kept_page(kept: &[KeptBooking], now: Timestamp) -> Page {
    let rows = kept.iter().map(|kept| {
        let seen = kept.seen_at.parse::<Timestamp>().ok();
        let seen = seen.map(|seen| relative(seen, now));
        let mut cells = cells(&kept.booking, &kept.booking);
        cells.push(TableCell::from(human(&kept.seen_at)).in_short(seen));
        (cells, None)
    });
    numbered(&[HEADERS, &["last seen"]].concat(), rows)
}

/// The organization's unfinished bookings, each with what this machine knows of it: the service lists them without
/// guest, venue and time.
pub(crate) fn open_page(bookings: &[(Booking, Option<Booking>)]) -> Page {
    let rows = bookings.iter().map(|(booking, known)| {
        let mut cells = cells(booking, known.as_ref().unwrap_or(booking));
        cells.push(booking.str("provider").unwrap_or_default().into());
        cells.push(waiting_for(booking));
        (cells, None)
    });
    numbered(&[HEADERS, &["provider", "waiting for"]].concat(), rows)
}

/// Bookings of the service, without numbers.
pub(crate) fn bookings_page(bookings: &[Booking]) -> Page {
    let rows = bookings.iter().map(|booking| {
        let mut cells = cells(booking, booking);
        cells.push(booking.str("provider").unwrap_or_default().into());
        cells.push(booking.str("error_code").unwrap_or_default().into());
        cells.push(waiting_for(booking));
        cells
    });
    let mut page = Page::default();
    let headers = [HEADERS, &["provider", "error", "waiting for"]].concat();
    page.table(headers, rows.collect(), vec![]);
    page
}

/// The cells of a row: the status of `booking`, and what is known of it.
fn cells(booking: &Booking, known: &Booking) -> Vec<TableCell> {
    let field = |name: &str| known.value().get(name);
    let time = field("datetime").map(as_text).unwrap_or_default();
    let venue = known.venue_name().or_else(|| known.venue_id());
    vec![
        TableCell::from(booking.id()),
        TableCell::toned(booking.status().as_str(), tone_of(&booking.status())),
        TableCell::from(venue.unwrap_or_default()),
        TableCell::from(human(&time)).in_short(local(&time)),
        TableCell::from(known.guest().unwrap_or_default()),
        TableCell::from(field("party_size").map(plain).unwrap_or_default()),
    ]
}

fn waiting_for(booking: &Booking) -> TableCell {
    let asked = booking.next_action().and_then(|it| it.get("message"));
    asked.map(plain).unwrap_or_default().into()
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

/// From this width a row has room for the id too.
const WIDE: usize = 120;

/// The rows of a menu on a terminal of so many columns: guest, venue, time, state, and the id if there is room. Rows that
/// could not be told apart have their ids at every width, in place of the state.
pub(crate) fn row_lines(rows: &[RowParts], columns: usize) -> Vec<String> {
    let is_like = |row: &RowParts, other: &RowParts| {
        row.id != other.id
            && (&row.guest, &row.venue, &row.time) == (&other.guest, &other.venue, &other.time)
    };
    let line = |row: &RowParts| {
        let last = match columns {
            WIDE.. => format!("{:15}  {}", row.state, row.id),
            _ if rows.iter().any(|other| is_like(row, other)) => row.id.clone(),
            _ => row.state.clone(),
        };
        row_line(row, &last, columns)
    };
    rows.iter().map(line).collect()
}

fn row_line(row: &RowParts, last: &str, columns: usize) -> String {
    let written = as_text(&row.time);
    let time = venue_time(&written).unwrap_or(written);
    // Beside the time there are what a menu puts before a row, and the blanks between its cells.
    let left = columns.saturating_sub(4 + 17 + 6 + last.len().max(15));
    let (guest, venue) = ((left / 2).clamp(10, 30), (left - left / 2).clamp(6, 40));
    let cell = |text: &str, width| {
        let text = visible(text);
        pad_str(&text, width, Alignment::Left, Some("…")).into_owned()
    };
    let mut line = [
        cell(&row.guest, guest),
        cell(&row.venue, venue),
        cell(&time, 17),
        visible(last).into_owned(),
    ]
    .join("  ");
    // The filter of a menu looks at further lines too, which are not shown.
    for (text, width) in [(&row.guest, guest), (&row.venue, venue)] {
        if measure_text_width(text) > width {
            line.push('\n');
            line.push_str(&visible(text));
        }
    }
    line
}

/// `27 Nov 2026 18:00`, on the venue's clock.
fn venue_time(datetime: &str) -> Option<String> {
    let when = When::parse(datetime).ok()?;
    let exact = when.exact().map(|moment| moment.zoned.datetime());
    let local = exact.or(when.wall())?;
    Some(local.strftime("%-d %b %Y %H:%M").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_guest_venue_time_and_state_and_rows_that_look_the_same_their_ids() {
        let row = |guest: &str, id: &str| RowParts {
            guest: guest.to_owned(),
            venue: "Crêperie de la Marée Haute 東京タワー".to_owned(),
            time: "2026-11-27T18:00:00+01:00".into(),
            state: "requires_action".to_owned(),
            id: id.to_owned(),
        };
        let rows = [
            row("Twin", "bk_38g23bscfz2et"),
            row("Twin", "bk_38g23bs9ph9a0"),
            row("Ada Lovelace", "bk_38g23bs65jyqf"),
        ];
        let lines = row_lines(&rows, 80);
        let shown = |row: usize| lines[row].lines().next().unwrap();
        for (row, rest) in [
            (0, "27 Nov 2026 18:00  bk_38g23bscfz2et"),
            (1, "27 Nov 2026 18:00  bk_38g23bs9ph9a0"),
            (2, "27 Nov 2026 18:00  requires_action"),
        ] {
            assert!(shown(row).contains("Crêperie"), "{lines:?}");
            assert!(shown(row).ends_with(rest), "{lines:?}");
            assert!(measure_text_width(shown(row)) <= 78, "{lines:?}");
        }
        assert!(shown(2).starts_with("Ada Lovelace"), "{lines:?}");
        let found = lines[2].contains("東京タワー");
        assert!(found, "what is cut is found all the same");
        assert!(row_lines(&rows, 200)[2].contains("requires_action  bk_38g23bs65jyqf"));
    }
}
