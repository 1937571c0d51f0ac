//! The venues of a search. Their row numbers are saved as `@1`, `@2`, ….

use serde_json::Value;

use crate::json::{Document, plain};
use crate::model::venue::Venue;
use crate::terminal::output::{Page, TableCell, View};

/// A list of venues.
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
        let rows = self.venues.iter().enumerate().map(|(row, venue)| {
            vec![
                TableCell::from(format!("@{}", row + 1)),
                TableCell::from(venue.id()),
                TableCell::from(venue.name()),
                TableCell::from(venue.str("address").unwrap_or_default()),
                TableCell::from(price(venue)),
                TableCell::from(venue.providers().join(", ")),
                TableCell::from(distance(venue)),
                TableCell::from(tags(venue)),
            ]
        });
        let headers = vec![
            "", "venue", "name", "address", "price", "provider", "away", "tags",
        ];
        page.table(headers, rows.collect(), vec![0]);
        page
    }
}

fn price(venue: &Venue) -> String {
    let level = venue
        .value()
        .get("price_level")
        .and_then(Value::as_u64)
        .unwrap_or(0)
        .min(9);
    "$".repeat(usize::try_from(level).unwrap_or(0))
}

fn distance(venue: &Venue) -> String {
    let km = venue.value().get("distance_km").and_then(Value::as_f64);
    km.map(|km| format!("{km:.1} km")).unwrap_or_default()
}

fn tags(venue: &Venue) -> String {
    let tags = venue.value().get("tags").and_then(Value::as_array);
    tags.map(|tags| tags.iter().map(plain).collect::<Vec<_>>().join(", "))
        .unwrap_or_default()
}
