//! `POST /sandbox/fixtures`: venues and bookings of one's own.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::sandbox::http::bookings::{generated_codes, send_code};
use crate::sandbox::http::reply::{HandlerResult, Reply};
use crate::sandbox::http::request::Request;
use crate::sandbox::http::venues::slot_of;
use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::booking::StoredBooking;
use crate::sandbox::rules::fixtures::{BookingFixture, Fixtures};
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::rules::provider_response::{pause, processing};
use crate::sandbox::rules::state::{BookingErrorCode, BookingState, BookingStatus};
use crate::sandbox::seed::{OfferedSlot, SeedVenue, number_of};
use crate::sandbox::store::Tx;
use crate::sandbox::wire::booking::BookingDocument;

pub(super) fn load(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let organization = request.organization.as_deref().unwrap_or(Organization::MAIN);
    let body = Value::Object(request.fields()?);
    Reply::ok(&load_into(tx, organization, &body)?)
}

/// Adds the document's venues and bookings to an organization, in place of those of the same ids. A
/// document with a mistake adds nothing.
pub(crate) fn load_into(tx: &Tx<'_>, organization: &str, body: &Value) -> Result<Value> {
    let fixtures = Fixtures::read(body)?;
    let venues: Vec<SeedVenue> = fixtures.venues.into_iter().map(|it| it.venue()).collect();
    let mut taken = HashSet::new();
    let mut copies = HashMap::new();
    let mut bookings = Vec::new();
    for (place, fixture) in fixtures.bookings.into_iter().enumerate() {
        let entry = body["bookings"][place].to_string();
        // The same entry without an id has the same number when it is loaded again.
        let number = fixture.number().unwrap_or_else(|| {
            let copy = copies.entry(entry.clone()).or_insert(0);
            *copy += 1;
            number_of(&format!("{organization} {copy} {entry}"))
        });
        let refused = |(field, why): (&str, &str)| {
            ApiError::invalid(&format!("bookings[{place}].{field}"), why)
        };
        if !taken.insert(number) {
            return Err(refused(("id", "is in the list twice")));
        }
        if tx.any_booking(Some(number))?.is_some_and(|it| it.organization != organization) {
            let why = "is that of a booking of another organization; leave it out to get one";
            return Err(refused(("id", why)));
        }
        let venue = match venues.iter().find(|it| it.id == fixture.venue_id) {
            Some(venue) => Some(Cow::Borrowed(venue)),
            None => tx.venue(organization, &fixture.venue_id)?,
        };
        let venue = venue.ok_or(("venue_id", "is that of no venue")).map_err(refused)?;
        let booking = booking(tx, organization, number, fixture, &venue).map_err(refused)?;
        bookings.push((booking, venue));
    }
    for (place, venue) in venues.iter().enumerate() {
        tx.put_venue(organization, &venue.id, &body["venues"][place].to_string())?;
    }
    for (booking, venue) in &bookings {
        tx.put_booking(booking)?;
        send_code(tx, booking, venue)?;
    }
    let venues: Vec<&str> = venues.iter().map(|it| it.id.as_str()).collect();
    let bookings: Vec<_> = bookings.iter().map(|(it, _)| BookingDocument(it)).collect();
    Ok(json!({"organization": organization, "venues": venues, "bookings": bookings}))
}

/// The booking of an entry at its venue; else the wrong field, and why.
fn booking(
    tx: &Tx<'_>,
    organization: &str,
    number: i64,
    fixture: BookingFixture,
    venue: &SeedVenue,
) -> Result<StoredBooking, (&'static str, &'static str)> {
    let several = "is required: several providers serve the venue";
    let provider = fixture.provider.or(venue.sole_provider());
    let provider = provider.ok_or(("provider", several))?;
    if !venue.providers.contains(&provider) {
        return Err(("provider", "does not serve the venue"));
    }
    let skipped = "does not exist in the venue's zone: its clocks skip it";
    let at = fixture.datetime.resolve(&venue.timezone, tx.now).ok_or(("datetime", skipped))?;
    let slot = slot_of(venue, at.timestamp(), fixture.seating_preference.as_deref());
    let (slot, customer, party_size) = (slot.as_ref(), fixture.customer, fixture.party_size);
    let placed = StoredBooking::placed(venue, provider, &at, slot, customer, party_size, tx.now);
    let mut booking = StoredBooking {
        number,
        organization: organization.to_owned(),
        end_user: fixture.end_user,
        seating: placed.seating.clone().or(fixture.seating_preference),
        pays_by_vendor: fixture.payment_collection.is_some(),
        ..placed
    };
    let status = (fixture.status, fixture.error_code);
    booking.state = state_of(&booking, status, venue, slot, tx.now);
    Ok(booking)
}

/// The state of a booking that has this status already.
pub(super) fn state_of(
    booking: &StoredBooking,
    (status, error): (BookingStatus, Option<BookingErrorCode>),
    venue: &SeedVenue,
    slot: Option<&OfferedSlot>,
    now: Timestamp,
) -> BookingState {
    match status {
        BookingStatus::RequiresAction => {
            BookingState::RequiresAction(pause(booking, venue, slot, generated_codes(), now))
        }
        BookingStatus::Processing => processing(venue, now),
        BookingStatus::Confirmed => BookingState::Confirmed { error },
        BookingStatus::Failed => {
            BookingState::Failed { error: error.unwrap_or(BookingErrorCode::ProviderError) }
        }
        BookingStatus::Cancelled => BookingState::Cancelled,
        BookingStatus::Expired => BookingState::Expired,
    }
}
