//! The venues of a search. Their row numbers are saved as `@1`, `@2`, ….

use super::fields::Fields;
use crate::json::{Document, plain};
use crate::model::venue::Venue;
use crate::terminal::output::{Page, TableCell, View};

pub(crate) struct VenueList<'a> {
    pub(crate) document: &'a Document,
    pub(crate) venues: &'a [Venue],
}

impl View for VenueList<'_> {
    fn json(&self) -> Document {
        self.document.clone()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        if self.venues.is_empty() {
            return page;
        }
        let mut headers = vec![
            "", "venue", "name", "address", "price", "provider", "away", "tags",
        ];
        let details: Vec<VenueDetails> = self.venues.iter().map(VenueDetails::of).collect();
        // A service that keeps the contract has nothing else to say, and its lists end with the tags.
        let says_more = details.iter().any(|it| it.also.is_some());
        if says_more {
            headers.push("also");
        }
        let rows = self.venues.iter().zip(details).enumerate();
        let rows = rows.map(|(row, (venue, details))| {
            let mut cells = vec![
                TableCell::from(format!("@{}", row + 1)),
                TableCell::from(venue.id()),
                TableCell::from(venue.name()),
                TableCell::from(details.address.unwrap_or_default()),
                TableCell::from(details.price.unwrap_or_default()),
                TableCell::from(details.providers.unwrap_or_default()),
                TableCell::from(details.away.unwrap_or_default()),
                TableCell::from(details.tags.unwrap_or_default()),
            ];
            if says_more {
                cells.push(TableCell::from(details.also.unwrap_or_default()));
            }
            cells
        });
        page.table(headers, rows.collect(), vec![0]);
        page
    }
}

/// What a venue says beside its id and its name, for people.
struct VenueDetails {
    address: Option<String>,
    price: Option<String>,
    providers: Option<String>,
    away: Option<String>,
    tags: Option<String>,
    /// All that is not understood, as it came.
    also: Option<String>,
}

impl VenueDetails {
    fn of(venue: &Venue) -> Self {
        let mut fields = Fields::of(venue.value());
        for shown in ["venue_id", "name"] {
            fields.scalar(shown);
        }
        // What was asked for, and what only programs need.
        for aside in ["vertical", "latitude", "longitude", "timezone"] {
            fields.scalar(aside);
        }
        let address = fields.scalar("address");
        if address.is_some() {
            fields.text("city");
            fields.text("country");
        }
        let level = fields.get("price_level").and_then(|it| it.as_u64());
        let level = level.filter(|level| (1..10).contains(level));
        let price = level.map(|level| "$".repeat(usize::try_from(level).unwrap_or(0)));
        let away = fields.get("distance_km").and_then(|it| it.as_f64());
        let away = away.map(|km| format!("{km:.1} km"));
        for (is_shown, name) in [
            (price.is_some(), "price_level"),
            (away.is_some(), "distance_km"),
        ] {
            if is_shown {
                fields.scalar(name);
            }
        }
        VenueDetails {
            address,
            price,
            away,
            providers: texts(&mut fields, "providers").or_else(|| fields.scalar("provider")),
            tags: texts(&mut fields, "tags"),
            also: Some(fields.rest_text()).filter(|rest| !rest.is_empty()),
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

/// Where a venue is: its address and its time zone.
pub(crate) fn venue_place(venue: &Venue) -> Option<String> {
    let address = VenueDetails::of(venue).address;
    let city = venue.str("city").map(str::to_owned);
    let city = city.filter(|city| {
        address
            .as_ref()
            .is_none_or(|it| !it.contains(city.as_str()))
    });
    let zone = venue.str("timezone").map(str::to_owned);
    let parts: Vec<String> = [address, city, zone].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// A venue on one line of a menu: its name, its address, its tags, then all that is not understood.
pub(crate) fn venue_line(venue: &Venue) -> String {
    let details = VenueDetails::of(venue);
    let parts = [
        Some(venue.name().to_owned()),
        details.address,
        details.tags,
        details.also,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
