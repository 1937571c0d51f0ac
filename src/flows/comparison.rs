//! Compares a booking with the request that it answers.

use serde_json::{Map, Value};

use super::compared_time::ComparedTime;
use super::said::{Said, is_scalar};
use crate::json::plain;
use crate::model::booking::{Booking, Status};
use crate::model::id::same_id;

/// Fields of both the request and the booking, in which they must agree.
const COMPARED: [&str; 5] = [
    "venue_id",
    "datetime",
    "party_size",
    "customer.name",
    "customer.email",
];

/// Characters with which a service masks part of a text.
const MASKS: [char; 5] = ['*', '•', '●', '…', '#'];

/// Whether a response is certainly a booking: it has at least three of the fields that the specification states for every
/// booking, or a status that it names and one of the fields by which it can be told from others.
pub(super) fn is_a_booking(asked: &Value, booking: &Booking) -> bool {
    let value = booking.value();
    let stated = ["id", "object", "status", "provider"];
    let stated = stated
        .iter()
        .filter(|name| value.get(**name).is_some_and(|it| !it.is_null()));
    if stated.count() >= 3 {
        return true;
    }
    let said = Said::by(booking);
    let mut fields = COMPARED
        .iter()
        .filter_map(|name| Some((name, asked_for(asked, name)?)));
    let shows = |(name, asked): (&&str, &Value)| {
        let shown = said.of(name, true);
        shown
            .iter()
            .any(|shown| agree(name, asked, shown).is_some())
    };
    !matches!(booking.status(), Status::Other(_)) && fields.any(shows)
}

fn asked_for<'a>(asked: &'a Value, name: &str) -> Option<&'a Value> {
    asked.pointer(&format!("/{}", name.replace('.', "/")))
}

/// How a booking differs from what was asked for, such as `venue_id is B, not A`, or `None` if the fields that both
/// have agree. A difference is excused if the booking says that it was modified from what was asked for.
pub(super) fn difference(asked: &Value, booking: &Booking) -> Option<String> {
    let said = Said::by(booking);
    COMPARED.into_iter().find_map(|name| {
        let asked = asked_for(asked, name)?;
        let from = format!("/last_modification/changes/{name}/from");
        let was_modified = |from: &Value| is_scalar(from) && agree(name, asked, from) == Some(true);
        if booking.value().pointer(&from).is_some_and(was_modified) {
            return None;
        }
        contradiction(&said, name, asked)
    })
}

/// The top-level fields in which a booking says something else than what was asked for: the name, and a clause that says
/// so. A field that one of the two does not have is no difference.
pub(super) fn differences(asked: &Map<String, Value>, booking: &Booking) -> Vec<(String, String)> {
    let said = Said::by(booking);
    let contradicted = asked.iter().filter_map(|(name, asked)| {
        contradiction(&said, name, asked).map(|clause| (name.clone(), clause))
    });
    contradicted.collect()
}

/// A clause that says so where all that is said of a field contradicts what was asked for.
fn contradiction(said: &Said, name: &str, asked: &Value) -> Option<String> {
    if !is_scalar(asked) {
        return None;
    }
    let shown = said.of(name, COMPARED.contains(&name));
    let first = shown.first()?;
    let differs = shown
        .iter()
        .all(|shown| agree(name, asked, shown) == Some(false));
    differs.then(|| format!("{name} is {}, not {}", plain(first), plain(asked)))
}

/// Whether two values mean the same in another notation: a number as text, the same moment in another form, a name in
/// other letters or in part. `None` if that cannot be said.
fn agree(name: &str, asked: &Value, shown: &Value) -> Option<bool> {
    let (asked_text, shown_text) = (plain(asked), plain(shown));
    Some(match name {
        "venue_id" => same_id(&asked_text, &shown_text),
        "datetime" => return ComparedTime::read(asked)?.is(&ComparedTime::read(shown)?),
        "customer.name" => same_name(&asked_text, &shown_text),
        "customer.email" => hides(&lower(&asked_text), &lower(&shown_text)),
        _ => {
            let number = |text: &str| text.trim().parse::<f64>().ok();
            match (number(&asked_text), number(&shown_text)) {
                (Some(asked), Some(shown)) => asked == shown,
                _ => hides(&lower(&asked_text), &lower(&shown_text)),
            }
        }
    })
}

