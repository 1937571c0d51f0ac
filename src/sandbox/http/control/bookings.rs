//! `GET /sandbox/bookings`: every booking, or every one of an organization.

use serde::Serialize;

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::store::Tx;
use crate::sandbox::wire::booking::BookingDocument;

#[derive(Serialize)]
struct Bookings<'a> {
    bookings: Vec<BookingDocument<'a>>,
}

pub(super) fn list(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let organization = super::organization_asked(tx, request)?;
    let bookings = tx.bookings(organization.as_deref())?;
    Reply::ok(&Bookings {
        bookings: bookings.iter().map(BookingDocument::of).collect(),
    })
}
