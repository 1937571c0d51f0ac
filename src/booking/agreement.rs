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
const COMPARED: [&str; 6] =
    ["venue_id", "customer.name", "customer.email", "customer.phone", "datetime", "party_size"];

/// The fields that a modify changes (spec, Bookings).
pub(crate) const MODIFIED: [&str; 3] = ["datetime", "party_size", "seating_preference"];

// Names that services use. Each is read in any style (`guestName`).
const TIMES: [&str; 3] = ["datetime", "starts_at", "start_time"];
const GUESTS: [&str; 4] = ["customer", "customers", "guest", "guests"];

/// Characters with which a service masks part of a text.
const MASKS: [char; 5] = ['*', '•', '●', '…', '#'];

/// Whether a response is certainly a booking: it has an id, a status and the `object` that the specification states for every
/// booking, or a status that it names and one of the fields by which it can be told from others. An envelope may have an id, a
/// status and a provider of its own.
pub(crate) fn is_a_booking(asked: &Value, booking: &Booking) -> bool {
    let object = booking.value().get("object");
    if object.is_some_and(|it| !it.is_null() && !plain(it).to_lowercase().contains("error")) {
        return true;
    }
    let shows = |name: &str| {
        let shown = shown(booking, name);
        let is_comparable = |asked| shown.iter().any(|it| agree(name, asked, it).is_some());
        asked_for(asked, name).is_some_and(is_comparable)
    };
    !matches!(booking.status(), Status::Other(_)) && COMPARED.into_iter().any(shows)
}

fn asked_for<'a>(asked: &'a Value, name: &str) -> Option<&'a Value> {
    asked.pointer(&format!("/{}", name.replace('.', "/")))
}

/// How a booking differs from what was asked for, such as `venue_id is B, not A`, or `None` if the fields that both have agree.
/// `may_be_modified` is whether it may have been changed since: a booking that says so is excused from what a modify changes.
pub(crate) fn difference(
    asked: &Value,
    booking: &Booking,
    may_be_modified: bool,
) -> Option<String> {
    COMPARED.into_iter().find_map(|name| {
        let asked = asked_for(asked, name)?;
        let from = format!("/last_modification/changes/{name}/from");
        let was_asked = |from: &Value| is_scalar(from) && agree(name, asked, from) == Some(true);
        let from = booking.value().pointer(&from);
        if may_be_modified && MODIFIED.contains(&name) && from.is_some_and(was_asked) {
            return None;
        }
        contradiction(booking, name, asked)
    })
}

/// How a booking differs from what was seen or asked for before in what no modify changes: its venue, or its guest, who is
/// still the same where the venue has corrected a name or a number.
pub(crate) fn is_another(before: &Value, booking: &Booking) -> Option<String> {
    let clause = |name: &str| contradiction(booking, name, asked_for(before, name)?);
    let agrees = |name: &str| {
        let before = asked_for(before, name);
        // The earlier look may be the one that was masked.
        let is_same = |shown: &Value, before| {
            agree(name, before, shown) == Some(true) || agree(name, shown, before) == Some(true)
        };
        let shown = shown(booking, name);
        before.is_some_and(|before| shown.iter().any(|it| is_same(it, before)))
    };
    let guest = ["customer.name", "customer.email", "customer.phone"];
    [&["venue_id"], &guest[..]].into_iter().find_map(|fields| {
        let clause = fields.iter().find_map(|name| clause(name))?;
        (!fields.iter().any(|name| agrees(name))).then_some(clause)
    })
}

/// A clause that says so if all that is said of a field contradicts what was asked for.
pub(crate) fn contradiction(booking: &Booking, name: &str, asked: &Value) -> Option<String> {
    let shown = shown(booking, name);
    let first = shown.first().filter(|_| is_scalar(asked))?;
    let differs = |shown| agree(name, asked, shown) == Some(false);
    (shown.iter().all(differs)).then(|| format!("{name} is {}, not {}", plain(first), plain(asked)))
}

