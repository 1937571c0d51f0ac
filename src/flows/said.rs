//! What a booking says of a field of its request, under the names and in the shapes that services use.

use serde_json::{Map, Value};

use super::compared_time::ComparedTime;
use crate::adapter::{as_it_came, member};
use crate::json::plain;
use crate::model::booking::Booking;
use crate::model::id::is_token;

// Names of fields, with blanks between them.
const GUEST: &str = "customer customers guest guests diner diners booker lead_guest primary_guest main_guest \
    guest_details customer_details";
/// What stands before the name or the e-mail address of a guest that has no object.
const GUEST_PREFIX: [&str; 4] = ["customer_", "guest_", "diner_", "booker_"];
const FIRST_NAME: &str = "first_name given_name forename first given";
const LAST_NAME: &str = "last_name family_name surname last family";
const FULL_NAME: &str = "name full_name display_name";
const EMAIL: &str = "email email_address mail";
const VENUE: [&str; 2] = ["venue", "restaurant"];
const TIME: &str = "datetime starts_at start_at start_time start reservation_time booking_time";

/// The objects of an answer that say something of its booking.
pub(super) struct Said(Vec<Value>);

impl Said {
    /// What is said of a booking: by itself, and by the answer as it came.
    pub(super) fn by(booking: &Booking) -> Self {
        let mut objects = vec![booking.value().clone()];
        objects.extend(as_it_came(booking));
        Said(objects)
    }

    /// What is said of a field: the values of the first object that says something. There are several where the booking has
    /// several guests. `is_known` is whether the field means the same in the objects around the booking.
    pub(super) fn of(&self, field: &str, is_known: bool) -> Vec<Value> {
        /// The booking in the contract's shape, and as it came.
        const ITSELF: usize = 2;
        let objects = if is_known { self.0.len() } else { ITSELF };
        let objects = self.0.iter().take(objects).filter_map(Value::as_object);
        let mut said = objects.map(|object| {
            let mut values = values(object, field);
            values.retain(|value| is_scalar(value) && !plain(value).trim().is_empty());
            values
        });
        said.find(|values| !values.is_empty()).unwrap_or_default()
    }
}

pub(super) fn is_scalar(value: &Value) -> bool {
    value.is_string() || value.is_number() || value.is_boolean()
}

fn values(object: &Map<String, Value>, field: &str) -> Vec<Value> {
    match field {
        "venue_id" => venue(object).cloned().into_iter().collect(),
        "datetime" => times(object),
        "customer.name" => {
            let mut names: Vec<String> = people(object).flat_map(names_of).collect();
            names.extend(
                GUEST_PREFIX
                    .iter()
                    .filter_map(|prefix| name(object, prefix)),
            );
            names.into_iter().map(Value::from).collect()
        }
        "customer.email" => {
            let mut emails: Vec<String> = people(object).flat_map(emails_of).collect();
            let apart = GUEST_PREFIX.iter();
            emails.extend(apart.filter_map(|prefix| text(object, prefix, "email")));
            emails.into_iter().map(Value::from).collect()
        }
        _ => member(object, field).cloned().into_iter().collect(),
    }
}

/// The id of the venue: in its own field, in the object of the venue, or in the only object that has one.
fn venue(object: &Map<String, Value>) -> Option<&Value> {
    let inner = |value| inner_id(value, &["venue_id", "id"]);
    if let Some(own) = member(object, "venue_id") {
        return if is_token(own) { Some(own) } else { inner(own) };
    }
    let mut named = VENUE.iter().filter_map(|name| inner(member(object, name)?));
    let mut others = object
        .values()
        .filter_map(|value| inner_id(value, &["venue_id"]));
    named.next().or_else(|| {
        let only = others.next()?;
        others.next().is_none().then_some(only)
    })
}

/// The first of these members of an object that is an id.
fn inner_id<'a>(value: &'a Value, names: &[&str]) -> Option<&'a Value> {
    let object = value.as_object()?;
    let mut ids = names.iter().filter_map(|name| member(object, name));
    ids.find(|id| is_token(id))
}

fn times(object: &Map<String, Value>) -> Vec<Value> {
    let day = |object: &Map<String, Value>| {
        let day = text(object, "", "date day")?;
        let clock = text(object, "", "time").filter(|clock| clock.contains(':'));
        Some(Value::from(
            clock.map_or(day.clone(), |clock| format!("{day}T{clock}")),
        ))
    };
    let mut found = Vec::new();
    for value in TIME.split(' ').filter_map(|name| member(object, name)) {
        match value {
            Value::Object(inner) => found.extend(day(inner)),
            value => found.push(value.clone()),
        }
    }
    found.extend(day(object));
    found.retain(|value| ComparedTime::read(value).is_some());
    found
}

fn people(object: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    GUEST.split(' ').filter_map(|name| member(object, name))
}

/// The names of a person, or of each of several.
fn names_of(person: &Value) -> Vec<String> {
    match person {
        Value::Array(people) => people.iter().flat_map(names_of).collect(),
        Value::Object(person) => name(person, "").into_iter().collect(),
        // A text with digits is an id.
        Value::String(text) if !text.contains(|c: char| c == '@' || c.is_ascii_digit()) => {
            vec![text.clone()]
        }
        _ => Vec::new(),
    }
}

/// The name of a person, whole or in parts.
fn name(person: &Map<String, Value>, prefix: &str) -> Option<String> {
    let parts = || {
        let parts = [FIRST_NAME, LAST_NAME].map(|names| text(person, prefix, names));
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    };
    let inner = || match member(person, &format!("{prefix}name"))? {
        Value::Object(inner) => name(inner, ""),
        _ => None,
    };
    text(person, prefix, FULL_NAME)
        .or_else(parts)
        .or_else(inner)
}

fn emails_of(person: &Value) -> Vec<String> {
    match person {
        Value::Array(people) => people.iter().flat_map(emails_of).collect(),
        Value::Object(person) => text(person, "", EMAIL).into_iter().collect(),
        Value::String(text) if text.contains('@') => vec![text.clone()],
        _ => Vec::new(),
    }
}

/// The first of these members that is a text. The prefix stands before each name.
fn text(object: &Map<String, Value>, prefix: &str, names: &str) -> Option<String> {
    let values = names
        .split(' ')
        .filter_map(|name| member(object, &format!("{prefix}{name}")));
    let mut texts = values.filter_map(Value::as_str);
    texts
        .find(|text| !text.trim().is_empty())
        .map(str::to_owned)
}