fn lower(text: &str) -> String {
    text.trim().to_lowercase().replace("...", "…")
}

/// Whether two names may be the same guest: the same words in any order, ignoring case and punctuation. Of a masked
/// name or one with initials, only what it shows is compared.
fn same_name(asked: &str, shown: &str) -> bool {
    let (asked, shown) = (lower(asked), lower(shown));
    let words = |name: &str| {
        let words = name.split(|it: char| it.is_whitespace() || it == ',');
        let mut words: Vec<String> = words
            .map(|word| word.trim_end_matches('.').to_owned())
            .filter(|word| !word.is_empty())
            .collect();
        words.sort();
        words
    };
    if hides(&asked, &shown) {
        return true;
    }
    let (asked, shown) = (words(&asked), words(&shown));
    let is_part = |word: &String| {
        let initial = word.chars().count() == 1;
        asked
            .iter()
            .any(|asked| hides(asked, word) || initial && asked.starts_with(word.as_str()))
    };
    shown == asked || !shown.is_empty() && shown.len() <= asked.len() && shown.iter().all(is_part)
}

/// Whether a text is another one with some of its characters masked, or none. A mask stands for any characters, since
/// services do not keep their number.
fn hides(whole: &str, shown: &str) -> bool {
    let mut parts = shown.split(MASKS);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = whole.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_service_writes_its_own_way_is_no_difference() {
        let asked = json!({
            "venue_id": "17", "datetime": "2026-12-01T19:30:00+01:00", "party_size": 2,
            "customer": {"name": "Ada Lovelace", "email": "ada@x.example"},
        });
        for shown in [
            json!({"venue_id": 17, "party_size": "2"}),
            json!({"datetime": "2026-12-01T19:30:00"}),
            json!({"datetime": "2026-12-01 19:30"}),
            json!({"datetime": 1_796_149_800}),
            json!({"datetime": 1_796_149_800_000_i64}),
            json!({"datetime": "on Tuesday"}),
            json!({"datetime": {"date": "2026-12-01", "time": "19:30"}}),
            json!({"venue": {"venue_id": "17"}}),
            json!({"venue": {"id": 17, "name": "Hut"}}),
            json!({"venue_id": "https://a.example/v1/venues/17"}),
            json!({"party_size": 2.0}),
            json!({"party_size": "2.0"}),
            json!({"guest": {"first_name": "Ada", "last_name": "Lovelace"}}),
            json!({"guest_name": "Lovelace, Ada"}),
            json!({"customer": {"name": {"given": "Ada", "family": "Lovelace"}}}),
            json!({"guests": [{"name": "Bob"}, {"name": "Ada Lovelace"}]}),
            json!({"guests": 2, "customer": "cus_1"}),
            json!({"customer": {"name": "*** Love*"}}),
            json!({"customer": {"name": "Lovelace, Ada"}}),
            json!({"customer": {"name": "Ada L."}}),
            json!({"customer": {"name": "A*** L***", "email": "a***@x.example"}}),
            json!({"customer": "Ada Lovelace", "venue_id": {"id": "17"}}),
            json!({"venue_id": null}),
        ] {
            assert_eq!(said(&asked, shown.clone()), None, "{shown}");
        }
        for (shown, difference) in [
            (json!({"venue_id": 18}), "venue_id is 18, not 17"),
            (json!({"party_size": 3}), "party_size is 3, not 2"),
            (
                json!({"datetime": "2026-12-01T20:30:00"}),
                "datetime is 2026-12-01T20:30:00, not 2026-12-01T19:30:00+01:00",
            ),
            (
                json!({"datetime": 1_796_149_801}),
                "datetime is 1796149801, not 2026-12-01T19:30:00+01:00",
            ),
            (
                json!({"customer": {"name": "Eve Lovelace"}}),
                "customer.name is Eve Lovelace, not Ada Lovelace",
            ),
            (
                json!({"venue": {"venue_id": "18"}}),
                "venue_id is 18, not 17",
            ),
            (json!({"restaurant": {"id": 18}}), "venue_id is 18, not 17"),
            (json!({"party_size": 2.5}), "party_size is 2.5, not 2"),
            (
                json!({"datetime": "2026-12-02"}),
                "datetime is 2026-12-02, not 2026-12-01T19:30:00+01:00",
            ),
            (
                json!({"datetime": {"date": "2026-12-01", "time": "20:30"}}),
                "datetime is 2026-12-01T20:30, not 2026-12-01T19:30:00+01:00",
            ),
            (
                json!({"guest": {"first_name": "Bob", "last_name": "Lovelace"}}),
                "customer.name is Bob Lovelace, not Ada Lovelace",
            ),
            (
                json!({"guest_first_name": "Bob"}),
                "customer.name is Bob, not Ada Lovelace",
            ),
            (
                json!({"guests": [{"name": "Bob"}, {"name": "Eve"}]}),
                "customer.name is Bob, not Ada Lovelace",
            ),
            (
                json!({"customer": {"name": "Bob*"}}),
                "customer.name is Bob*, not Ada Lovelace",
            ),
            (
                json!({"guest_email": "b***@x.example"}),
                "customer.email is b***@x.example, not ada@x.example",
            ),
            (
                json!({"customer": "Eve"}),
                "customer.name is Eve, not Ada Lovelace",
            ),
            (
                json!({"customer": {"email": "eve@x.example"}}),
                "customer.email is eve@x.example, not ada@x.example",
            ),
        ] {
            assert_eq!(said(&asked, shown).as_deref(), Some(difference));
        }
    }

    fn said(asked: &Value, mut shown: Value) -> Option<String> {
        shown["id"] = "bk_1".into();
        shown["status"] = "confirmed".into();
        difference(asked, &Booking::from_document(shown.into()).unwrap())
    }

    #[test]
    fn a_booking_of_another_request_is_told_from_the_one_that_was_asked_for() {
        let asked =
            json!({"venue_id": "v", "datetime": "2026-12-01T19:30:00+01:00", "party_size": 2});
        let booked = |document: Value| Booking::from_document(document.into()).unwrap();
        let same = json!({"id": "bk_1", "status": "confirmed", "venue_id": "v", "datetime": "2026-12-01T18:30:00Z"});
        assert_eq!(difference(&asked, &booked(same)), None);
        let other = json!({"id": "bk_1", "status": "confirmed", "venue_id": "w", "party_size": 2});
        assert_eq!(
            difference(&asked, &booked(other)).as_deref(),
            Some("venue_id is w, not v")
        );
        let modified = json!({
            "id": "bk_1", "status": "confirmed", "venue_id": "v", "party_size": 4,
            "last_modification": {"changes": {"party_size": {"from": 2, "to": 4}}},
        });
        assert_eq!(difference(&asked, &booked(modified)), None);
    }

    #[test]
    fn a_booking_of_another_guest_is_not_the_one_that_was_asked_for() {
        let asked = json!({"customer": {"name": "Ada  Lovelace", "email": "ADA@x.example"}});
        let difference = |name: &str| {
            let document = json!({"id": "bk_1", "status": "confirmed", "customer": {"name": name, "email": "ada@x.example"}});
            difference(&asked, &Booking::from_document(document.into()).unwrap())
        };
        assert_eq!(difference("ada lovelace"), None);
        assert_eq!(
            difference("Eve Other").as_deref(),
            Some("customer.name is Eve Other, not Ada  Lovelace")
        );
    }

    #[test]
    fn a_moment_in_milliseconds_is_another_one_a_second_later() {
        let asked = json!({"datetime": "2026-12-01T19:30:00+01:00"});
        let later = json!({"datetime": 1_796_149_801_000_i64});
        assert!(said(&asked, later).is_some());
        // The least number that is read as milliseconds.
        let asked = json!({"datetime": "1973-03-03T09:46:40Z"});
        let same = json!({"datetime": 100_000_000_000_i64});
        assert_eq!(said(&asked, same), None);
    }

    #[test]
    fn an_initial_of_another_name_and_a_part_of_a_word_are_another_guests() {
        let asked = json!({"customer": {"name": "Ada Lovelace"}});
        for name in ["Ada X.", "Ad Lovelace", "Ada Love"] {
            assert!(
                said(&asked, json!({"customer": {"name": name}})).is_some(),
                "{name}"
            );
        }
    }
}