/// What is said of a field by the booking itself, or else by the answer as it came: the values of the first object that says
/// something. There are several where the booking has several guests.
pub(crate) fn shown(booking: &Booking, field: &str) -> Vec<Value> {
    let said = |of: &Value| values(of.as_object()?, field);
    said(booking.value()).unwrap_or_else(|| {
        // Around the booking as it came, other fields may mean something else.
        let means_the_same = COMPARED.contains(&field) || field == "seating_preference";
        let objects = as_it_came(booking);
        let mut objects = objects.iter().take(if means_the_same { usize::MAX } else { 1 });
        objects.find_map(said).unwrap_or_default()
    })
}

fn is_scalar(value: &Value) -> bool {
    value.is_string() || value.is_number() || value.is_boolean()
}

/// What an object says of a field, if anything.
fn values(object: &Map<String, Value>, field: &str) -> Option<Vec<Value>> {
    let mut values = match field {
        "venue_id" => venue(object).into_iter().collect(),
        "datetime" => named(object, &TIMES),
        "customer.name" => of_guests(object, &["name", "full_name"]),
        "customer.email" => of_guests(object, &["email", "email_address"]),
        "customer.phone" => of_guests(object, &["phone", "phone_number"]),
        _ => named(object, &[field]),
    };
    values.retain(|value| {
        let says_something = is_scalar(value) && !plain(value).trim().is_empty();
        says_something && (field != "datetime" || DocumentTime::read(value).is_some())
    });
    Some(values).filter(|values| !values.is_empty())
}

fn named(object: &Map<String, Value>, names: &[&str]) -> Vec<Value> {
    let values = names.iter().filter_map(|name| member(object, name));
    values.cloned().collect()
}

/// The id of the venue: in its own field, or in the object of the venue.
fn venue(object: &Map<String, Value>) -> Option<Value> {
    let own = member(object, "venue_id").filter(|id| is_token(id));
    own.cloned().or_else(|| {
        let objects = named(object, &["venue_id", "venue", "restaurant"]);
        let ids = objects.iter().filter_map(Value::as_object);
        ids.flat_map(|venue| named(venue, &["venue_id", "id"])).next()
    })
}

/// What is said of the guests under these names: in the object of a guest, in each of several, or beside the booking's own
/// fields (`guest_email`).
fn of_guests(object: &Map<String, Value>, names: &[&str]) -> Vec<Value> {
    let mut found = Vec::new();
    for role in GUESTS {
        let guests = match member(object, role) {
            Some(Value::Array(several)) => several.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        for guest in guests {
            let own = guest.as_object().map(|it| named(it, names));
            found.extend(own.unwrap_or_default());
            found.extend(name_in(guest).filter(|_| names.contains(&"name")));
        }
        for name in names {
            found.extend(named(object, &[&format!("{role}_{name}")]));
        }
    }
    found
}

/// The name of a guest that is a text, which has two words, or is in parts, beside one another or in an object of their own.
fn name_in(guest: &Value) -> Option<Value> {
    const GIVEN: [&str; 3] = ["first_name", "given_name", "first"];
    const FAMILY: [&str; 3] = ["last_name", "family_name", "last"];
    match guest {
        Value::String(text) => {
            let is_name = text.contains(' ') && !text.contains(|it: char| it.is_ascii_digit());
            is_name.then(|| guest.clone())
        }
        Value::Object(guest) => {
            let inner = member(guest, "name").and_then(Value::as_object);
            let part = |names: &[&str]| named(inner.unwrap_or(guest), names).into_iter().next();
            let parts = [part(&GIVEN), part(&FAMILY)];
            let parts: Vec<String> = parts.iter().flatten().map(plain).collect();
            (!parts.is_empty()).then(|| parts.join(" ").into())
        }
        _ => None,
    }
}

/// Whether two values mean the same in another notation: a number as text, the same moment in another form, a name in
/// other letters or in part. `None` if that cannot be said.
fn agree(name: &str, asked: &Value, shown: &Value) -> Option<bool> {
    let lower = |value: &Value| plain(value).trim().to_lowercase().replace("...", "…");
    let (asked_text, shown_text) = (lower(asked), lower(shown));
    Some(match name {
        "venue_id" => same_id(&plain(asked), &plain(shown)),
        "datetime" => return same_time(asked, shown),
        "customer.name" => same_name(&asked_text, &shown_text),
        "customer.phone" => return same_phone(&asked_text, &shown_text),
        _ => match (asked_text.parse::<f64>(), shown_text.parse::<f64>()) {
            (Ok(asked), Ok(shown)) => asked == shown,
            _ => may_be(&asked_text, &shown_text),
        },
    })
}

/// Whether two names may be the same guest: the same words in any order. Of a masked name or one with initials, only what it
/// shows is compared.
fn same_name(asked: &str, shown: &str) -> bool {
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | '.');
    let words = |name| str::split(name, is_between).filter(|word: &&str| !word.is_empty());
    let is_part = |word: &str| {
        let is_initial = word.chars().count() == 1;
        words(asked).any(|it| may_be(it, word) || is_initial && it.starts_with(word))
    };
    words(shown).count() <= words(asked).count() && words(shown).all(is_part)
}

