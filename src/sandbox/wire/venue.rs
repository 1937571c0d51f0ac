//! The venue document.

use serde::Serialize;

use crate::sandbox::rules::availability::sole_provider;
use crate::sandbox::seed::Venue;

/// A venue as a search returns it.
#[derive(Serialize)]
pub(crate) struct VenueDocument<'a> {
    venue_id: &'a str,
    name: &'a str,
    vertical: &'static str,
    /// `None` if several serve the venue; `providers` then lists them.
    provider: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    providers: Option<Vec<&'static str>>,
    address: &'a str,
    city: &'a str,
    country: &'a str,
    latitude: f64,
    longitude: f64,
    timezone: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance_km: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price_level: Option<u8>,
    tags: &'a [String],
}

impl<'a> VenueDocument<'a> {
    /// The document of a venue; `distance` in km from the point of the search.
    pub(crate) fn of(venue: &'a Venue, distance: Option<f64>) -> Self {
        let provider = sole_provider(venue);
        Self {
            venue_id: &venue.id,
            name: &venue.name,
            vertical: venue.vertical.as_str(),
            provider: provider.map(|it| it.id()),
            providers: match provider {
                Some(_) => None,
                None => Some(venue.providers.iter().map(|it| it.id()).collect()),
            },
            address: &venue.address,
            city: &venue.city,
            country: &venue.country,
            latitude: venue.latitude,
            longitude: venue.longitude,
            timezone: &venue.timezone_name,
            distance_km: distance.map(|it| (it * 100.0).round() / 100.0),
            price_level: venue.price_level,
            tags: &venue.tags,
        }
    }
}
