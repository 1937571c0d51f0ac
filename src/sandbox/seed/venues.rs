//! Every venue: those of the five cities, which `venues.csv` lists, then those of the scenarios.

use std::sync::LazyLock;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::city::{CITIES, Currency, SANDBOX, timezone};
use super::offer::{SlotPlan, Vertical};
use super::scenario::Scenario;

/// A provider. Only A modifies and cancels at the venue, only B has connected person sessions, C
/// has neither ("Booking Service Interface Specification", opening).
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
pub(crate) struct SeedVenue {
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
    pub(crate) offer: SlotPlan,
    /// The days on which it offers nothing.
    pub(crate) closed: Vec<Date>,
}

impl SeedVenue {
    pub(crate) fn sole_provider(&self) -> Option<Provider> {
        if let [provider] = self.providers.as_slice() { Some(*provider) } else { None }
    }
}

/// Invented names at places that exist, at least six of each vertical in every city.
const CSV: &str = include_str!("venues.csv");

/// Its lists are separated by `|`.
#[derive(Debug, Deserialize)]
struct CsvRow {
    city: String,
    vertical: Vertical,
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

pub(crate) fn venues<'a>() -> impl Iterator<Item = &'a SeedVenue> {
    let (listed, of_scenarios): (&'a [SeedVenue], &'a [SeedVenue]) = (listed(), of_scenarios());
    listed.iter().chain(of_scenarios)
}

pub(crate) fn venue(id: &str) -> Option<&'static SeedVenue> {
    // Those of the scenarios first: to read the file takes a tenth of a booking.
    let is_it = |venue: &&SeedVenue| venue.id == id;
    of_scenarios().iter().find(is_it).or_else(|| listed().iter().find(is_it))
}

fn listed() -> &'static [SeedVenue] {
    // A test reads every line of the file, so that none is left out here.
    static LISTED: LazyLock<Vec<SeedVenue>> =
        LazyLock::new(|| rows().filter_map(|row| row.ok()?.venue()).collect());
    &LISTED
}

fn of_scenarios() -> &'static [SeedVenue] {
    static OF_SCENARIOS: LazyLock<Vec<SeedVenue>> = LazyLock::new(scenario_venues);
    &OF_SCENARIOS
}

fn rows() -> impl Iterator<Item = csv::Result<CsvRow>> {
    csv::Reader::from_reader(CSV.as_bytes()).into_deserialize()
}

impl CsvRow {
    /// The venue, or `None` if its city or a provider is unknown.
    fn venue(self) -> Option<SeedVenue> {
        let city = CITIES.iter().find(|it| it.slug == self.city)?;
        let providers = self.providers.split('|').map(Provider::parse);
        Some(SeedVenue {
            id: format!("ven_{}_{}", city.slug, self.slug),
            name: self.name,
            vertical: self.vertical,
            providers: providers.collect::<Option<_>>()?,
            address: self.address,
            latitude: self.latitude,
            longitude: self.longitude,
            price_level: Some(self.price_level),
            tags: self.tags.split('|').map(str::to_owned).collect(),
            scenario: None,
            is_own: false,
            offer: SlotPlan::of_vertical(self.vertical, self.price_level, city),
            closed: Vec::new(),
            currency: city.currency,
            city: city.name.to_owned(),
            country: city.country.to_owned(),
            timezone: timezone(city.timezone).unwrap_or(TimeZone::UTC),
        })
    }
}

/// The venues of the scenarios in the made-up city, in the order of [`Scenario::all`], each a
/// little apart from the others.
fn scenario_venues() -> Vec<SeedVenue> {
    let mut venues = Vec::new();
    for scenario in Scenario::all() {
        for providers in servings(scenario) {
            let number = venues.len() + 1;
            let (slug, title) = (scenario.name(), scenario.title());
            let (id, name) = match providers {
                [Provider::B] => (format!("ven_{slug}_b"), format!("{title} B ({slug})")),
                [Provider::C] => (format!("ven_{slug}_c"), format!("{title} C ({slug})")),
                _ => (format!("ven_{slug}"), format!("{title} ({slug})")),
            };
            venues.push(SeedVenue {
                id,
                name,
                vertical: Vertical::Dining,
                providers: providers.to_vec(),
                address: format!("{number} Example Street"),
                latitude: number as f64 / 1_000.0,
                longitude: number as f64 / 1_000.0,
                price_level: Some(2),
                tags: vec!["scenario".to_owned(), format!("scenario:{slug}")],
                scenario: Some(scenario),
                is_own: false,
                offer: SlotPlan::of_scenario(scenario, &SANDBOX),
                closed: Vec::new(),
                currency: SANDBOX.currency,
                city: SANDBOX.name.to_owned(),
                country: SANDBOX.country.to_owned(),
                timezone: TimeZone::UTC,
            });
        }
    }
    venues
}

const fn servings(scenario: Scenario) -> &'static [&'static [Provider]] {
    use Provider::{A, B, C};
    match scenario {
        Scenario::Confirms | Scenario::Otp | Scenario::Processing | Scenario::ProviderFails => {
            &[&[A], &[B], &[C]]
        }
        Scenario::MultiProvider => &[&[A, C]],
        _ => &[&[A]],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{venue as find, *};

    #[test]
    fn every_line_of_the_file_is_a_venue_with_all_its_fields() {
        let lines = CSV.lines().skip(1).count();
        assert_eq!(lines, 125);
        for (place, row) in rows().enumerate() {
            let row = row.unwrap();
            let text = format!("{row:?}");
            let venue = row.venue().unwrap_or_else(|| panic!("{text}"));
            assert_eq!(venue.tags.len(), 2, "{text}");
            for field in [&venue.name, &venue.address].into_iter().chain(&venue.tags) {
                assert!(!field.is_empty() && field.trim() == field, "{text}");
            }
            assert_eq!(listed()[place].id, venue.id);
        }
        assert_eq!(listed().len(), lines);
    }

    #[test]
    fn ids_are_slugs_and_no_two_are_alike() {
        let slug = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_';
        let (mut ids, mut names) = (HashSet::new(), HashSet::new());
        for venue in venues() {
            let is_slug = venue.id.starts_with("ven_") && venue.id.bytes().all(slug);
            assert!(is_slug && ids.insert(&venue.id), "{}", venue.id);
            assert!(names.insert(&venue.name), "{}", venue.name);
            assert_eq!(find(&venue.id).unwrap().name, venue.name);
        }
        assert!(find("ven_london_").is_none());
    }
}
