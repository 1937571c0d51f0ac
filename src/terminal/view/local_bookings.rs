//! The bookings in this machine's journal.

use jiff::Timestamp;

use super::{BookingList, tone_of};
use crate::journal::KeptBooking;
use crate::json::{Document, plain};
use crate::model::document_time::as_text;
use crate::model::time_text::{human, local, relative};
use crate::terminal::output::{Page, TableCell, View};

/// A list of bookings as `{"bookings": [...]}` in JSON.
pub(crate) struct Listed<'a>(pub(crate) BookingList<'a>);

impl View for Listed<'_> {
    fn json(&self) -> Document {
        self.0.json().named("bookings")
    }

    fn page(&self) -> Page {
        self.0.page()
    }
}

/// Bookings of the journal, and when each was last seen.
pub(crate) struct LocalBookings<'a> {
    pub(crate) kept: &'a [KeptBooking],
    /// This machine's current time.
    pub(crate) now: Timestamp,
}

impl View for LocalBookings<'_> {
    fn json(&self) -> Document {
        Document::array(self.kept.iter().map(|it| it.booking.document())).named("bookings")
    }

    fn page(&self) -> Page {
        let rows = self.kept.iter().map(|kept| {
            let booking = &kept.booking;
            let field = |name: &str| booking.value().get(name);
            let venue = field("venue_name").or(field("venue_id")).map(plain);
            let datetime = field("datetime").map(as_text).unwrap_or_default();
            let guest = booking.value().get("customer");
            let guest = guest.and_then(|guest| guest.get("name")).map(plain);
            let party = booking.value().get("party_size").map(plain);
            let seen = kept.seen_at.parse::<Timestamp>().ok();
            vec![
                TableCell::from(booking.id()),
                TableCell::toned(booking.status().as_str(), tone_of(&booking.status())),
                TableCell::from(venue.unwrap_or_default()),
                TableCell::from(human(&datetime)).in_short(local(&datetime)),
                TableCell::from(guest.unwrap_or_default()),
                TableCell::from(party.unwrap_or_default()),
                TableCell::from(human(&kept.seen_at))
                    .in_short(seen.map(|seen| relative(seen, self.now))),
            ]
        });
        let mut page = Page::default();
        let headers = vec![
            "id",
            "status",
            "venue",
            "when",
            "guest",
            "party",
            "last seen",
        ];
        page.table(headers, rows.collect(), vec![]);
        page
    }
}
