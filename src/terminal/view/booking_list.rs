//! A list of bookings: a table, or a JSON array of the service's documents.

use super::local_bookings::{HEADERS, cells};
use crate::json::{Document, plain};
use crate::model::booking::Booking;
use crate::terminal::output::{Page, View};

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
