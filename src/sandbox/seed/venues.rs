//! Every venue: those of the five cities, which `venues.csv` lists, then those of the scenarios.

use std::sync::LazyLock;

use serde::Deserialize;

use super::city::City;
use super::scenario_venues::scenario_venues;
use super::schedule::Schedule;
use super::seeded_random::SeededRandom;
use super::venue::{Offer, Provider, Venue};

/// Invented names at places that exist, at least six of each vertical in every city.
const CSV: &str = include_str!("venues.csv");

/// A line of the file. Its lists are separated by `|`.
#[derive(Debug, Deserialize)]
struct CsvRow {
    city: String,
    schedule: Schedule,
    /// The venue's part of its id, after the city's.
    slug: String,
    name: String,
    providers: String,
    address: String,
    latitude: f64,
    longitude: f64,
    price_level: u8,
    tags: String,
}

/// Every venue, in the order in which a search returns them.
pub(crate) fn venues() -> impl Iterator<Item = &'static Venue> {
    listed().iter().chain(of_scenarios())
}

pub(crate) fn venue(id: &str) -> Option<&'static Venue> {
    // Those of the scenarios first: to read the file takes a tenth of a booking.
    let is_it = |venue: &&Venue| venue.id == id;
    let of_scenario = of_scenarios().iter().find(is_it);
    of_scenario.or_else(|| listed().iter().find(is_it))
}

fn listed() -> &'static [Venue] {
    // A test reads every line of the file, so that none is left out here.
    static LISTED: LazyLock<Vec<Venue>> =
        LazyLock::new(|| rows().filter_map(|row| row.ok()?.venue()).collect());
    &LISTED
}

fn of_scenarios() -> &'static [Venue] {
    static OF_SCENARIOS: LazyLock<Vec<Venue>> = LazyLock::new(|| scenario_venues().collect());
    &OF_SCENARIOS
}

fn rows() -> impl Iterator<Item = csv::Result<CsvRow>> {
    csv::Reader::from_reader(CSV.as_bytes()).into_deserialize()
}

impl CsvRow {
    /// The venue, or `None` if its city or a provider is unknown.
    fn venue(self) -> Option<Venue> {
        let home = City::of_slug(&self.city)?;
        let id = format!("ven_{}_{}", home.slug, self.slug);
        let providers = self.providers.split('|').map(Provider::parse);
        Some(Venue {
            random: SeededRandom::from_text(&id),
            id,
            name: self.name,
            vertical: self.schedule.vertical(),
            providers: providers.collect::<Option<_>>()?,
            address: self.address,
            city: home.name.into(),
            country: home.country.into(),
            latitude: self.latitude,
            longitude: self.longitude,
            timezone_name: home.timezone_name.into(),
            price_level: Some(self.price_level),
            tags: self.tags.split('|').map(str::to_owned).collect(),
            scenario: None,
            offer: Offer::Seeded {
                schedule: self.schedule,
                home,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{venue as find, *};
    use crate::sandbox::seed::{Place, Vertical, near_place, near_point, resolve_place};

    const CITIES: [&str; 5] = ["London", "New York", "Paris", "Tokyo", "Sydney"];

    #[test]
    fn every_line_of_the_file_is_a_venue_with_all_its_fields() {
        let lines = CSV.lines().skip(1).count();
        assert_eq!(lines, 125);
        let mut listed = 0;
        for row in rows() {
            let row = row.unwrap();
            let text = format!("{row:?}");
            let venue = row.venue().unwrap_or_else(|| panic!("{text}"));
            assert_eq!(venue.tags.len(), 2, "{text}");
            for field in [&venue.name, &venue.address].into_iter().chain(&venue.tags) {
                assert!(!field.is_empty() && field.trim() == field, "{text}");
            }
            assert_eq!(super::listed()[listed].id, venue.id);
            listed += 1;
        }
        assert_eq!(listed, lines);
    }

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
            assert!(hashes.insert(venue.random.bits(40)), "{}", venue.id);
            assert!((1..=4).contains(&venue.price_level.unwrap()));
            assert_eq!(find(&venue.id).unwrap().name, venue.name);
        }
        assert!(find("ven_london_").is_none());
    }

    #[test]
    fn a_venue_stands_in_its_city() {
        let centres = [
            (51.5074, -0.1278),
            (40.7128, -74.0060),
            (48.8566, 2.3522),
            (35.6812, 139.7671),
            (-33.8688, 151.2093),
        ];
        for (city, (latitude, longitude)) in CITIES.into_iter().zip(centres) {
            for venue in listed().iter().filter(|it| it.city == city) {
                let near = near_point(latitude, longitude, venue.vertical);
                assert!(near.iter().any(|(it, _)| it.id == venue.id), "{}", venue.id);
            }
        }
    }
}
