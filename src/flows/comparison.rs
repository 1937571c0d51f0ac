//! Compares a booking with the request that it answers.

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde_json::{Map, Value};

use crate::json::plain;
use crate::model::booking::Booking;

/// Fields of both the request and the booking, in which they must agree.
const COMPARED: [&str; 5] = [
    "venue_id",
    "datetime",
    "party_size",
    "customer.name",
    "customer.email",
];

/// Characters with which a service masks part of a text.
const MASKS: [char; 3] = ['*', '•', '…'];

/// How a booking differs from what was asked for, such as `venue_id is B, not A`, or `None` if the fields that both
/// have agree. A modification since the booking was made is not a difference.
pub(super) fn difference(asked: &Value, booking: &Booking) -> Option<String> {
    let booked = booking.value();
    COMPARED.into_iter().find_map(|name| {
        let pointer = format!("/{}", name.replace('.', "/"));
        let shown = booked.pointer(&pointer).or_else(|| match name {
            // A guest given as a plain text is a name.
            "customer.name" => booked.get("customer").filter(|it| it.is_string()),
            _ => None,
        });
        let (asked, shown) = (asked.pointer(&pointer)?, shown?);
        let modified = format!("/last_modification/changes/{name}");
        let agrees =
            shown.is_null() || agree(name, asked, shown) || booked.pointer(&modified).is_some();
        (!agrees).then(|| format!("{name} is {}, not {}", plain(shown), plain(asked)))
    })
}

/// The top-level fields in which a booking says something else than what was asked for: the name, and a clause that says
/// so. A field that one of the two does not have is no difference.
pub(super) fn differences(asked: &Map<String, Value>, booking: &Booking) -> Vec<(String, String)> {
    let booked = booking.value();
    asked
        .iter()
        .filter_map(|(name, asked)| {
            let shown = booked.get(name).filter(|shown| is_scalar(shown))?;
            let is_same = !is_scalar(asked)
                || agree(name, asked, shown)
                || plain(asked)
                    .trim()
                    .eq_ignore_ascii_case(plain(shown).trim());
            let said = || format!("{name} is {}, not {}", plain(shown), plain(asked));
            (!is_same).then(|| (name.clone(), said()))
        })
        .collect()
}

/// Whether two values may mean the same in another notation: a number as text, the same moment in another form, a name
/// in other letters or in part.
fn agree(name: &str, asked: &Value, shown: &Value) -> bool {
    match name {
        "datetime" => same_moment(asked, shown),
        "customer.name" => same_name(&plain(asked), &plain(shown)),
        "customer.email" => {
            let shown = plain(shown);
            shown.contains(MASKS) || shown.trim().eq_ignore_ascii_case(plain(asked).trim())
        }
        // An object or a list is a notation that is not understood, which is no proof of a difference.
        _ => !is_scalar(shown) || plain(asked).trim() == plain(shown).trim(),
    }
}

fn is_scalar(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

/// Whether two times may be the same moment. A time without an offset is local to the venue, so only the clock reading
/// is compared. A value that is not a time proves nothing.
fn same_moment(asked: &Value, shown: &Value) -> bool {
    let (asked, shown) = (ComparedTime::read(asked), ComparedTime::read(shown));
    match (asked, shown) {
        (Some(asked), Some(shown)) => match (asked.instant, shown.instant) {
            (Some(asked), Some(shown)) => asked == shown,
            _ => match (asked.reading, shown.reading) {
                (Some(asked), Some(shown)) => asked == shown,
                _ => true,
            },
        },
        _ => true,
    }
}

/// A time in a document: RFC 3339 with or without an offset, or seconds or milliseconds since 1970.
struct ComparedTime {
    instant: Option<Timestamp>,
    /// The clock reading, if the text has one.
    reading: Option<DateTime>,
}

impl ComparedTime {
    fn read(value: &Value) -> Option<Self> {
        /// Larger numbers of seconds (past the year 5000) are taken for milliseconds.
        const LAST_SECOND: i64 = 100_000_000_000;
        if let Some(number) = value.as_i64() {
            let instant = match number {
                seconds if seconds.abs() < LAST_SECOND => Timestamp::from_second(seconds),
                milliseconds => Timestamp::from_millisecond(milliseconds),
            };
            let instant = Some(instant.ok()?);
            return Some(ComparedTime {
                instant,
                reading: None,
            });
        }
        let text = value.as_str()?.trim();
        let instant = text.parse::<Timestamp>().ok();
        let reading = text.parse::<DateTime>().ok();
        (instant.is_some() || reading.is_some()).then_some(ComparedTime { instant, reading })
    }
}

/// Whether two names may be the same guest: the same words in any order, ignoring case and punctuation. Of a masked
/// name or one with initials, only what it shows is compared.
fn same_name(asked: &str, shown: &str) -> bool {
    let words = |name: &str| {
        let name = name.to_lowercase();
        let words = name.split(|it: char| it.is_whitespace() || it == ',');
        let mut words: Vec<String> = words
            .map(|word| word.trim_end_matches('.').to_owned())
            .filter(|word| !word.is_empty())
            .collect();
        words.sort();
        words
    };
    if shown.contains(MASKS) {
        return true;
    }
    let (asked, shown) = (words(asked), words(shown));
    let is_part = |word: &String| {
        let initial = word.chars().count() == 1;
        asked
            .iter()
            .any(|asked| asked == word || initial && asked.starts_with(word.as_str()))
    };
    shown == asked || !shown.is_empty() && shown.len() <= asked.len() && shown.iter().all(is_part)
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
