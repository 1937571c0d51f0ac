//! The request for a venue's slots ("Availability").

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::api_error::ApiError;
use super::fields::{FieldErrors, Fields};
use crate::sandbox::seed::{Provider, Scenario, Venue};

#[derive(Debug)]
pub(crate) struct AvailabilityQuery<'a> {
    pub(crate) venue_id: &'a str,
    pub(crate) at: Timestamp,
    pub(crate) party_size: u8,
    provider: Option<&'a str>,
}

impl<'a> AvailabilityQuery<'a> {
    /// Reads the body: types, then required fields and values.
    pub(crate) fn read(body: &'a Map<String, Value>, now: Timestamp) -> Result<Self, ApiError> {
        let fields = Fields::of(body);
        let venue_id = fields.text("venue_id")?;
        let datetime = fields.text("datetime")?;
        let party_size = fields.whole("party_size")?;
        let provider = fields.text("provider")?;

        let mut errors = FieldErrors::default();
        let venue_id = errors.required("venue_id", venue_id);
        let at = errors.future_moment("datetime", datetime, now);
        let party_size = errors.required_party_size(party_size);
        let ((venue_id, at), party_size) = errors.finish(venue_id.zip(at).zip(party_size))?;
        Ok(Self {
            venue_id,
            at,
            party_size,
            provider,
        })
    }

    /// The provider to ask: the one named, else the venue's only one. `None` if the venue has several
    /// and the request names none, which is allowed here.
    pub(crate) fn provider(&self, venue: &Venue) -> Result<Option<Provider>, ApiError> {
        match self.provider {
            Some(name) => serving(venue, name).map(Some),
            None => Ok(sole_provider(venue)),
        }
    }
}

/// The provider with this id. Fails if it does not serve the venue.
pub(super) fn serving(venue: &Venue, name: &str) -> Result<Provider, ApiError> {
    Provider::parse(name)
        .filter(|it| venue.providers.contains(it))
        .ok_or_else(|| ApiError::invalid("provider", "does not serve this venue"))
}

/// The venue's only provider; `None` if it has several.
pub(crate) fn sole_provider(venue: &Venue) -> Option<Provider> {
    match venue.providers.as_slice() {
        [provider] => Some(*provider),
        _ => None,
    }
}

/// Fails at the venue whose provider cannot read slots.
pub(crate) fn check_readable(venue: &Venue) -> Result<(), ApiError> {
    match (venue.scenario, venue.providers.first()) {
        (Some(Scenario::AvailabilityFails), Some(provider)) => {
            Err(ApiError::AvailabilityFailed(*provider))
        }
        _ => Ok(()),
    }
}
