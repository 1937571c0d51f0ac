//! Venues, and finding one.

use std::sync::LazyLock;

use jiff::tz::TimeZone;

use super::city::City;
use super::draw::Draw;
use super::programme::Programme;
use super::provider::Provider;
use super::scenario::{Scenario, scenario_venues};
use super::venues::city_venues;
use super::vertical::Vertical;

/// A venue as a search returns it ("Resources: Venue").
#[derive(Clone, Debug)]
pub(crate) struct Venue {
    /// `ven_` and a slug; never changes, since slot ids are made from it.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) vertical: Vertical,
    /// Who serves the venue, at least one. With several, a booking has to name one.
    pub(crate) providers: Vec<Provider>,
    pub(crate) address: String,
    pub(crate) city: &'static str,
    pub(crate) country: &'static str,
    /// Degrees, WGS 84.
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    /// The zone's IANA name.
    pub(crate) timezone_name: &'static str,
    /// 1 (modest) to 4 (dear).
    pub(crate) price_level: Option<u8>,
    pub(crate) tags: Vec<String>,
    pub(crate) scenario: Option<Scenario>,
    /// When it offers what.
    pub(super) programme: Programme,
    /// The start of every draw about this venue.
    pub(super) key: Draw,
    pub(super) home: &'static City,
}

impl Venue {
    /// The venue's zone, a shared handle; the first call for a city parses it.
    pub(crate) fn timezone(&self) -> TimeZone {
        self.home.timezone.clone()
    }

    /// ISO 4217 code of what the venue charges in.
    pub(crate) fn currency(&self) -> &'static str {
        self.home.currency.code()
    }
}

/// Every venue: those of the cities, then those of the scenarios.
pub(crate) fn venues() -> &'static [Venue] {
    static VENUES: LazyLock<Vec<Venue>> =
        LazyLock::new(|| city_venues().chain(scenario_venues()).collect());
    &VENUES
}

/// The venue of that id.
pub(crate) fn venue(id: &str) -> Option<&'static Venue> {
    venues().iter().find(|it| it.id == id)
}
