//! What a booking is searched by: its fields without case and accents, and its day.

use std::cell::RefCell;
use std::collections::HashMap;

use jiff::tz::TimeZone;
use serde_json::Value;

use crate::json::{Document, plain};
use crate::model::booking::Booking;
use crate::model::document_time::DocumentTime;
use crate::model::text_fold::{digits, fold};
use crate::model::venue::Venue;

/// The longest part of a field that is searched, in characters.
pub(super) const LONGEST: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Guest,
    Email,
    Phone,
    Venue,
    Id,
}

/// A booking as it is searched.
#[derive(Debug, Default)]
pub(super) struct Text {
    /// In the order of [`Field`]. None of them has a line break.
    pub(super) fields: [String; 5],
    /// The booking's day by the venue's clock.
    pub(super) day: Option<String>,
}

/// The venues that bookings name, each looked up once.
pub(super) struct Venues<'a> {
    look_up: &'a dyn Fn(&str) -> Option<Venue>,
    known: RefCell<HashMap<String, Place>>,
}

#[derive(Clone, Default)]
struct Place {
    name: Option<String>,
    zone: Option<TimeZone>,
}

impl<'a> Venues<'a> {
    pub(super) fn new(look_up: &'a dyn Fn(&str) -> Option<Venue>) -> Self {
        Venues {
            look_up,
            known: RefCell::default(),
        }
    }

    fn place(&self, id: &str) -> Place {
        if let Some(place) = self.known.borrow().get(id) {
            return place.clone();
        }
        let venue = (self.look_up)(id);
        let place = venue.map_or_else(Place::default, |venue| Place {
            name: Some(venue.name().to_owned()),
            zone: venue.timezone(),
        });
        let mut known = self.known.borrow_mut();
        known.insert(id.to_owned(), place.clone());
        place
    }
}

impl Text {
    /// The text of a booking. A guest that the service does not show is taken from the request.
    pub(super) fn of(id: &str, document: &str, request: Option<&str>, venues: &Venues<'_>) -> Self {
        let booking = Document::parse(document.to_owned()).ok();
        let Some(booking) = booking.and_then(Booking::from_document) else {
            let mut text = Text::default();
            text.fields[Field::Id as usize] = line(fold(id));
            return text;
        };
        let mut asked: Option<Value> = None;
        let mut guest = |field: &str| {
            let of = |document: &Value| Some(plain(document.get("customer")?.get(field)?));
            of(booking.value()).or_else(|| {
                let read = || serde_json::from_str(request?).ok();
                of(asked.get_or_insert_with(|| read().unwrap_or_default()))
            })
        };
        let [name, email, phone] =
            ["name", "email", "phone"].map(|it| guest(it).unwrap_or_default());
        let venue_id = booking.venue_id().unwrap_or_default();
        let place = venues.place(&venue_id);
        let venue = booking.venue_name().or(place.name).unwrap_or_default();
        let fields = [
            fold(&name),
            fold(&email),
            digits(&phone),
            fold(&format!("{venue} {venue_id}")),
            fold(id),
        ];
        let time = booking.value().get("datetime").and_then(DocumentTime::read);
        let day = time.and_then(|time| time.day_in(place.zone.as_ref()));
        Text {
            fields: fields.map(line),
            day: day.map(|day| day.to_string()),
        }
    }
}

fn line(text: String) -> String {
    // SQLite compares no further than a NUL.
    text.replace(['\n', '\0'], " ")
        .chars()
        .take(LONGEST)
        .collect()
}
