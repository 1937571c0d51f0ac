//! `GET /sandbox/bookings`: every booking, or every one of an organization.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::store::Tx;
use crate::sandbox::wire::booking::BookingDocument;
use crate::sandbox::wire::id::IdKind;

#[derive(Serialize)]
struct Bookings<'a> {
    bookings: Vec<OwnedBooking<'a>>,
}

/// A booking with the organization that it belongs to.
#[derive(Serialize)]
struct OwnedBooking<'a> {
    #[serde(flatten)]
    booking: BookingDocument<'a>,
    organization: &'a str,
}

impl<'a> OwnedBooking<'a> {
    fn of(booking: &'a Booking) -> Self {
        Self {
            booking: BookingDocument::of(booking),
            organization: &booking.organization,
        }
    }
}

pub(super) fn list(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let organization = super::organization_asked(tx, request)?;
    let bookings = tx.bookings(organization.as_deref())?;
    Reply::ok(&Bookings {
        bookings: bookings.iter().map(OwnedBooking::of).collect(),
    })
}

/// What happened to a booking, as its events.
pub(super) fn events(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let events = match IdKind::Booking.number(request.id()) {
        Some(number) => tx.events(number)?,
        None => Vec::new(),
    };
    if events.is_empty() {
        let open_bookings = Vec::new();
        return Err(ApiError::BookingNotFound { open_bookings });
    }
    Reply::ok(&json!({"events": events}))
}

/// The state of one of them; `None` if it was deleted.
pub(super) fn state(tx: &Tx<'_>, number: i64) -> Result<Option<Value>, ApiError> {
    let booking = tx.any_booking(number)?;
    Ok(booking.map(|it| json!(OwnedBooking::of(&it))))
}
