//! Compares what was asked of a booking with what the booking says, under the names and in the shapes that services use. What
//! only one of the two has is no difference, and neither is another notation of the same.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::json::plain;
use crate::service::documents::booking::{Booking, Status};
use crate::service::documents::id::{is_token, same_id};
use crate::service::mapping::{as_it_came, member};
use crate::service::time::document_time::DocumentTime;

/// Fields of both the request and the booking, in which they must agree.
const COMPARED: [&str; 5] = [
    "venue_id",
    "datetime",
    "party_size",
    "customer.name",
    "customer.email",
];

// Names that services use. Each is read in any style (`guestName`).
const VENUES: [&str; 2] = ["venue", "restaurant"];
const TIMES: [&str; 5] = [
    "datetime",
    "starts_at",
    "start_time",
    "start",
    "booking_time",
];
const GUESTS: [&str; 4] = ["customer", "customers", "guest", "guests"];
const NAMES: [&str; 2] = ["name", "full_name"];
const NAME_PARTS: [[&str; 3]; 2] = [
    ["first_name", "given_name", "first"],
    ["last_name", "surname", "last"],
];
const EMAILS: [&str; 2] = ["email", "email_address"];

/// Characters with which a service masks part of a text.
const MASKS: [char; 5] = ['*', '•', '●', '…', '#'];

/// Whether a response is certainly a booking: it has at least three of the fields that the specification states for every
/// booking, or a status that it names and one of the fields by which it can be told from others.
pub(crate) fn is_a_booking(asked: &Value, booking: &Booking) -> bool {
    let value = booking.value();
    let is_stated = |name: &&str| value.get(name).is_some_and(|it| !it.is_null());
    let stated = ["id", "object", "status", "provider"];
    if stated.iter().filter(|name| is_stated(name)).count() >= 3 {
        return true;
    }
    let shows = |name: &str| {
        let agrees = |asked: &Value| {
            let shown = shown(booking, name);
            shown.iter().any(|it| agree(name, asked, it).is_some())
        };
        asked_for(asked, name).is_some_and(agrees)
    };
    !matches!(booking.status(), Status::Other(_)) && COMPARED.into_iter().any(shows)
}

fn asked_for<'a>(asked: &'a Value, name: &str) -> Option<&'a Value> {
    asked.pointer(&format!("/{}", name.replace('.', "/")))
}

/// How a booking differs from what was asked for, such as `venue_id is B, not A`, or `None` if the fields that both
/// have agree. A difference is excused if the booking says that it was modified from what was asked for.
pub(crate) fn difference(asked: &Value, booking: &Booking) -> Option<String> {
    COMPARED.into_iter().find_map(|name| {
        let asked = asked_for(asked, name)?;
        let from = format!("/last_modification/changes/{name}/from");
        let was_asked = |from: &Value| is_scalar(from) && agree(name, asked, from) == Some(true);
        if booking.value().pointer(&from).is_some_and(was_asked) {
            return None;
        }
        contradiction(booking, name, asked)
    })
}

/// The top-level fields in which a booking says something else than what was asked for: the name, and a clause that says
/// so.
pub(crate) fn differences(asked: &Map<String, Value>, booking: &Booking) -> Vec<(String, String)> {
    let contradicted = asked.iter().filter_map(|(name, asked)| {
        contradiction(booking, name, asked).map(|clause| (name.clone(), clause))
    });
    contradicted.collect()
}

/// A clause that says so where all that is said of a field contradicts what was asked for.
fn contradiction(booking: &Booking, name: &str, asked: &Value) -> Option<String> {
    if !is_scalar(asked) {
        return None;
    }
    let shown = shown(booking, name);
    let first = shown.first()?;
    let mut agreed = shown.iter().map(|shown| agree(name, asked, shown));
    let differs = agreed.all(|agreed| agreed == Some(false));
    differs.then(|| format!("{name} is {}, not {}", plain(first), plain(asked)))
}

/// What is said of a field by the booking itself, or else by the answer as it came: the values of the first object that says
/// something. There are several where the booking has several guests.
pub(crate) fn shown(booking: &Booking, field: &str) -> Vec<Value> {
    let mut objects = vec![booking.value().clone()];
    objects.extend(as_it_came(booking));
    // Around the booking as it came, other fields may mean something else.
    if !COMPARED.contains(&field) && field != "seating_preference" {
        objects.truncate(2);
    }
    let said = objects.iter().filter_map(Value::as_object).map(|object| {
        let mut values = values(object, field);
        values.retain(says_something);
        values
    });
    let mut said = said.filter(|values| !values.is_empty());
    said.next().unwrap_or_default()
}

