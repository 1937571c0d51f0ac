//! `GET /sandbox/bookings`: every booking of every organization.

use serde::Serialize;

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::store::Tx;
use crate::sandbox::wire::booking::BookingDocument;

#[derive(Serialize)]
struct Bookings<'a> {
    bookings: Vec<BookingDocument<'a>>,
}

pub(super) fn list(tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    let bookings = tx.bookings()?;
    Reply::ok(&Bookings {
        bookings: bookings.iter().map(BookingDocument::of).collect(),
    })
}
