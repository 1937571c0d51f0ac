//! The venues of the five cities: invented names at places that exist.

mod london;

use super::city::{self, City};
use super::draw::Draw;
use super::programme::Programme;
use super::provider::Provider;
use super::venue::Venue;

/// One line of a city's table: what its venues do not have in common.
struct Row {
    /// The venue's part of its id.
    slug: &'static str,
    name: &'static str,
    programme: Programme,
    providers: &'static [Provider],
    address: &'static str,
    latitude: f64,
    longitude: f64,
    price_level: u8,
    /// What it is, then the neighbourhood.
    tags: &'static [&'static str],
}

/// The columns of [`Row`] in their order, so that a table reads as one.
#[allow(clippy::too_many_arguments, reason = "one argument a column")]
const fn row(
    programme: Programme,
    slug: &'static str,
    name: &'static str,
    providers: &'static [Provider],
    address: &'static str,
    (latitude, longitude): (f64, f64),
    price_level: u8,
    tags: &'static [&'static str],
) -> Row {
    Row {
        slug,
        name,
        programme,
        providers,
        address,
        latitude,
        longitude,
        price_level,
        tags,
    }
}

/// Every venue of the five cities.
pub(super) fn city_venues() -> impl Iterator<Item = Venue> {
    [(&city::LONDON, london::VENUES)]
        .into_iter()
        .flat_map(|(home, rows)| rows.iter().map(move |row| row.at(home)))
}

impl Row {
    fn at(&self, home: &'static City) -> Venue {
        let id = format!("ven_{}_{}", home.slug, self.slug);
        Venue {
            key: Draw::about(&id),
            id,
            name: self.name.to_owned(),
            vertical: self.programme.vertical(),
            providers: self.providers.to_vec(),
            address: self.address.to_owned(),
            city: home.name,
            country: home.country,
            latitude: self.latitude,
            longitude: self.longitude,
            timezone_name: home.timezone_name,
            price_level: Some(self.price_level),
            tags: self.tags.iter().map(|&tag| tag.to_owned()).collect(),
            scenario: None,
            programme: self.programme,
            home,
        }
    }
}
