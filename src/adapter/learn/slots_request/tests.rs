use super::*;
use crate::adapter::Expression;
use crate::adapter::kind::WriteKind;
use crate::adapter::learn::{named_in, of_request};
use serde_json::json;

fn learned(body: Value) -> Vec<Finding> {
    let mut request = SlotsRequest::default();
    assert!(request.learn(&named_in(&body)));
    assert!(!request.learn(&named_in(&body)), "learned twice");
    request.findings(Certainty::Certain)
}

#[test]
fn names_alone_become_keys_of_the_dialect() {
    let findings = learned(json!({"error": "x", "problems": {"by_field": {
        "where.venue_id": ["is required"], "when.start": ["is required"], "who.party_size": ["is required"],
    }}}));
    let lines: Vec<_> = findings
        .iter()
        .map(|it| (it.key.as_str(), it.value.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            ("dialect.slots_venue_field", "where.venue_id"),
            ("dialect.slots_datetime_field", "when.start"),
            ("dialect.slots_party_size_field", "who.party_size"),
        ]
    );
}

#[test]
fn another_form_becomes_an_expression_that_writes_it() {
    let findings = learned(
        json!({"error": "x: restaurant.venue_id is required; on is required; from is required; table.covers is required"}),
    );
    let [finding] = &findings[..] else {
        panic!("{findings:?}")
    };
    let expression = Expression::compile(&finding.value)
        .unwrap_or_else(|why| panic!("{why}: {}", finding.value));
    let _ = expression;
    assert!(
        finding.value.contains("restaurant: {venue_id: .venue_id}"),
        "{}",
        finding.value
    );
    assert!(
        finding
            .value
            .contains("on: .datetime[:10], from: .datetime[11:16]"),
        "{}",
        finding.value
    );
    for form in Time::ALL {
        let request = SlotsRequest {
            form: Some(form),
            ..SlotsRequest::default()
        };
        for finding in request.findings(Certainty::Certain) {
            Expression::compile(&finding.value)
                .unwrap_or_else(|why| panic!("{why}: {}", finding.value));
        }
    }
}

#[test]
fn a_field_that_nobody_can_guess_is_to_be_asked() {
    let findings =
        learned(json!({"error": "x", "details": ["channel is required", "venueId is required"]}));
    assert!(
        findings
            .iter()
            .all(|it| it.certainty == Certainty::ToBeAsked),
        "{findings:?}"
    );
    assert!(findings[0].why.contains("`channel`"), "{findings:?}");
}

#[test]
fn a_recorded_request_shows_its_names() {
    let findings = of_request(
        WriteKind::Otp,
        &json!({"challenge": {"response": "123456"}}),
    );
    assert_eq!(
        (findings[0].key.as_str(), findings[0].value.as_str()),
        ("dialect.otp_field", "challenge.response")
    );
    assert!(!findings[0].why.contains("123456"));
    assert_eq!(of_request(WriteKind::Cancel, &json!({"reason": "ill"})), []);
    let create = of_request(
        WriteKind::Create,
        &json!({"customer": {"name": "Ada", "email_address": "a@b.c", "mobile": "1"}}),
    );
    Expression::compile(&create[0].value)
        .unwrap_or_else(|why| panic!("{why}: {}", create[0].value));
}
