//! A venue.

use std::borrow::Cow;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::city::City;
use super::own_offer::OwnOffer;
use super::scenario::Scenario;
use super::schedule::{Schedule, Vertical};
use super::seeded_random::SeededRandom;

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

/// A venue as a search returns it ("Resources: Venue").
#[derive(Clone, Debug)]
pub(crate) struct Venue {
    /// `ven_` and a slug. Must not change, because slot ids contain its hash.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) vertical: Vertical,
    /// The providers that serve the venue, at least one. With several, a booking must name one.
    pub(crate) providers: Vec<Provider>,
    pub(crate) address: String,
    pub(crate) city: Cow<'static, str>,
    pub(crate) country: Cow<'static, str>,
    /// Degrees, WGS 84.
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    pub(crate) timezone_name: Cow<'static, str>,
    /// 1 (cheap) to 4 (expensive).
    pub(crate) price_level: Option<u8>,
    pub(crate) tags: Vec<String>,
    pub(crate) scenario: Option<Scenario>,
    /// When it has openings, and what they cost.
    pub(super) offer: Offer,
    pub(super) random: SeededRandom,
}

#[derive(Clone, Debug)]
pub(super) enum Offer {
    /// A table of hours, and arithmetic.
    Seeded {
        schedule: Schedule,
        home: &'static City,
    },
    /// The fixture that describes the venue.
    Own(Box<OwnOffer>),
}

impl Venue {
    /// A venue with an offer of its own, whose other fields are still blank.
    pub(crate) fn own(id: String, offer: OwnOffer) -> Self {
        Self {
            random: SeededRandom::from_text(&id),
            id,
            name: String::new(),
            vertical: Vertical::Dining,
            providers: Vec::new(),
            address: String::new(),
            city: "".into(),
            country: "".into(),
            latitude: 0.0,
            longitude: 0.0,
            timezone_name: "".into(),
            price_level: None,
            tags: Vec::new(),
            scenario: None,
            offer: Offer::Own(Box::new(offer)),
        }
    }

    /// The venue's zone. The first call for a city parses it.
    pub(crate) fn timezone(&self) -> TimeZone {
        match &self.offer {
            Offer::Seeded { home, .. } => home.timezone.clone(),
            Offer::Own(own) => own.timezone.clone(),
        }
    }

    pub(crate) const fn is_own(&self) -> bool {
        matches!(self.offer, Offer::Own(_))
    }

    /// The ISO 4217 code of the venue's currency.
    pub(crate) fn currency(&self) -> &'static str {
        match &self.offer {
            Offer::Seeded { home, .. } => home.currency.code,
            Offer::Own(own) => own.currency(),
        }
    }
}
