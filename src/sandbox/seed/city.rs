//! The cities of the venues.

use std::sync::LazyLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::money::{AUD, Currency, EUR, GBP, JPY, USD};

#[derive(Debug)]
pub(super) struct City {
    pub(super) name: &'static str,
    /// The city's part of a venue id.
    pub(super) slug: &'static str,
    pub(super) country: &'static str,
    pub(super) timezone_name: &'static str,
    /// The zone itself, parsed on first use.
    pub(super) timezone: LazyLock<TimeZone>,
    pub(super) currency: &'static Currency,
}

#[rustfmt::skip]
static CITIES: [City; 5] = [
    City::new("London", "london", "United Kingdom", "Europe/London", || zone("Europe/London"), &GBP),
    City::new("New York", "new_york", "United States", "America/New_York", || zone("America/New_York"), &USD),
    City::new("Paris", "paris", "France", "Europe/Paris", || zone("Europe/Paris"), &EUR),
    City::new("Tokyo", "tokyo", "Japan", "Asia/Tokyo", || zone("Asia/Tokyo"), &JPY),
    City::new("Sydney", "sydney", "Australia", "Australia/Sydney", || zone("Australia/Sydney"), &AUD),
];

/// The made-up city of the scenario venues.
pub(super) static SANDBOX: City =
    City::new("Sandbox", "sandbox", "Nowhere", "UTC", || zone("UTC"), &EUR);

impl City {
    const fn new(
        name: &'static str,
        slug: &'static str,
        country: &'static str,
        timezone_name: &'static str,
        timezone: fn() -> TimeZone,
        currency: &'static Currency,
    ) -> Self {
        Self {
            name,
            slug,
            country,
            timezone_name,
            timezone: LazyLock::new(timezone),
            currency,
        }
    }

    /// The city of a line of `venues.csv`.
    pub(super) fn of_slug(slug: &str) -> Option<&'static Self> {
        CITIES.iter().find(|it| it.slug == slug)
    }
}

/// The country of a place, if it is one of these cities.
pub(crate) fn country_of(place: &str) -> &'static str {
    let found = CITIES.iter().find(|it| it.name == place);
    found.unwrap_or(&SANDBOX).country
}

/// The zone from the bundled database. The system's could differ from machine to machine, which slots
/// must not, and looking there would read its zone directory.
fn zone(name: &'static str) -> TimeZone {
    // A test shows that every name above is bundled.
    TimeZoneDatabase::bundled()
        .get(name)
        .unwrap_or(TimeZone::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_zone_is_in_the_bundle() {
        for city in CITIES.iter().chain([&SANDBOX]) {
            assert_eq!(city.timezone.iana_name(), Some(city.timezone_name));
        }
    }
}
