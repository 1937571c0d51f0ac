//! A list of bookings: a table, or a JSON array of the service's documents.

use serde_json::Value;

use super::tone_of;
use crate::json::{Document, plain};
use crate::model::booking::Booking;
use crate::model::document_time::as_text;
use crate::model::time_text::{human, local};
use crate::terminal::output::{Page, TableCell, View};

/// A list of bookings.
pub(crate) struct BookingList<'a> {
    pub(crate) bookings: &'a [Booking],
}

impl View for BookingList<'_> {
    fn json(&self) -> Document {
        Document::array(self.bookings.iter().map(Booking::document))
    }

    fn page(&self) -> Page {
        let rows = self.bookings.iter().map(|booking| {
            let text = |field: &str| booking.str(field).unwrap_or_default().to_owned();
            let asked = booking.next_action().and_then(|it| it.get("message"));
            let asked = asked.and_then(Value::as_str);
            let time = booking.value().get("datetime").map(as_text);
            let time = time.unwrap_or_default();
            vec![
                TableCell::from(booking.id()),
                TableCell::toned(booking.status().as_str(), tone_of(&booking.status())),
                TableCell::from(
                    booking
                        .venue_name()
                        .or_else(|| booking.venue_id())
                        .unwrap_or_default(),
                ),
                TableCell::from(human(&time)).in_short(local(&time)),
                TableCell::from(
                    booking
                        .value()
                        .get("party_size")
                        .map(plain)
                        .unwrap_or_default(),
                ),
                TableCell::from(text("provider")),
                TableCell::from(text("error_code")),
                TableCell::from(asked.unwrap_or_default()),
            ]
        });
        let mut page = Page::default();
        page.table(
            vec![
                "id",
                "status",
                "venue",
                "when",
                "party",
                "provider",
                "error",
                "waiting for",
            ],
            rows.collect(),
            vec![],
        );
        page
    }
}
