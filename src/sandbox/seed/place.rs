//! Where a search looks: a place by its name, or the surroundings of a point.

use unicode_normalization::UnicodeNormalization;

use super::city::{CITIES, City, SANDBOX};
use super::venues::SeedVenue;

const REACH_KM: f64 = 50.0;
const EARTH_RADIUS_KM: f64 = 6_371.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeedPlace {
    City(&'static str),
    Outage,
    PartialOutage,
}

/// The place that a text names, if known. Case, spacing, punctuation, accents and postcodes are
/// ignored. Other words may surround a city: a district, an address, a region.
pub(crate) fn resolve_place(text: &str) -> Option<SeedPlace> {
    let parts = parts(text);
    let city_in = |part: &String| CITIES.iter().find(|city| city.is_named(part));
    match parts.join(" ").as_str() {
        "outage" => return Some(SeedPlace::Outage),
        "partial outage" => return Some(SeedPlace::PartialOutage),
        _ => {}
    }
    let is_sandbox = parts.iter().any(|part| SANDBOX.is_named(part));
    // An address may be in a street that is named for another city.
    let found = parts.iter().rev().find_map(city_in);
    is_sandbox.then_some(&SANDBOX).or(found).map(|it| SeedPlace::City(it.name))
}

/// Whether a text, or one of its parts between commas, is the name of a city.
pub(crate) fn names_city(text: &str, city: &str) -> bool {
    !city.is_empty() && text.trim() == city || parts(text).contains(&plain(city))
}

impl City {
    fn is_named(&self, part: &str) -> bool {
        let part = format!(" {part} ");
        let mut names = self.names.iter().map(|name| format!(" {name} "));
        names.any(|name| part.starts_with(&name) || part.ends_with(&name))
    }
}

fn parts(text: &str) -> Vec<String> {
    text.split(',').map(plain).filter(|it| !it.is_empty()).collect()
}

/// A text in lower case, without accents, punctuation and words with a digit (postcodes).
fn plain(text: &str) -> String {
    let is_mark = |it: &char| matches!(it, '\'' | '’' | '\u{300}'..='\u{36f}');
    let text: String = text
        .to_lowercase()
        .nfd()
        .filter(|it| !is_mark(it))
        .nfc()
        .map(|it| if it.is_alphanumeric() { it } else { ' ' })
        .collect();
    let words = text.split_whitespace();
    let words = words.filter(|word| !word.contains(|it: char| it.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

impl SeedPlace {
    /// The city of its venues. The invented city's are at the outages too, and fail there.
    pub(crate) const fn city(self) -> &'static str {
        match self {
            Self::City(name) => name,
            Self::Outage | Self::PartialOutage => SANDBOX.name,
        }
    }
}

/// The distance of a venue from a point in km; `None` if it is more than 50 km.
pub(crate) fn within_reach(latitude: f64, longitude: f64, venue: &SeedVenue) -> Option<f64> {
    let half_chord = |one: f64, other: f64| ((other - one).to_radians() / 2.0).sin().powi(2);
    let parallels = latitude.to_radians().cos() * venue.latitude.to_radians().cos();
    let a =
        half_chord(latitude, venue.latitude) + parallels * half_chord(longitude, venue.longitude);
    let distance = 2.0 * EARTH_RADIUS_KM * a.clamp(0.0, 1.0).sqrt().asin();
    (distance <= REACH_KM).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::seed::venues;

    #[test]
    fn a_place_is_known_by_the_names_people_give_it() {
        for (text, city) in [
            ("London", "London"),
            ("  lOnDoN,UK ", "London"),
            ("Soho, London", "London"),
            ("1 London Road, Sydney", "Sydney"),
            ("Greater London", "London"),
            ("12 Some Street, Nowhere-in-Particular, London, United Kingdom", "London"),
            ("10 Example Road, London W1D 4HS, England, UK", "London"),
            ("SoHo, New York", "New York"),
            ("NYC", "New York"),
            ("New York, New York", "New York"),
            ("Chelsea, New York, NY 10011", "New York"),
            ("New York City", "New York"),
            ("new york, ny, usa", "New York"),
            ("paris france", "Paris"),
            ("Saint-Germain-des-Prés, Paris", "Paris"),
            ("Saint-Germain-des-Pre\u{301}s, Paris", "Paris"),
            ("75004 Paris", "Paris"),
            ("10 Rue X, 75018 Paris, Île-de-France, France", "Paris"),
            ("Tōkyō", "Tokyo"),
            ("東京", "Tokyo"),
            ("Shibuya-ku, Tokyo", "Tokyo"),
            ("Sydney NSW", "Sydney"),
            ("sandbox", "Sandbox"),
            ("Sandbox, Nowhere", "Sandbox"),
        ] {
            assert_eq!(resolve_place(text), Some(SeedPlace::City(city)), "{text}");
        }
        assert_eq!(resolve_place("OUTAGE"), Some(SeedPlace::Outage));
        assert_eq!(resolve_place("partial  outage"), Some(SeedPlace::PartialOutage));
        assert!(names_city("Town1", "Town1") && !names_city("", ""));
    }

    #[test]
    fn a_namesake_and_an_unknown_place_are_no_place() {
        for text in [
            "",
            " ",
            ",",
            "x",
            "Atlantis",
            "Albany, NY",
            "Albany, NY, USA",
            "Manchester, England",
            "Londonderry",
            "New",
            "York",
            "UK",
            "France",
            "\u{202e}nodnoL",
        ] {
            assert_eq!(resolve_place(text), None, "{text}");
        }
    }

    #[test]
    fn the_address_of_every_venue_leads_to_its_city() {
        for venue in venues().filter(|it| it.scenario.is_none()) {
            let address = format!("{}, {}, {}", venue.address, venue.city, venue.country);
            let found = resolve_place(&address);
            assert!(
                matches!(found, Some(SeedPlace::City(city)) if city == venue.city),
                "{address}"
            );
        }
    }

    #[test]
    fn a_text_of_any_length_is_soon_read() {
        assert_eq!(resolve_place(&"a,".repeat(200_000)), None);
        assert_eq!(resolve_place(&"new yorker ".repeat(50_000)), None);
    }
}
