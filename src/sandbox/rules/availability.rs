//! The request for a venue's slots ("Availability").

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::api_error::ApiError;
use super::fields::{self, FieldErrors};
use crate::sandbox::seed::{Provider, Scenario, Venue};

#[derive(Debug)]
pub(crate) struct AvailabilityQuery {
    pub(crate) venue_id: String,
    pub(crate) at: Timestamp,
    pub(crate) party_size: u8,
    provider: Option<String>,
}

#[derive(Deserialize)]
struct Body {
    venue_id: Option<String>,
    datetime: Option<String>,
    #[serde(default, deserialize_with = "fields::whole")]
    party_size: Option<i64>,
    provider: Option<String>,
}

impl AvailabilityQuery {
    pub(crate) fn read(body: &Map<String, Value>, now: Timestamp) -> Result<Self, ApiError> {
        let body: Body = fields::read(body)?;
        let mut errors = FieldErrors::default();
        let venue_id = errors.required("venue_id", body.venue_id);
        let at = errors.future_moment("datetime", body.datetime, now);
        let party_size = errors.required_party_size(body.party_size);
        let ((venue_id, at), party_size) = errors.finish(venue_id.zip(at).zip(party_size))?;
        Ok(Self {
            venue_id,
            at,
            party_size,
            provider: body.provider,
        })
    }

    /// The provider to ask: the one named, else the venue's only one. `None` if the venue has several
    /// and the request names none, which is allowed here.
    pub(crate) fn provider(&self, venue: &Venue) -> Result<Option<Provider>, ApiError> {
        match &self.provider {
            Some(name) => serving(venue, name).map(Some),
            None => Ok(venue.sole_provider()),
        }
    }
}

/// The provider with this id. Fails if it does not serve the venue.
pub(super) fn serving(venue: &Venue, name: &str) -> Result<Provider, ApiError> {
    Provider::parse(name)
        .filter(|it| venue.providers.contains(it))
        .ok_or_else(|| ApiError::invalid("provider", "does not serve this venue"))
}

pub(crate) fn check_readable(venue: &Venue) -> Result<(), ApiError> {
    match (venue.scenario, venue.providers.first()) {
        (Some(Scenario::AvailabilityFails), Some(provider)) => {
            Err(ApiError::AvailabilityFailed(*provider))
        }
        _ => Ok(()),
    }
}