/// Whether two phone numbers may be one, with or without codes of country and area. `None` for one that is short or masked.
fn same_phone(asked: &str, shown: &str) -> Option<bool> {
    let last = |text: &str| {
        let digits = text.replace(|it: char| !it.is_ascii_digit(), "");
        let from = digits.len().checked_sub(7)?;
        (!text.contains(MASKS)).then(|| digits[from..].to_owned())
    };
    Some(last(asked)? == last(shown)?)
}

/// Whether a text is another one, as far as the other one is not masked.
fn may_be(whole: &str, shown: &str) -> bool {
    match shown.split_once(MASKS) {
        Some((first, _)) => whole.starts_with(first),
        None => whole == shown,
    }
}

/// Whether two times are the same moment. A time without an offset is compared with the clock of the other one, as it is
/// written. `None` if that cannot be said: a date alone shows at most that it is another one.
fn same_time(asked: &Value, shown: &Value) -> Option<bool> {
    let (asked_time, text) = (DocumentTime::read(asked)?, plain(shown));
    if text.len() <= "2026-12-01".len()
        && let Ok(day) = text.parse::<Date>()
    {
        return (asked_time.local?.date() != day).then_some(false);
    }
    let shown_time = DocumentTime::read(shown)?;
    if let Some((asked, shown)) = asked_time.instant.zip(shown_time.instant) {
        return Some(asked == shown);
    }
    let clock = |time: &Value| -> Option<DateTime> {
        let instant = || time.as_str()?.trim().parse::<Timestamp>().ok();
        let local = DocumentTime::read(time)?.local;
        local.or_else(|| Some(TimeZone::UTC.to_datetime(instant()?)))
    };
    Some(clock(asked)? == clock(shown)?)
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
            "customer": {"name": "Ada  Lovelace", "email": "ADA@x.example", "phone": "+44 20 7946 0018"},
        });
        for shown in [
            json!({"venue_id": 17, "party_size": "2", "datetime": "2026-12-01T18:30:00Z"}),
            json!({"venue": {"venue_id": "17"}}),
            json!({"venue": {"id": 17, "name": "Hut"}}),
            json!({"venue_id": "https://a.example/v1/venues/17"}),
            json!({"party_size": 2.0}),
            json!({"guest_name": "Lovelace, Ada"}),
            json!({"customer": {"name": {"last": "Lovelace", "first": "Ada"}}}),
            json!({"customer": {"phone": "+44 (0)20 7946 0018"}}),
            json!({"customer": {"phone": "+44 20 7946 ****"}}),
            json!({"customer": {"first_name": "Ada", "given_name": "Ada", "last_name": "Lovelace"}}),
            json!({"guests": "2 adults"}),
            json!({"guests": [{"name": "Bob"}, {"name": "Ada Lovelace"}]}),
            json!({"guests": 2, "customer": "cus_1"}),
            json!({"customer": {"name": "*** Love*"}}),
            json!({"customer": {"name": "Ada L.", "email": "a***@x.example"}}),
            json!({"venue_id": null}),
            json!({"party_size": 4, "last_modification": {"changes": {"party_size": {"from": 2, "to": 4}}}}),
        ] {
            let found = difference(&asked, &booking(shown.clone()), true);
            assert_eq!(found, None, "{shown}");
        }
        for (shown, difference_to) in [
            (json!({"venue_id": 18}), "venue_id is 18"),
            (
                json!({"party_size": 4, "last_modification": {"changes": {"party_size": {"from": 3, "to": 4}}}}),
                "party_size is 4",
            ),
            (json!({"restaurant": {"id": 18}}), "venue_id is 18"),
            (json!({"customer": "Eve Other"}), "customer.name is Eve Other"),
            (
                json!({"customer": {"first_name": "Eve", "last_name": "Other"}}),
                "customer.name is Eve Other",
            ),
            (
                json!({"customer": {"phone": "+44 99 9999 9999"}}),
                "customer.phone is +44 99 9999 9999",
            ),
            (json!({"venue": {"venue_id": "18"}}), "venue_id is 18"),
            (json!({"party_size": 2.5}), "party_size is 2.5"),
            (json!({"datetime": "2026-12-02"}), "datetime is 2026-12-02"),
            (json!({"guests": [{"name": "Bob"}, {"name": "Eve"}]}), "customer.name is Bob"),
            (json!({"customer": {"name": "Bob*"}}), "customer.name is Bob*"),
            (json!({"customer": {"name": "Ada X."}}), "customer.name is Ada X."),
            (json!({"customer": {"name": "Ada Love"}}), "customer.name is Ada Love"),
            (json!({"guest_email": "b***@x.example"}), "customer.email is b***@x.example"),
        ] {
            let found = difference(&asked, &booking(shown), true).unwrap();
            assert!(found.starts_with(&format!("{difference_to}, not ")), "{found}");
        }
    }

    #[test]
    fn a_guest_is_another_one_if_nothing_that_both_looks_show_agrees() {
        let named = |name: &str, email: &str| json!({"customer": {"name": name, "email": email}});
        let is_another = |before: Value, now| is_another(&before, &booking(now)).is_some();
        let ada = || named("Ada Lovelace", "ada@x.example");
        assert!(!is_another(named("A*", "a***"), ada()), "the earlier look was masked");
        assert!(!is_another(ada(), named("Ada King", "Ada@x.example")));
        assert!(is_another(ada(), named("Eve", "eve@x.example")));
        assert!(is_another(json!({"venue_id": 17}), json!({"venue_id": 18})));
    }

    #[test]
    fn an_object_names_a_booking_unless_it_is_an_errors() {
        let sparse = |object: &str| booking(json!({"object": object}));
        assert!(is_a_booking(&json!({}), &sparse("reservation")));
        assert!(!is_a_booking(&json!({}), &sparse("api_error")));
    }

    #[test]
    fn a_moment_is_the_same_in_each_notation_and_another_one_otherwise() {
        let zoned = json!("2026-12-01T19:30:00+01:00");
        let utc = json!("2026-12-01T19:30:00Z");
        for (asked, shown, is_same) in [
            (&zoned, json!("2026-12-01T18:30:00Z"), Some(true)),
            (&zoned, json!("2026-12-01 19:30"), Some(true)),
            (&zoned, json!(1_796_149_800), Some(true)),
            (&zoned, json!("1796149800000"), Some(true)),
            (&zoned, json!("2026-12-01T19:30:00Z"), Some(false)),
            (&zoned, json!("2026-12-01T20:30"), Some(false)),
            (&zoned, json!("20261202"), Some(false)),
            (&zoned, json!(1_796_149_801_000_i64), Some(false)),
            (&zoned, json!("2026-12-01"), None),
            (&zoned, json!("on Tuesday"), None),
            (&zoned, json!("19:30"), None),
            (&zoned, json!(20), None),
            // A time in UTC is compared with the clock of UTC, and its day at the venue may be another one.
            (&utc, json!("2026-12-01T19:30"), Some(true)),
            (&utc, json!("2026-12-01T20:30"), Some(false)),
            (&utc, json!("2026-12-02"), None),
            (&json!(1_796_149_800), json!("2026-12-01T19:30"), None),
        ] {
            assert_eq!(agree("datetime", asked, &shown), is_same, "{asked} {shown}");
        }
    }
}
