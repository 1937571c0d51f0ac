use super::*;
use crate::service::client::call::WrittenNames;
use crate::service::documents::rows;
use crate::service::mapping::{Adapter, WriteKind};
use reqwest::header::HeaderMap;
use serde_json::json;

fn hint(body: Value) -> Option<String> {
    let mut adapter = Adapter {
        profile: Some("acme".to_owned()),
        ..Adapter::default()
    };
    let (key, name) = ("slots_party_size_field", "query.covers");
    adapter.dialect.rename(key, name).unwrap();
    let asked = json!({"venue_id": "v", "datetime": "2026-12-01", "party_size": 2});
    let asked = asked.as_object().unwrap();
    let sent = json!({"venue_id": "v", "datetime": "2026-12-01", "query": {"covers": 2}});
    let mut call = Call::post("/v1/availability/search", sent);
    call.written = Some(WrittenNames::new(&adapter, WriteKind::Slots, asked));
    name_hint(&Refusal::new(400, &HeaderMap::new(), body.into()), &call)
}

#[test]
fn the_fields_of_a_refusal_are_found_in_every_form() {
    for body in [
        json!({"error": "missing", "missing": ["when.start"]}),
        json!({"error": "x", "field": "when.start", "detail": "is required"}),
        json!({"error": "x", "fields": {"when.start": "is required"}}),
        json!({"error": "x", "errors": [{"field": "when.start", "message": "is required"}]}),
        json!({"error": "x", "errors": [{"source": {"pointer": "/when/start"}, "detail": "is required"}]}),
        json!({"error": "x", "details": ["when.start is required"]}),
        json!({"error": "x", "invalid": ["when.start"]}),
        json!({"error": "x", "fieldErrors": [{"path": "when.start", "reason": "is required"}]}),
        json!({"error": "x", "problems": {"by_field": {"when.start": ["is required"]}}}),
        json!({"error": "validation failed: when.start is required"}),
        json!({"error": {"code": "bad", "message": "when.start is required"}}),
    ] {
        let named = named(&body);
        assert_eq!(named.len(), 1, "{body}: {named:?}");
        assert_eq!(named[0].name, "when.start", "{body}");
        assert!(
            named[0].is_about_the_name() && !named[0].is_unknown(),
            "{body}"
        );
    }
    for body in [
        json!({"error": "booking not found"}),
        json!({"error": "x", "errors": [{"status": "422", "title": "Too many", "code": "party_too_large"}]}),
        json!({"error": "x", "details": ["the venue is closed"]}),
    ] {
        assert_eq!(named(&body), [], "{body}");
    }
    let unknown = json!({"error": "x", "field": "party_size", "detail": "unknown field"});
    assert!(named(&unknown)[0].is_unknown());
}

#[test]
fn a_field_of_the_dialect_is_named_with_the_command_that_renames_it_in_each_shape() {
    let renames = |key: &str| format!("bookctl profile set acme dialect.slots_{key}_field=NAME");
    for [key, body] in rows(
        r#"
        datetime   | {"error": "no", "field": "datetime"}
        party_size | {"error": "no", "missing": ["covers"]}
        datetime   | {"error": "no", "fields": {"datetime": "is unknown"}}
        datetime   | {"error": {"message": "no", "details": [{"field": "datetime"}]}}
        datetime   | {"error": "unknown field datetime"}"#,
    ) {
        let said = hint(body.parse().unwrap()).unwrap_or_default();
        assert!(said.contains(&renames(key)), "{body}: {said}");
    }
}

#[test]
fn a_field_that_was_not_sent_is_added_and_a_wrong_value_is_no_wrong_name() {
    let said = hint(json!({"error": "no", "missing": ["channel"]})).unwrap();
    assert!(said.contains("`-F channel=VALUE`"), "{said}");
    assert!(
        said.contains("bookctl profile set acme write.slots=EXPRESSION"),
        "{said}"
    );
    for body in [
        json!({"error": "no", "fields": {"datetime": "must be in the future"}}),
        json!({"error": "the datetime is in the past"}),
        json!({"error": "no"}),
    ] {
        assert_eq!(hint(body.clone()), None, "{body}");
    }
}
