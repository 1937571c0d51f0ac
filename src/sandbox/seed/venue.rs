//! A venue.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::money::Currency;
use super::offer::{Offer, Vertical};
use super::scenario::Scenario;

/// A provider. Only A modifies and cancels at the venue, only B has connected person sessions, C has
/// neither ("Booking Service Interface Specification", opening).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Provider {
    #[serde(rename = "provider_a")]
    A,
    #[serde(rename = "provider_b")]
    B,
    #[serde(rename = "provider_c")]
    C,
}

impl Provider {
    pub(crate) const ALL: [Self; 3] = [Self::A, Self::B, Self::C];

    pub(crate) const fn id(self) -> &'static str {
        match self {
            Self::A => "provider_a",
            Self::B => "provider_b",
            Self::C => "provider_c",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.id() == text)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Venue {
    /// Must not change, because slot ids contain its hash.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) vertical: Vertical,
    /// The providers that serve the venue, at least one. With several, a booking must name one.
    pub(crate) providers: Vec<Provider>,
    pub(crate) address: String,
    pub(crate) city: String,
    pub(crate) country: String,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    pub(crate) timezone: TimeZone,
    /// 1 (cheap) to 4 (expensive).
    pub(crate) price_level: Option<u8>,
    pub(crate) tags: Vec<String>,
    pub(crate) scenario: Option<Scenario>,
    pub(crate) is_own: bool,
    pub(crate) currency: Currency,
    pub(crate) offer: Offer,
    /// The days on which it offers nothing.
    pub(crate) closed: Vec<Date>,
}

impl Venue {
    pub(crate) fn sole_provider(&self) -> Option<Provider> {
        match self.providers.as_slice() {
            [provider] => Some(*provider),
            _ => None,
        }
    }
}
