use serde_json::{Value, json};

use super::WriteKind::{Cancel, Connect, Modify, Otp, Search, Slots, Verify};
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
    requested.setting(false).unwrap().to_string()
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
            ]})],
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
    while requested.take(named(&again)) {}
    assert_eq!(
        requested.open().unwrap(),
        "`channel` (must be one of web, phone); the request has .venue_id, .datetime, .party_size"
    );
    let holes = |requested: &Draft| requested.setting(true).unwrap().value;
    assert_eq!(
        holes(&requested),
        "del(.venue_id, .datetime, .party_size) * {venueId: .venue_id} * {startTime: .datetime} * \
         {partySize: .party_size} * {channel: <?>}"
    );
    // What was only tried is no answer.
    let fields = json!({"error": "x", "missing": ["window.from", "currency"]});
    let requested = found(Slots, &[fields]);
    let open = requested.open().unwrap();
    assert!(open.starts_with("`window.from`, `currency`"));
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

#[test]
fn a_refused_write_comes_with_the_complete_command() {
    let command = |mapping: &Mapping, kind, requested: Value, refused: &Value| {
        let mut draft = Draft::new(mapping, kind, |name| requested.get(name).is_some());
        draft.take(named(refused));
        draft.command().unwrap()
    };
    let mut mapping = Mapping::default();
    mapping.set("dialect.modify_party_size_field", "covers").unwrap();
    let seconds = json!({"error": "x", "field": "datetime", "detail": "expected unix seconds"});
    let stored = command(&mapping, Modify, json!({"datetime": "x"}), &seconds);
    assert!(stored.contains("* {covers: .party_size}"), "{stored}");
    let required = |name: &str| json!({"error": format!("{name} is required")});
    let both = json!({"error": "x", "errors": [{"field": "party_size", "message": "unknown"}, {"field": "covers", "message": "is required"}]});
    for (kind, requested, refused, expected) in [
        (Otp, json!({"otp": "1"}), required("answer.value"), "dialect.otp_field=answer.value"),
        (Verify, json!({"code": "1"}), required("pin"), "dialect.session_code_field=pin"),
        (Connect, json!({}), required("mobile"), "dialect.session_phone_field=mobile"),
        (Cancel, json!({}), required("why"), "dialect.cancel_reason_field=why"),
        (
            Modify,
            json!({"party_size": 3}),
            required("covers"),
            "dialect.modify_party_size_field=covers",
        ),
        (
            Modify,
            json!({"party_size": 3, "datetime": "x"}),
            both,
            "'write.modify=del(.party_size) * {covers: .party_size} | with_entries(select(.value != null))'",
        ),
        (
            Modify,
            json!({"party_size": 3}),
            json!({"error": "unknown field party_size"}),
            "dialect.modify_party_size_field=NAME",
        ),
        (
            Otp,
            json!({}),
            json!({"error": "x", "missing": ["a", "b"]}),
            "'write.otp=. * {a: <?>} * {b: <?>}'",
        ),
        (
            Modify,
            json!({"datetime": "x"}),
            seconds,
            "'write.modify=. * {datetime: (.datetime | if type == \"string\" then fromdateiso8601 else . end)} | with_entries(select(.value != null))'",
        ),
    ] {
        let mapping = Mapping { profile: Some("acme".to_owned()), ..Mapping::default() };
        let found = command(&mapping, kind, requested, &refused);
        assert_eq!(found, format!("bookctl profile set acme {expected}"), "{refused}");
    }
}
