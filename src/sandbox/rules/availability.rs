//! Reading a venue's slots: what is asked for ("Availability").

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::fields::{Complaints, Fields};
use super::refusal::Refusal;
use crate::sandbox::seed::{Provider, Scenario, Venue};

/// A reading of slots that makes sense.
#[derive(Debug)]
pub(crate) struct AvailabilityQuery<'a> {
    pub(crate) venue_id: &'a str,
    pub(crate) at: Timestamp,
    pub(crate) party_size: u8,
    provider: Option<&'a str>,
}

impl<'a> AvailabilityQuery<'a> {
    /// Reads the body: types, then required fields and values.
    pub(crate) fn read(body: &'a Map<String, Value>, now: Timestamp) -> Result<Self, Refusal> {
        let fields = Fields::of(body);
        let venue_id = fields.text("venue_id")?;
        let datetime = fields.text("datetime")?;
        let party_size = fields.whole("party_size")?;
        let provider = fields.text("provider")?;

        let mut complaints = Complaints::default();
        let venue_id = complaints.required("venue_id", venue_id);
        let at = complaints.future_moment("datetime", datetime, now);
        let party_size = complaints.required_party_size(party_size);
        let ((venue_id, at), party_size) = complaints.settle(venue_id.zip(at).zip(party_size))?;
        Ok(Self {
            venue_id,
            at,
            party_size,
            provider,
        })
    }

    /// The provider that is asked: the one named, else the venue's only one. A venue of several is
    /// read without a name too, and has none to tell.
    pub(crate) fn provider(&self, venue: &Venue) -> Result<Option<Provider>, Refusal> {
        match self.provider {
            Some(name) => serving(venue, name).map(Some),
            None => Ok(sole_provider(venue)),
        }
    }
}

/// The provider of that name, if it serves the venue.
pub(super) fn serving(venue: &Venue, name: &str) -> Result<Provider, Refusal> {
    Provider::parse(name)
        .filter(|it| venue.providers.contains(it))
        .ok_or_else(|| Refusal::invalid("provider", "does not serve this venue"))
}

/// The venue's provider mapping: its only provider.
pub(crate) fn sole_provider(venue: &Venue) -> Option<Provider> {
    match venue.providers.as_slice() {
        [provider] => Some(*provider),
        _ => None,
    }
}

/// Refuses where the provider cannot read the venue's diary.
pub(crate) fn check_diary(venue: &Venue) -> Result<(), Refusal> {
    match (venue.scenario, venue.providers.first()) {
        (Some(Scenario::AvailabilityFails), Some(provider)) => {
            Err(Refusal::AvailabilityFailed(*provider))
        }
        _ => Ok(()),
    }
}
