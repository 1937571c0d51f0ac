//! The venues of a search. Their row numbers are saved as `@1`, `@2`, ….

use super::fields::Fields;
use super::{joined, numbered};
use crate::json::plain;
use crate::service::documents::venue::Venue;
use crate::terminal::output::{Page, TableCell};

pub(crate) fn venues_page(venues: &[Venue]) -> Page {
    let headers = ["name", "address", "price", "provider", "away", "tags", "venue id"];
    let rows = venues.iter().map(|venue| {
        let details = VenueDetails::from_venue(venue);
        let text = |text: Option<String>| TableCell::from(text.unwrap_or_default());
        let signs = details.price.map(|level| "$".repeat(level as usize));
        let away = details.away.map(|km| format!("{km:.1} km"));
        let cells = vec![
            venue.name().into(),
            text(details.address),
            text(details.price.map(|level| level.to_string())).in_short(signs),
            text(details.providers),
            text(details.away.map(|km| km.to_string())).in_short(away),
            text(details.tags),
            venue.id().into(),
        ];
        (cells, details.also)
    });
    numbered(&headers, &[6, 0, 1, 2, 3, 4, 5], rows)
}

struct VenueDetails {
    address: Option<String>,
    price: Option<u64>,
    providers: Option<String>,
    away: Option<f64>,
    tags: Option<String>,
    /// All that is not understood, as it came.
    also: Option<String>,
}

impl VenueDetails {
    fn from_venue(venue: &Venue) -> Self {
        let mut fields = Fields::from_document(&venue.value);
        // What every row has, what was asked for, and what only programs need.
        for name in "venue_id name vertical latitude longitude timezone".split(' ') {
            fields.scalar(name);
        }
        let address = fields.scalar("address");
        if address.is_some() {
            fields.text("city");
            fields.text("country");
        }
        let level = fields.get("price_level").and_then(|it| it.as_u64());
        let price = level.filter(|level| (1..10).contains(level));
        if price.is_some() {
            fields.scalar("price_level");
        }
        let away = fields.get("distance_km").and_then(|it| it.as_f64());
        if away.is_some() {
            fields.scalar("distance_km");
        }
        VenueDetails {
            address,
            price,
            away,
            providers: texts(&mut fields, "providers").or_else(|| fields.scalar("provider")),
            tags: texts(&mut fields, "tags"),
            also: fields.rest_text(),
        }
    }
}

/// A list of texts, as one text. Any other list is left.
fn texts(fields: &mut Fields<'_>, name: &str) -> Option<String> {
    let list = fields.get(name)?.as_array()?;
    if !list.iter().all(|it| it.is_string()) {
        return None;
    }
    fields.take(name);
    let texts = list.iter().map(plain).filter(|text| !text.is_empty());
    let text = texts.collect::<Vec<_>>().join(", ");
    (!text.is_empty()).then_some(text)
}

pub(crate) fn venue_place(venue: &Venue) -> Option<String> {
    let address = VenueDetails::from_venue(venue).address;
    let is_new = |city: &&str| address.as_ref().is_none_or(|it| !it.contains(city));
    let city = venue.str("city").filter(is_new).map(str::to_owned);
    let zone = venue.str("timezone").map(str::to_owned);
    joined([address, city, zone])
}

/// A venue on one line of a menu: its name, its address, its tags, then all that is not understood.
pub(crate) fn venue_line(venue: &Venue) -> String {
    let details = VenueDetails::from_venue(venue);
    let name = Some(venue.name().to_owned());
    joined([name, details.address, details.tags, details.also]).unwrap_or_default()
}
