use super::*;
use crate::adapter::Expression;
use serde_json::json;

fn line(kind: ReadKind, document: &Value) -> Option<String> {
    let findings = of_documents(kind, std::slice::from_ref(document));
    let key = format!("read.{}", kind.as_str());
    findings
        .into_iter()
        .find(|it| it.key == key)
        .map(|it| it.value)
}

fn compiles(line: &str) {
    Expression::compile(line).unwrap_or_else(|why| panic!("{why}: {line}"));
}

#[test]
fn fields_under_other_names_are_moved_to_the_contracts_where_they_stand() {
    let document = json!({"data": {"results": [
        {"venue_id": 1, "title": "Hut", "location": {"street": "1 Quay", "time_zone": "Europe/Oslo"}, "via": ["a"]},
    ]}, "meta": {"next": null}});
    let line = line(ReadKind::Venues, &document).unwrap();
    assert!(
        line.contains(
            ".data.results[] |= (move(.title; \"name\") | move(.location.time_zone; \"timezone\")"
        ),
        "{line}"
    );
    assert!(
        line.contains("move(.location.street; \"address\")"),
        "{line}"
    );
    assert!(!line.contains("$b"), "{line}");
    compiles(&line);
}

#[test]
fn what_stands_under_the_contracts_names_is_left_alone() {
    for (kind, document) in [
        (
            ReadKind::Venues,
            json!({"venues": [{"venue_id": 1, "name": "Hut", "timezone": "Europe/Oslo", "address": "x", "city": "y", "providers": ["a"], "title": "no"}]}),
        ),
        (
            ReadKind::Slots,
            json!([{"availability_id": "s", "datetime": "2026-12-01T19:00:00Z", "duration_minutes": 90, "card_terms": {"text": "x"}}]),
        ),
        (
            ReadKind::Booking,
            json!({"id": "b", "object": "booking", "status": "confirmed", "datetime": "2026-12-01T19:00:00Z", "next_action": {"type": "otp"}}),
        ),
        (ReadKind::Sessions, json!({"sessions": []})),
    ] {
        assert_eq!(of_documents(kind, &[document]), []);
    }
}

#[test]
fn a_name_counts_only_with_a_value_that_fits() {
    let document = json!([{"venue_id": 1, "title": 7, "zone": "north"}]);
    assert_eq!(line(ReadKind::Venues, &document), None);
}

#[test]
fn times_without_an_offset_are_the_venues_own() {
    let document =
        json!([{"availability_id": 1, "datetime": "2026-12-01 19:00", "card": "A card is held"}]);
    let findings = of_documents(ReadKind::Slots, &[document]);
    assert!(
        findings
            .iter()
            .any(|it| it.key == "local_times" && it.certainty == Certainty::Certain)
    );
    let line = findings.iter().find(|it| it.key == "read.slots").unwrap();
    assert!(
        line.value.starts_with(MOVE) && line.value.contains("{text: .}"),
        "{}",
        line.value
    );
    compiles(&line.value);
}

#[test]
fn a_bookings_time_apart_its_words_and_its_pause_are_found() {
    let document = json!({"reservation": {
        "id": 7, "object": "r", "status": "awaiting_guest", "provider": "a", "on": "2026-12-01", "from": "19:30",
        "guest": {"full_name": "x", "mobile": "1"}, "next_action": {"kind": {"code": "code"}, "instructions": "m"},
    }});
    let findings = of_documents(ReadKind::Booking, &[document]);
    let value = |key: &str| {
        findings
            .iter()
            .find(|it| it.key == key)
            .map(|it| it.value.clone())
    };
    let line = value("read.booking").unwrap();
    for part in [
        ".reservation | move(.guest.full_name; \"customer\"; \"name\")",
        "move(.next_action.instructions; \"next_action\"; \"message\")",
        "(.on + \"T\" + .from)",
        "{\"awaiting_guest\":\"requires_action\"}",
    ] {
        assert!(line.contains(part), "{part} is not in {line}");
    }
    compiles(&line);
    assert_eq!(
        value("dialect.next_action_type_field").as_deref(),
        Some("kind.code")
    );
    assert_eq!(value("dialect.otp_action").as_deref(), Some("code"));
}

#[test]
fn fields_in_attributes_join_their_id_first() {
    let document = json!({"data": {"type": "b", "id": "1", "attributes": {
        "status": "confirmed", "object": "b", "starts-at": "2026-12-01T19:00:00Z",
    }}});
    let line = line(ReadKind::Booking, &document).unwrap();
    assert!(line.contains(".data | . + (.attributes // {}) | del(.attributes) | move(.\"starts-at\"; \"datetime\")"), "{line}");
    compiles(&line);
}
