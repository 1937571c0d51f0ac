//! `POST /sandbox/fixtures`: venues and bookings of one's own.

use std::borrow::Cow;

use jiff::Zoned;
use serde_json::{Map, Value, json};

use super::super::bookings::send_code;
use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use super::super::slots::slot_of;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::availability::sole_provider;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::error_code::ErrorCode;
use crate::sandbox::rules::fields::FieldErrors;
use crate::sandbox::rules::fixtures::{BookingFixture, Fixtures};
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::rules::provider_response::{GeneratedCodes, pause};
use crate::sandbox::rules::state::{BookingState, PROCESSING_TIME, Status};
use crate::sandbox::rules::transition::EventKind;
use crate::sandbox::seed::{Provider, Slot, Venue};
use crate::sandbox::store::{Tx, one_time_code, reference};
use crate::sandbox::wire::booking::BookingDocument;
use crate::sandbox::wire::slot::local_time;

pub(super) fn load(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let organization = super::organization_asked(tx, request)?;
    let organization = organization.as_deref().unwrap_or(Organization::MAIN);
    Reply::ok(&load_into(tx, organization, &request.fields()?)?)
}

/// Adds the document's venues and bookings to an organization, in place of those of the same ids. A document with a
/// mistake adds nothing.
pub(crate) fn load_into(
    tx: &Tx<'_>,
    organization: &str,
    body: &Map<String, Value>,
) -> Result<Value, ApiError> {
    let mut errors = FieldErrors::default();
    let fixtures = Fixtures::read(body, organization, &mut errors);
    let mut bookings = Vec::new();
    for (number, fixture) in &fixtures.bookings {
        let own = fixtures
            .venues
            .iter()
            .find(|it| it.0.id == fixture.venue_id);
        let venue = match own {
            Some((venue, _)) => Some(Cow::Borrowed(venue)),
            None => tx.venue(organization, &fixture.venue_id)?,
        };
        let placed = Placed::of(tx, organization, (*number, fixture), venue, &mut errors)?;
        bookings.extend(placed);
    }
    errors.finish(Some(()))?;
    for (venue, entry) in &fixtures.venues {
        tx.put_venue(organization, &venue.id, &entry.to_string())?;
    }
    let (mut documents, mut notes) = (Vec::new(), Vec::new());
    for placed in bookings {
        let (path, slot) = (&placed.fixture.path, placed.slot.clone());
        let is_past = placed.at.timestamp() < tx.now;
        let booking = placed.put(tx, organization)?;
        documents.push(json!(BookingDocument::of(&booking)));
        let note = note(tx, &booking, slot.as_ref(), is_past)?;
        notes.extend(note.map(|it| format!("{path}: {it}")));
    }
    let venues: Vec<&str> = fixtures.venues.iter().map(|it| it.0.id.as_str()).collect();
    let mut loaded = json!({"organization": organization, "venues": venues, "bookings": documents});
    if !notes.is_empty() {
        loaded["notes"] = json!(notes);
    }
    Ok(loaded)
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
    fixture: &'a BookingFixture,
    venue: Cow<'a, Venue>,
    provider: Provider,
    at: Zoned,
    slot: Option<Slot>,
}

impl<'a> Placed<'a> {
    /// Finds the booking's place; `None` after an error.
    fn of(
        tx: &Tx<'_>,
        organization: &str,
        (number, fixture): (i64, &'a BookingFixture),
        venue: Option<Cow<'a, Venue>>,
        errors: &mut FieldErrors,
    ) -> Result<Option<Self>, ApiError> {
        let mut wrong = |field: &str, why: &str| {
            errors.add(&format!("{}.{field}", fixture.path), why);
        };
        let other = tx.any_booking(number)?;
        if other.is_some_and(|it| it.organization != organization) {
            wrong(
                "id",
                "is that of a booking of another organization; leave it out to get one",
            );
        }
        let Some(venue) = venue else {
            wrong("venue_id", "is that of no venue");
            return Ok(None);
        };
        let provider = fixture.provider.or(sole_provider(&venue));
        match provider {
            None => wrong("provider", "is required: several providers serve the venue"),
            Some(it) if !venue.providers.contains(&it) => {
                wrong("provider", "does not serve the venue");
            }
            Some(_) => {}
        }
        let at = fixture.at.resolve(&venue.timezone(), tx.now);
        if at.is_none() {
            wrong(
                "datetime",
                "does not exist in the venue's zone: its clocks skip it",
            );
        }
        let (Some(provider), Some(at)) = (provider, at) else {
            return Ok(None);
        };
        let slot = slot_of(&venue, at.timestamp(), fixture.seating.as_deref());
        Ok(Some(Self {
            number,
            fixture,
            venue,
            provider,
            at,
            slot,
        }))
    }

    fn put(self, tx: &Tx<'_>, organization: &str) -> Result<Booking, ApiError> {
        let fixture = self.fixture;
        let venue = self.venue.as_ref();
        let seating = self.slot.as_ref().and_then(|it| it.seating.as_deref());
        let seating = seating.or(fixture.seating.as_deref());
        let booking = Booking {
            number: self.number,
            organization: organization.to_owned(),
            is_test: false,
            provider: self.provider,
            venue_id: fixture.venue_id.clone(),
            venue_name: venue.is_own().then(|| venue.name.clone()),
            datetime: local_time(&self.at),
            party_size: fixture.party_size,
            customer: fixture.customer.clone(),
            end_user: fixture.end_user.clone(),
            seating: seating.map(str::to_owned),
            pays_by_vendor: fixture.pays_by_vendor,
            webhook_url: None,
            slot_id: self.slot.as_ref().map(|it| it.id.clone()),
            state: self.state(tx),
            last_modification: None,
            created_at: tx.now,
            updated_at: tx.now,
        };
        let latest = EventKind::of_status(booking.state.status());
        let kinds: Vec<_> = [Some(EventKind::Created), latest]
            .into_iter()
            .flatten()
            .collect();
        tx.put_booking(&booking, &kinds)?;
        send_code(tx, &booking, venue)?;
        Ok(booking)
    }

    fn state(&self, tx: &Tx<'_>) -> BookingState {
        let fixture = self.fixture;
        let generate = || GeneratedCodes {
            otp: one_time_code(),
            approval_id: reference("psp_"),
        };
        match fixture.status {
            Status::RequiresAction => BookingState::RequiresAction(pause(
                &self.venue,
                self.slot.as_ref(),
                fixture.pays_by_vendor,
                (&fixture.customer, fixture.party_size),
                generate,
                tx.now,
            )),
            Status::Processing => BookingState::Processing {
                until: tx.now + PROCESSING_TIME,
            },
            Status::Confirmed => BookingState::Confirmed {
                error: fixture.error,
            },
            Status::Failed => BookingState::Failed {
                error: fixture.error.unwrap_or(ErrorCode::ProviderError),
            },
            Status::Cancelled => BookingState::Cancelled,
            Status::Expired => BookingState::Expired,
        }
    }
}
