//! `POST /sandbox/fixtures`: venues and bookings of one's own.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use jiff::Zoned;
use serde_json::{Map, Value, json};

use super::super::availability::slot_of;
use super::super::bookings::send_code;
use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::availability::sole_provider;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::error_code::ErrorCode;
use crate::sandbox::rules::fixtures::{BookingFixture, Fixtures};
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::rules::provider_response::{GeneratedCodes, pause};
use crate::sandbox::rules::state::{BookingState, PROCESSING_TIME, Status};
use crate::sandbox::rules::transition::EventKind;
use crate::sandbox::seed::{Provider, Slot, Venue, local_time, number_of};
use crate::sandbox::store::{Tx, one_time_code, reference};
use crate::sandbox::wire::booking::BookingDocument;

pub(super) fn load(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let organization = super::organization_asked(tx, request)?;
    let organization = organization.as_deref().unwrap_or(Organization::MAIN);
    Reply::ok(&load_into(tx, organization, request.fields()?)?)
}

/// Adds the document's venues and bookings to an organization, in place of those of the same ids. A document with a
/// mistake adds nothing.
pub(crate) fn load_into(
    tx: &Tx<'_>,
    organization: &str,
    body: Map<String, Value>,
) -> Result<Value, ApiError> {
    let body = Value::Object(body);
    let fixtures = Fixtures::read(&body)?;
    let venues: Vec<Venue> = fixtures.venues.into_iter().map(|it| it.venue()).collect();
    let by_id: HashMap<&str, &Venue> = venues.iter().map(|it| (it.id.as_str(), it)).collect();
    let mut numbers = Numbers::default();
    let mut bookings = Vec::new();
    for (place, fixture) in fixtures.bookings.into_iter().enumerate() {
        let number = numbers.take(organization, &fixture, &body["bookings"][place]);
        let venue = match by_id.get(fixture.venue_id.as_str()) {
            Some(venue) => Some(Cow::Borrowed(*venue)),
            None => tx.venue(organization, &fixture.venue_id)?,
        };
        let placed = Placed::of(tx, organization, number, fixture, venue)?;
        let refused = |(field, why)| ApiError::invalid(&format!("bookings[{place}].{field}"), why);
        bookings.push(placed.map_err(refused)?);
    }
    for (place, venue) in venues.iter().enumerate() {
        tx.put_venue(organization, &venue.id, &body["venues"][place].to_string())?;
    }
    let (mut documents, mut notes) = (Vec::new(), Vec::new());
    for (place, placed) in bookings.into_iter().enumerate() {
        let slot = placed.slot.clone();
        let is_past = placed.at.timestamp() < tx.now;
        let booking = placed.put(tx, organization)?;
        documents.push(json!(BookingDocument::of(&booking)));
        let note = note(tx, &booking, slot.as_ref(), is_past)?;
        notes.extend(note.map(|it| format!("bookings[{place}]: {it}")));
    }
    let venues: Vec<&str> = venues.iter().map(|it| it.id.as_str()).collect();
    let mut loaded = json!({"organization": organization, "venues": venues, "bookings": documents});
    if !notes.is_empty() {
        loaded["notes"] = json!(notes);
    }
    Ok(loaded)
}

/// The numbers of the bookings of a document.
#[derive(Default)]
struct Numbers {
    taken: HashSet<i64>,
    copies: HashMap<String, u32>,
}

impl Numbers {
    /// The number of a booking's id. The same entry without one has the same number when it is loaded again. `None` if
    /// the document has the id twice.
    fn take(&mut self, organization: &str, fixture: &BookingFixture, entry: &Value) -> Option<i64> {
        let number = fixture.number().unwrap_or_else(|| {
            let copy = self.copies.entry(entry.to_string()).or_insert(0);
            *copy += 1;
            number_of(&format!("{organization} {copy} {entry}"))
        });
        self.taken.insert(number).then_some(number)
    }
}

/// What is unlikely to be meant of a booking that was loaded: the service would not have made it.
fn note(
    tx: &Tx<'_>,
    booking: &Booking,
    slot: Option<&Slot>,
    is_past: bool,
) -> Result<Option<String>, ApiError> {
    let status = booking.state.status();
    let waits = matches!(status, Status::RequiresAction | Status::Processing);
    if !waits && status != Status::Confirmed {
        return Ok(None);
    }
    Ok(match slot {
        _ if waits && is_past => Some(format!("it is {}, and its time is past", status.as_str())),
        None => Some("the venue has no slot at this time, so it takes no place".to_owned()),
        Some(slot) => {
            let held = tx.held(&booking.organization, &slot.id)?;
            (held > slot.capacity).then(|| {
                format!(
                    "its slot now holds {held} bookings, and its capacity is {}",
                    slot.capacity
                )
            })
        }
    })
}

