//! Documents that stand in lists: venues, slots and sessions.

use jiff::Timestamp;
use serde::Serialize;

use super::{IdKind, WireTime};
use crate::sandbox::rules::session::{SESSION_PROVIDER, Session, SessionState};
use crate::sandbox::seed::{OfferedSlot, Provider, SeedVenue, Vertical};

#[derive(Serialize)]
pub(crate) struct VenueDocument<'a> {
    venue_id: &'a str,
    name: &'a str,
    vertical: Vertical,
    /// `None` if several serve the venue; `providers` then lists them.
    provider: Option<Provider>,
    #[serde(skip_serializing_if = "Option::is_none")]
    providers: Option<&'a [Provider]>,
    address: &'a str,
    city: &'a str,
    country: &'a str,
    latitude: f64,
    longitude: f64,
    timezone: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance_km: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price_level: Option<u8>,
    tags: &'a [String],
}

impl<'a> VenueDocument<'a> {
    /// The document of a venue; `distance` in km from the point of the search.
    pub(crate) fn from_venue(venue: &'a SeedVenue, distance: Option<f64>) -> Self {
        let provider = venue.sole_provider();
        Self {
            venue_id: &venue.id,
            name: &venue.name,
            vertical: venue.vertical,
            provider,
            providers: provider.is_none().then_some(&*venue.providers),
            address: &venue.address,
            city: &venue.city,
            country: &venue.country,
            latitude: venue.latitude,
            longitude: venue.longitude,
            timezone: venue.timezone.iana_name(),
            distance_km: distance.map(|it| (it * 100.0).round() / 100.0),
            price_level: venue.price_level,
            tags: &venue.tags,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct SlotDocument {
    #[serde(flatten)]
    pub(crate) slot: OfferedSlot,
    /// That the slot was asked for.
    pub(crate) party_size: u8,
}

/// The session document. It contains neither the phone number nor the code.
#[derive(Serialize)]
pub(crate) struct SessionDocument<'a> {
    id: String,
    object: &'static str,
    provider: &'static str,
    state: SessionState,
    end_user: &'a str,
    created_at: WireTime,
}

impl<'a> SessionDocument<'a> {
    pub(crate) fn from_session(session: &'a Session, now: Timestamp) -> Self {
        Self {
            id: IdKind::Session.id(session.number),
            object: "session",
            provider: SESSION_PROVIDER.id(),
            state: session.state(now),
            end_user: &session.end_user,
            created_at: WireTime(session.created_at),
        }
    }
}
