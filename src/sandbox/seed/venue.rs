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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{venue as find, *};
    use crate::sandbox::seed::{Place, near_place, near_point, resolve_place};

    const CITIES: [&str; 5] = ["London", "New York", "Paris", "Tokyo", "Sydney"];

    #[test]
    fn every_city_has_six_venues_of_each_vertical_and_all_providers_among_them() {
        for (city, vertical) in CITIES
            .into_iter()
            .flat_map(|city| Vertical::ALL.map(|vertical| (city, vertical)))
        {
            let found = near_place(&Place::City(city), vertical);
            assert!(found.len() >= 6, "{city} {vertical:?}");
            for provider in Provider::ALL {
                let alone = |it: &&&Venue| it.providers == [provider];
                assert!(
                    found.iter().any(|it| alone(&it)),
                    "{city} {vertical:?} {provider:?}"
                );
            }
            assert_eq!(resolve_place(city), Some(Place::City(city)));
        }
    }

    #[test]
    fn ids_are_slugs_and_no_two_are_alike_not_even_as_slot_ids_hash_them() {
        let slug = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_';
        let (mut ids, mut names, mut hashes) = (HashSet::new(), HashSet::new(), HashSet::new());
        for venue in venues() {
            assert!(
                venue.id.starts_with("ven_") && venue.id.bytes().all(slug),
                "{}",
                venue.id
            );
            assert!(ids.insert(&venue.id), "{}", venue.id);
            assert!(names.insert(&venue.name), "{}", venue.name);
            assert!(hashes.insert(venue.key.bits(40)), "{}", venue.id);
            assert!((1..=4).contains(&venue.price_level.unwrap()));
            assert_eq!(find(&venue.id).unwrap().name, venue.name);
        }
        assert!(find("ven_london_").is_none());
    }

    #[test]
    fn a_venue_stands_in_its_city() {
        for venue in venues() {
            let (latitude, longitude) = (venue.home.latitude, venue.home.longitude);
            let near = near_point(latitude, longitude, venue.vertical);
            assert!(near.iter().any(|(it, _)| it.id == venue.id), "{}", venue.id);
        }
    }
}
