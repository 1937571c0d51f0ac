//! The venues of the five cities: invented names at places that exist.

mod london;
mod new_york;
mod paris;
mod sydney;
mod tokyo;

use super::city::{self, City};
use super::draw::Draw;
use super::programme::Programme;
use super::provider::Provider;
use super::venue::Venue;

/// One line of a city's table: what it offers, the venue's part of its id, name, providers, street
/// address, latitude and longitude, price level, and as tags what it is and the neighbourhood.
struct Row(
    Programme,
    &'static str,
    &'static str,
    &'static [Provider],
    &'static str,
    (f64, f64),
    u8,
    &'static [&'static str],
);

/// Every venue of the five cities.
pub(super) fn city_venues() -> impl Iterator<Item = Venue> {
    [
        (&city::LONDON, london::VENUES),
        (&city::NEW_YORK, new_york::VENUES),
        (&city::PARIS, paris::VENUES),
        (&city::TOKYO, tokyo::VENUES),
        (&city::SYDNEY, sydney::VENUES),
    ]
    .into_iter()
    .flat_map(|(home, rows)| rows.iter().map(|row| row.at(home)))
}

impl Row {
    /// The line's venue, with what it shares with its city.
    fn at(&self, home: &'static City) -> Venue {
        let &Self(programme, slug, name, providers, address, (latitude, longitude), level, tags) =
            self;
        let id = format!("ven_{}_{slug}", home.slug);
        Venue {
            key: Draw::about(&id),
            id,
            name: name.to_owned(),
            vertical: programme.vertical(),
            providers: providers.to_vec(),
            address: address.to_owned(),
            city: home.name,
            country: home.country,
            latitude,
            longitude,
            timezone_name: home.timezone_name,
            price_level: Some(level),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            scenario: None,
            programme,
            home,
        }
    }
}
