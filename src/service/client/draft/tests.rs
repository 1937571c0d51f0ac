use serde_json::{Value, json};

use super::WriteKind::{Search, Slots};
use super::*;
use crate::service::client::named_fields::named;

/// What is found at a service that answers in these ways, one after the other.
fn found(kind: WriteKind, refusals: &[Value]) -> Draft {
    let mut requested = Draft::new(&Mapping::default(), kind, |_| true);
    for refusal in refusals {
        assert!(requested.take(named(refusal)), "{refusal}: {requested:?}");
    }
    requested
}

fn setting(requested: &Draft) -> String {
    requested.setting().unwrap().to_string()
}

#[test]
fn a_value_has_the_form_that_the_refusal_speaks_of() {
    let says = |name: &str, why: &str| json!({"error": "x", "field": name, "detail": why});
    let seconds = "(.datetime | if type == \"string\" then fromdateiso8601 else . end)";
    for (kind, refusals, expected) in [
        (
            Slots,
            vec![
                json!({"error": "x", "details": [
                    "restaurant.venue_id is required",
                    "on is required",
                    "from is required",
                    "table.covers is required",
                ]}),
                says("on", "YYYY-MM-DD was expected"),
                says("from", "HH:MM was expected"),
            ],
            "slots=del(.venue_id, .datetime, .party_size) * {restaurant: {venue_id: .venue_id}} * {on: .datetime[:10]} \
             * {from: .datetime[11:16]} * {table: {covers: .party_size}}"
                .to_owned(),
        ),
        (
            Slots,
            vec![json!({"error": "validation failed", "errors": [
                {"source": {"pointer": "/filter/venue"}, "detail": "is required"},
                {"source": {"pointer": "/filter/starts-at"}, "detail": "is required"},
            ]}), says("datetime", "unknown field")],
            "slots=del(.venue_id, .datetime) * {filter: {venue: .venue_id}} * \
             {filter: {\"starts-at\": .datetime}}"
                .to_owned(),
        ),
        (
            Slots,
            vec![json!({"error": "no: start_time must be a number"})],
            format!("slots=del(.datetime) * {{start_time: {seconds}}}"),
        ),
        (
            Slots,
            vec![says("datetime", "expected unix seconds")],
            format!("slots=. * {{datetime: {seconds}}}"),
        ),
        (
            Slots,
            vec![says("datetime", "must be unix milliseconds")],
            format!("slots=. * {{datetime: {}}}", seconds.replace("8601 else", "8601 * 1000 else")),
        ),
        (
            Slots,
            vec![says("datetime", "YYYY-MM-DD HH:MM was expected")],
            "slots=. * {datetime: .datetime[:16]}".to_owned(),
        ),
        (
            Search,
            vec![says("party_size", "unknown field")],
            "search=del(.party_size)".to_owned(),
        ),
    ] {
        let setting = setting(&found(kind, &refusals));
        assert_eq!(setting, format!("write.{expected}"), "{refusals:?}");
        let (key, value) = setting.split_once('=').unwrap();
        assert!(Mapping::default().set(key, value).is_ok(), "{value}");
    }
}

#[test]
fn what_only_a_person_knows_stands_as_a_hole() {
    let required = json!({"error": "x", "details": ["venueId is required", "startTime is required", "partySize is required", "channel is required"]});
    let again = json!({"error": "x", "details": ["channel must be one of web, phone"]});
    let mut requested = found(Slots, &[required]);
    assert!(!requested.take(named(&again)));
    let holes = |requested: &Draft| requested.setting().unwrap().value;
    assert_eq!(
        holes(&requested),
        "del(.venue_id, .datetime, .party_size) * {venueId: .venue_id} * {startTime: .datetime} * \
         {partySize: .party_size} * {channel: <?>}"
    );
    // What was only tried is no answer.
    let fields = json!({"error": "x", "missing": ["window.from", "currency"]});
    let requested = found(Slots, &[fields]);
    assert_eq!(holes(&requested), ". * {window: {from: <?>}} * {currency: <?>}");
    // That it is a number makes no party of it, where no second search tests it.
    for refused in [
        json!({"error": "x", "missing": ["page_size"]}),
        json!({"error": "x", "field": "page_size", "detail": "expected integer"}),
    ] {
        let requested = found(Search, &[refused]);
        assert_eq!(holes(&requested), ". * {page_size: <?>}");
    }
}
