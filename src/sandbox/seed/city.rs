//! The cities of the venues.

use std::sync::LazyLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::money::Currency;

#[derive(Debug)]
pub(super) struct City {
    pub(super) name: &'static str,
    /// The city's part of a venue id.
    pub(super) slug: &'static str,
    pub(super) country: &'static str,
    /// The city's centre in degrees.
    #[cfg(test)]
    pub(super) latitude: f64,
    #[cfg(test)]
    pub(super) longitude: f64,
    pub(super) timezone_name: &'static str,
    /// The zone itself, parsed on first use.
    pub(super) timezone: LazyLock<TimeZone>,
    pub(super) currency: Currency,
}

impl City {
    /// The city of a line of `venues.csv`.
    pub(super) fn of_slug(slug: &str) -> Option<&'static Self> {
        [&LONDON, &NEW_YORK, &PARIS, &TOKYO, &SYDNEY]
            .into_iter()
            .find(|it| it.slug == slug)
    }
}

/// The country of a place, if it is one of these cities.
pub(crate) fn country_of(place: &str) -> &'static str {
    let cities = [&LONDON, &NEW_YORK, &PARIS, &TOKYO, &SYDNEY];
    let found = cities.into_iter().find(|it| it.name == place);
    found.map_or(SANDBOX.country, |it| it.country)
}

/// The zone from the bundled database. The system's could differ from machine to machine, which slots
/// must not, and looking there would read its zone directory.
fn zone(name: &'static str) -> TimeZone {
    // A test shows that every name below is bundled.
    TimeZoneDatabase::bundled()
        .get(name)
        .unwrap_or(TimeZone::UTC)
}

pub(super) static LONDON: City = City {
    name: "London",
    slug: "london",
    country: "United Kingdom",
    #[cfg(test)]
    latitude: 51.5074,
    #[cfg(test)]
    longitude: -0.1278,
    timezone_name: "Europe/London",
    timezone: LazyLock::new(|| zone(LONDON.timezone_name)),
    currency: Currency::Gbp,
};

pub(super) static NEW_YORK: City = City {
    name: "New York",
    slug: "new_york",
    country: "United States",
    #[cfg(test)]
    latitude: 40.7128,
    #[cfg(test)]
    longitude: -74.0060,
    timezone_name: "America/New_York",
    timezone: LazyLock::new(|| zone(NEW_YORK.timezone_name)),
    currency: Currency::Usd,
};

pub(super) static PARIS: City = City {
    name: "Paris",
    slug: "paris",
    country: "France",
    #[cfg(test)]
    latitude: 48.8566,
    #[cfg(test)]
    longitude: 2.3522,
    timezone_name: "Europe/Paris",
    timezone: LazyLock::new(|| zone(PARIS.timezone_name)),
    currency: Currency::Eur,
};

pub(super) static TOKYO: City = City {
    name: "Tokyo",
    slug: "tokyo",
    country: "Japan",
    #[cfg(test)]
    latitude: 35.6812,
    #[cfg(test)]
    longitude: 139.7671,
    timezone_name: "Asia/Tokyo",
    timezone: LazyLock::new(|| zone(TOKYO.timezone_name)),
    currency: Currency::Jpy,
};

pub(super) static SYDNEY: City = City {
    name: "Sydney",
    slug: "sydney",
    country: "Australia",
    #[cfg(test)]
    latitude: -33.8688,
    #[cfg(test)]
    longitude: 151.2093,
    timezone_name: "Australia/Sydney",
    timezone: LazyLock::new(|| zone(SYDNEY.timezone_name)),
    currency: Currency::Aud,
};

/// The made-up city of the scenario venues.
pub(super) static SANDBOX: City = City {
    name: "Sandbox",
    slug: "sandbox",
    country: "Nowhere",
    #[cfg(test)]
    latitude: 0.0,
    #[cfg(test)]
    longitude: 0.0,
    timezone_name: "UTC",
    timezone: LazyLock::new(|| zone(SANDBOX.timezone_name)),
    currency: Currency::Eur,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_zone_is_in_the_bundle() {
        for city in [&LONDON, &NEW_YORK, &PARIS, &TOKYO, &SYDNEY, &SANDBOX] {
            assert_eq!(city.timezone.iana_name(), Some(city.timezone_name));
        }
    }
}
