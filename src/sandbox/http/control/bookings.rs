//! `GET /sandbox/bookings`: every booking of every organization.

use serde::Serialize;

use super::super::call::Call;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::store::Ledger;
use crate::sandbox::wire::booking::BookingDocument;

#[derive(Serialize)]
struct Bookings<'a> {
    bookings: Vec<BookingDocument<'a>>,
}

pub(super) fn list(ledger: &Ledger<'_>, _call: &Call) -> Outcome {
    let bookings = ledger.bookings()?;
    Reply::ok(&Bookings {
        bookings: bookings.iter().map(BookingDocument::of).collect(),
    })
}