fn is_scalar(value: &Value) -> bool {
    value.is_string() || value.is_number() || value.is_boolean()
}

fn says_something(value: &Value) -> bool {
    is_scalar(value) && !plain(value).trim().is_empty()
}

fn values(object: &Map<String, Value>, field: &str) -> Vec<Value> {
    match field {
        "venue_id" => venue(object).into_iter().cloned().collect(),
        "datetime" => times(object),
        "customer.name" => guests(object).iter().filter_map(name).collect(),
        "customer.email" => {
            let guests = guests(object);
            let emails = guests.iter().filter_map(|guest| first(guest, &EMAILS));
            emails.cloned().collect()
        }
        _ => member(object, field).into_iter().cloned().collect(),
    }
}

fn first<'a>(object: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    let mut members = names.iter().filter_map(|name| member(object, name));
    members.find(|value| says_something(value))
}

/// The id of the venue: in its own field, in the object of the venue, or in the only object that has one.
fn venue(object: &Map<String, Value>) -> Option<&Value> {
    let own = member(object, "venue_id");
    if own.is_some_and(is_token) {
        return own;
    }
    let named = own.into_iter();
    let named = named.chain(VENUES.iter().filter_map(|name| member(object, name)));
    let mut named = named.filter_map(|value| first(value.as_object()?, &["venue_id", "id"]));
    let mut others = object
        .values()
        .filter_map(|it| first(it.as_object()?, &["venue_id"]));
    named.next().or_else(|| {
        let only = others.next()?;
        others.next().is_none().then_some(only)
    })
}

fn times(object: &Map<String, Value>) -> Vec<Value> {
    let day = |object: &Map<String, Value>| {
        let day = plain(first(object, &["date", "day"])?);
        let clock = first(object, &["time"]).map(plain);
        let clock = clock.filter(|clock| clock.contains(':'));
        Some(Value::from(match clock {
            Some(clock) => format!("{day}T{clock}"),
            None => day,
        }))
    };
    let mut found = Vec::new();
    for value in TIMES.iter().filter_map(|name| member(object, name)) {
        match value {
            Value::Object(inner) => found.extend(day(inner)),
            value => found.push(value.clone()),
        }
    }
    found.extend(day(object));
    found.retain(|value| ComparedTime::read(value).is_some());
    found
}