/// A booking of a document, at its venue and its time.
struct Placed<'a> {
    number: i64,
    fixture: BookingFixture,
    venue: Cow<'a, Venue>,
    provider: Provider,
    at: Zoned,
    slot: Option<Slot>,
}

impl<'a> Placed<'a> {
    /// Finds the booking's place. The inner error is the wrong field and why.
    fn of(
        tx: &Tx<'_>,
        organization: &str,
        number: Option<i64>,
        fixture: BookingFixture,
        venue: Option<Cow<'a, Venue>>,
    ) -> Result<Result<Self, (&'static str, &'static str)>, ApiError> {
        let Some(number) = number else {
            return Ok(Err(("id", "is in the list twice")));
        };
        let other = tx.any_booking(number)?;
        if other.is_some_and(|it| it.organization != organization) {
            let why = "is that of a booking of another organization; leave it out to get one";
            return Ok(Err(("id", why)));
        }
        let Some(venue) = venue else {
            return Ok(Err(("venue_id", "is that of no venue")));
        };
        let Some(provider) = fixture.provider.or(sole_provider(&venue)) else {
            let why = "is required: several providers serve the venue";
            return Ok(Err(("provider", why)));
        };
        if !venue.providers.contains(&provider) {
            return Ok(Err(("provider", "does not serve the venue")));
        }
        let Some(at) = fixture.datetime.resolve(&venue.timezone(), tx.now) else {
            let why = "does not exist in the venue's zone: its clocks skip it";
            return Ok(Err(("datetime", why)));
        };
        let seating = fixture.seating_preference.as_deref();
        let slot = slot_of(&venue, at.timestamp(), seating);
        Ok(Ok(Self {
            number,
            fixture,
            venue,
            provider,
            at,
            slot,
        }))
    }

    fn put(self, tx: &Tx<'_>, organization: &str) -> Result<Booking, ApiError> {
        let state = self.state(tx);
        let fixture = self.fixture;
        let seating = self.slot.as_ref().and_then(|it| it.seating.as_deref());
        let booking = Booking {
            number: self.number,
            organization: organization.to_owned(),
            is_test: false,
            provider: self.provider,
            venue_id: fixture.venue_id,
            venue_name: self.venue.is_own().then(|| self.venue.name.clone()),
            datetime: local_time(&self.at),
            party_size: fixture.party_size,
            customer: fixture.customer,
            end_user: fixture.end_user,
            seating: seating.map(str::to_owned).or(fixture.seating_preference),
            pays_by_vendor: fixture.payment_collection.is_some(),
            webhook_url: None,
            slot_id: self.slot.map(|it| it.id),
            state,
            last_modification: None,
            created_at: tx.now,
            updated_at: tx.now,
        };
        let latest = EventKind::of_status(booking.state.status());
        let kinds: Vec<_> = std::iter::once(EventKind::Created).chain(latest).collect();
        tx.put_booking(&booking, &kinds)?;
        send_code(tx, &booking, &self.venue)?;
        Ok(booking)
    }

    fn state(&self, tx: &Tx<'_>) -> BookingState {
        let fixture = &self.fixture;
        let generate = || GeneratedCodes {
            otp: one_time_code(),
            approval_id: reference("psp_"),
        };
        match fixture.status {
            Status::RequiresAction => BookingState::RequiresAction(pause(
                &self.venue,
                self.slot.as_ref(),
                fixture.payment_collection.is_some(),
                (&fixture.customer, fixture.party_size),
                generate,
                tx.now,
            )),
            Status::Processing => BookingState::Processing {
                until: tx.now + PROCESSING_TIME,
            },
            Status::Confirmed => BookingState::Confirmed {
                error: fixture.error_code,
            },
            Status::Failed => BookingState::Failed {
                error: fixture.error_code.unwrap_or(ErrorCode::ProviderError),
            },
            Status::Cancelled => BookingState::Cancelled,
            Status::Expired => BookingState::Expired,
        }
    }
}
