//! A venue.

use jiff::tz::TimeZone;

use super::city::City;
use super::provider::Provider;
use super::scenario::Scenario;
use super::schedule::Schedule;
use super::seeded_random::SeededRandom;
use super::vertical::Vertical;

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
    pub(crate) city: &'static str,
    pub(crate) country: &'static str,
    /// Degrees, WGS 84.
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    /// The zone's IANA name.
    pub(crate) timezone_name: &'static str,
    /// 1 (cheap) to 4 (expensive).
    pub(crate) price_level: Option<u8>,
    pub(crate) tags: Vec<String>,
    pub(crate) scenario: Option<Scenario>,
    /// When it has openings.
    pub(super) schedule: Schedule,
    /// The seed of every random value of this venue.
    pub(super) random: SeededRandom,
    pub(super) home: &'static City,
}

impl Venue {
    /// The venue's zone. The first call for a city parses it.
    pub(crate) fn timezone(&self) -> TimeZone {
        self.home.timezone.clone()
    }

    /// The ISO 4217 code of the venue's currency.
    pub(crate) fn currency(&self) -> &'static str {
        self.home.currency.code()
    }
}