/// The guests of a booking: objects, lists of them, texts, or fields with the guest in their names (`guest_email`).
fn guests(object: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut found = Vec::new();
    for role in GUESTS {
        let one_or_several = match member(object, role) {
            Some(Value::Array(several)) => several.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        for guest in one_or_several {
            match guest {
                Value::Object(guest) => found.push(guest.clone()),
                Value::String(email) if email.contains('@') => {
                    found.push(Map::from_iter([("email".to_owned(), guest.clone())]));
                }
                // A text with digits is an id.
                Value::String(name) if !name.contains(|c: char| c.is_ascii_digit()) => {
                    found.push(Map::from_iter([("name".to_owned(), guest.clone())]));
                }
                _ => {}
            }
        }
        let names = NAMES
            .iter()
            .chain(&EMAILS)
            .chain(NAME_PARTS.iter().flatten());
        let apart = names.filter_map(|name| {
            let value = member(object, &format!("{role}_{name}"))?;
            Some(((*name).to_owned(), value.clone()))
        });
        found.push(apart.collect());
    }
    found
}

/// The name of a guest, whole or in parts.
fn name(guest: &Map<String, Value>) -> Option<Value> {
    if let Some(whole) = first(guest, &NAMES) {
        return Some(whole.clone());
    }
    let parts = NAME_PARTS.iter().filter_map(|names| first(guest, names));
    let parts: Vec<String> = parts.map(plain).collect();
    (!parts.is_empty()).then(|| parts.join(" ").into())
}

/// Whether two values mean the same in another notation: a number as text, the same moment in another form, a name in
/// other letters or in part. `None` if that cannot be said.
fn agree(name: &str, asked: &Value, shown: &Value) -> Option<bool> {
    let (asked_text, shown_text) = (lower(asked), lower(shown));
    Some(match name {
        "venue_id" => same_id(&plain(asked), &plain(shown)),
        "datetime" => return ComparedTime::read(asked)?.is(&ComparedTime::read(shown)?),
        "customer.name" => same_name(&asked_text, &shown_text),
        _ => match (asked_text.parse::<f64>(), shown_text.parse::<f64>()) {
            (Ok(asked), Ok(shown)) => asked == shown,
            _ => hides(&asked_text, &shown_text),
        },
    })
}

fn lower(value: &Value) -> String {
    plain(value).trim().to_lowercase().replace("...", "…")
}

/// Whether two names may be the same guest: the same words in any order, ignoring case and punctuation. Of a masked
/// name or one with initials, only what it shows is compared.
fn same_name(asked: &str, shown: &str) -> bool {
    let words = |name: &str| -> Vec<String> {
        let words = name.split(|c: char| c.is_whitespace() || c == ',');
        let words = words.map(|word| word.trim_end_matches('.').to_owned());
        words.filter(|word| !word.is_empty()).collect()
    };
    let (mut asked, mut shown) = (words(asked), words(shown));
    asked.sort();
    shown.sort();
    let is_part = |word: &String| {
        let is_initial = word.chars().count() == 1;
        asked
            .iter()
            .any(|asked| hides(asked, word) || is_initial && asked.starts_with(word.as_str()))
    };
    shown == asked || !shown.is_empty() && shown.len() <= asked.len() && shown.iter().all(is_part)
}

/// Whether a text is another one, perhaps masked between its first and its last characters. A mask stands for any number of
/// them.
fn hides(whole: &str, shown: &str) -> bool {
    match (shown.split(MASKS).next(), shown.rsplit(MASKS).next()) {
        (Some(first), Some(last)) if shown.contains(MASKS) => {
            whole.starts_with(first) && whole.ends_with(last)
        }
        _ => whole == shown,
    }
}

/// A time in a document: RFC 3339 with or without an offset, a date alone, or seconds or milliseconds since 1970.
struct ComparedTime {
    instant: Option<Timestamp>,
    /// What a clock shows then, if the text has it.
    clock: Option<DateTime>,
    /// The first and the last day that it may be at the venue.
    days: (Date, Date),
}

impl ComparedTime {
    /// Reads a time. Returns `None` for everything that is not certainly one.
    fn read(value: &Value) -> Option<Self> {
        let text = plain(value);
        let text = text.trim();
        if text.len() <= 10
            && !text.contains(':')
            && let Ok(day) = text.parse::<Date>()
        {
            return Some(ComparedTime {
                instant: None,
                clock: None,
                days: (day, day),
            });
        }
        let number = text.parse::<f64>().ok();
        let time = match number {
            Some(number) => DocumentTime::read(&Value::from(number.trunc() as i64))?,
            None => DocumentTime::read(value)?,
        };
        let utc = time.instant.map(|at| TimeZone::UTC.to_datetime(at));
        let days = match time.local {
            Some(local) => (local.date(), local.date()),
            None => (utc?.date().yesterday().ok()?, utc?.date().tomorrow().ok()?),
        };
        Some(ComparedTime {
            instant: time.instant,
            clock: time.local.or_else(|| utc.filter(|_| number.is_none())),
            days,
        })
    }

    /// Whether both are the same moment. A time without an offset is compared with the clock of the other one, as it is
    /// written. `None` if that cannot be said: a date alone shows at most that it is another one.
    fn is(&self, other: &Self) -> Option<bool> {
        if let (Some(one), Some(other)) = (self.instant, other.instant) {
            return Some(one == other);
        }
        if let (Some(one), Some(other)) = (self.clock, other.clock) {
            return Some(one == other);
        }
        let is_apart = self.days.1 < other.days.0 || other.days.1 < self.days.0;
        is_apart.then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn booking(mut shown: Value) -> Booking {
        shown["id"] = "bk_1".into();
        shown["status"] = "confirmed".into();
        Booking::from_document(shown.into()).unwrap()
    }

    #[test]
    fn what_a_service_writes_its_own_way_is_no_difference() {
        let asked = json!({
            "venue_id": "17", "datetime": "2026-12-01T19:30:00+01:00", "party_size": 2,
            "customer": {"name": "Ada  Lovelace", "email": "ADA@x.example"},
        });
        for shown in [
            json!({"venue_id": 17, "party_size": "2", "datetime": "2026-12-01T18:30:00Z"}),
            json!({"datetime": {"date": "2026-12-01", "time": "19:30"}}),
            json!({"venue": {"venue_id": "17"}}),
            json!({"venue": {"id": 17, "name": "Hut"}}),
            json!({"venue_id": "https://a.example/v1/venues/17"}),
            json!({"party_size": 2.0}),
            json!({"guest": {"first_name": "Ada", "last_name": "Lovelace"}}),
            json!({"guest_name": "Lovelace, Ada"}),
            json!({"guests": [{"name": "Bob"}, {"name": "Ada Lovelace"}]}),
            json!({"guests": 2, "customer": "cus_1"}),
            json!({"customer": {"name": "*** Love*"}}),
            json!({"customer": {"name": "Ada L.", "email": "a***@x.example"}}),
            json!({"customer": "Ada Lovelace", "venue_id": {"id": "17"}}),
            json!({"venue_id": null}),
            json!({"party_size": 4, "last_modification": {"changes": {"party_size": {"from": 2, "to": 4}}}}),
        ] {
            assert_eq!(difference(&asked, &booking(shown.clone())), None, "{shown}");
        }
        for (shown, difference_to) in [
            (json!({"venue_id": 18}), "venue_id is 18"),
            (
                json!({"party_size": 4, "last_modification": {"changes": {"party_size": {"from": 3, "to": 4}}}}),
                "party_size is 4",
            ),
            (json!({"restaurant": {"id": 18}}), "venue_id is 18"),
            (json!({"venue": {"venue_id": "18"}}), "venue_id is 18"),
            (json!({"party_size": 2.5}), "party_size is 2.5"),
            (json!({"datetime": "2026-12-02"}), "datetime is 2026-12-02"),
            (
                json!({"datetime": {"date": "2026-12-01", "time": "20:30"}}),
                "datetime is 2026-12-01T20:30",
            ),
            (
                json!({"guest": {"first_name": "Bob", "last_name": "Lovelace"}}),
                "customer.name is Bob Lovelace",
            ),
            (json!({"guest_first_name": "Bob"}), "customer.name is Bob"),
            (
                json!({"guests": [{"name": "Bob"}, {"name": "Eve"}]}),
                "customer.name is Bob",
            ),
            (
                json!({"customer": {"name": "Bob*"}}),
                "customer.name is Bob*",
            ),
            (
                json!({"customer": {"name": "Ada X."}}),
                "customer.name is Ada X.",
            ),
            (
                json!({"customer": {"name": "Ada Love"}}),
                "customer.name is Ada Love",
            ),
            (json!({"customer": "Eve"}), "customer.name is Eve"),
            (
                json!({"guest_email": "b***@x.example"}),
                "customer.email is b***@x.example",
            ),
        ] {
            let found = difference(&asked, &booking(shown)).unwrap();
            assert!(
                found.starts_with(&format!("{difference_to}, not ")),
                "{found}"
            );
        }
    }

    #[test]
    fn a_moment_is_the_same_in_each_notation_and_another_one_otherwise() {
        let zoned = json!("2026-12-01T19:30:00+01:00");
        let utc = json!("2026-12-01T19:30:00Z");
        for (asked, shown, is_same) in [
            (&zoned, json!("2026-12-01T18:30:00Z"), Some(true)),
            (&zoned, json!("2026-12-01 19:30"), Some(true)),
            (&zoned, json!(1_796_149_800), Some(true)),
            (&zoned, json!("1796149800.0"), Some(true)),
            (&zoned, json!("1796149800000"), Some(true)),
            (&zoned, json!(1.7961498e12), Some(true)),
            (&zoned, json!("2026-12-01T19:30:00Z"), Some(false)),
            (&zoned, json!("2026-12-01T20:30"), Some(false)),
            (&zoned, json!("20261202"), Some(false)),
            (&zoned, json!(1_796_149_801_000_i64), Some(false)),
            (&zoned, json!(1_796_149_860.5), Some(false)),
            (&zoned, json!("2026-12-01"), None),
            (&zoned, json!("on Tuesday"), None),
            (&zoned, json!("19:30"), None),
            (&zoned, json!(20), None),
            // A time in UTC is compared with the clock of UTC, and its day at the venue may be another one.
            (&utc, json!("2026-12-01T19:30"), Some(true)),
            (&utc, json!("2026-12-01T20:30"), Some(false)),
            (&utc, json!("2026-12-02"), None),
            (&utc, json!("2026-12-03"), Some(false)),
            (&json!(1_796_149_800), json!("2026-12-01T19:30"), None),
        ] {
            assert_eq!(agree("datetime", asked, &shown), is_same, "{asked} {shown}");
        }
    }
}
