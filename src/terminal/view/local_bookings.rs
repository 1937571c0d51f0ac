//! The bookings that this machine knows.

use jiff::Timestamp;

use super::tone_of;
use crate::journal::KeptBooking;
use crate::json::{Document, plain};
use crate::model::booking::Booking;
use crate::model::document_time::as_text;
use crate::model::time_text::{human, local, relative};
use crate::terminal::output::{Page, TableCell, View};

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
        let more = Document::from(serde_json::Value::from(self.more));
        Document::object(&[("bookings", &bookings), ("more", &more)])
    }

    fn page(&self) -> Page {
        let rows = self.kept.iter().enumerate().map(|(row, kept)| {
            let seen = kept.seen_at.parse::<Timestamp>().ok();
            let mut cells = cells(row, &kept.booking, &kept.booking);
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
        let rows = self
            .bookings
            .iter()
            .enumerate()
            .map(|(row, (booking, known))| {
                let mut cells = cells(row, booking, known.as_ref().unwrap_or(booking));
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

fn table(rows: Vec<Vec<TableCell>>, more: &[&'static str]) -> Page {
    let mut page = Page::default();
    let mut headers = vec!["", "id", "status", "venue", "when", "guest", "party"];
    headers.extend(more);
    page.table(headers, rows, vec![0]);
    page
}

/// The cells of a row: the status of `booking`, and what is known of it.
fn cells(row: usize, booking: &Booking, known: &Booking) -> Vec<TableCell> {
    let venue = known.venue_name().or_else(|| known.venue_id());
    let time = known
        .value()
        .get("datetime")
        .map(as_text)
        .unwrap_or_default();
    let party = known.value().get("party_size").map(plain);
    vec![
        TableCell::from(format!("@{}", row + 1)),
        TableCell::from(booking.id()),
        TableCell::toned(booking.status().as_str(), tone_of(&booking.status())),
        TableCell::from(venue.unwrap_or_default()),
        TableCell::from(human(&time)).in_short(local(&time)),
        TableCell::from(known.guest().unwrap_or_default()),
        TableCell::from(party.unwrap_or_default()),
    ]
}
