use reqwest::header::HeaderValue;

use super::*;
use crate::service::documents::rows;

fn refusal(status: u16, body: &str) -> Refusal {
    let body: Value = serde_json::from_str(body).unwrap();
    Refusal::new(status, &HeaderMap::new(), body.into())
}

#[test]
fn conflict_is_open_by_its_words_and_by_who_sent_the_key() {
    // For a row, and for a key that others may have sent. What this run alone sent is its own.
    for [status, body, row, others] in rows(
        r#"409 | {"error": "Conflict"}                                        | open   | open
           409 | {"error": "the table is taken"}                              | closed | open
           409 | {}                                                           | closed | open
           409 | {"error": "request in progress"}                             | open   | open
           409 | {"error": "Conflict", "message": "the table is taken"}       | closed | open
           409 | {"error": "no", "error_code": "slot_taken"}                  | closed | closed
           409 | {"error": "no", "error_code": "keyInUse"}                    | open   | open
           409 | {"error": "no", "error_code": "KEY_IN_USE"}                  | open   | open
           409 | {"error": "no", "error_code": "request_locked"}              | open   | open
           409 | {"error": "pending", "error_code": "unlocked"}               | closed | closed
           422 | {"error": "the idempotency key was used"}                    | open   | open
           422 | {"error": "no", "error_code": "idempotency_key_reused"}      | open   | open
           422 | {"error": "duplicate guest"}                                 | closed | closed
           500 | {"error": "the idempotency key was used"}                    | closed | closed"#,
    ) {
        let mut refusal = refusal(status.parse().unwrap(), body);
        for (sender, verdict) in
            [(KeySender::Own, "closed"), (KeySender::Row, row), (KeySender::Others, others)]
        {
            refusal.judge_conflict(sender);
            assert_eq!(refusal.is_open_conflict, verdict == "open", "{body} {sender:?}");
            assert!(!refusal.is_open_conflict || !refusal.proves_nothing_was_done());
        }
    }
}

#[test]
fn refusal_is_proof_with_words_in_its_error() {
    for [body, verdict] in rows(
        r#"{"error": "no"}                 | proof
           {"error": {"code": 17}}         | proof
           {"error": {"message": "no"}}    | proof
           {"error": {"error_code": "no"}} | proof
           {"error": {"code": null}}       | nothing
           {"error": {"other": "no"}}      | nothing
           {"error": true}                 | nothing"#,
    ) {
        let refusal = refusal(422, body);
        assert_eq!(refusal.proves_nothing_was_done(), verdict == "proof", "{body}");
    }
    let mut displays = refusal(422, r#"{"error": "no"}"#);
    displays.shows_the_booking = true;
    assert!(!displays.proves_nothing_was_done());
    let mut read = refusal(422, r#"{"fault": "FULL"}"#);
    read.translate(serde_json::json!({"error": "full", "error_code": "slot_taken"}));
    assert_eq!(read.code.as_deref(), Some("slot_taken"));
    assert!(read.proves_nothing_was_done());
}

#[test]
fn fields_that_the_sentence_lacks_stand_below_it() {
    for [body, lines] in rows(
        r#"{"error": "full", "why": "it is full"}                     | why: it is full
           {"error": "it is full.", "why": "full", "of": "ful"}       | of: ful
           {"error": "full2", "why": "2", "of": "full"}               | why: 2, of: full
           {"error": "no", "error_code": "x_y", "twice": "x_y"}       |
           {"error": "no", "status": 422, "open_bookings": ["bk_1"]}  |"#,
    ) {
        let refusal = refusal(422, body);
        assert_eq!(refusal.extra_fields(&refusal.sentence()).join(", "), lines, "{body}");
    }
}

#[test]
fn request_id_is_the_first_known_header_that_is_short_and_not_blank() {
    let id = |name: &'static str, value: &str| {
        request_id(&HeaderMap::from_iter([(
            name.parse().unwrap(),
            HeaderValue::from_str(value).unwrap(),
        )]))
    };
    assert_eq!(id("x-request-id", " req_1 ").as_deref(), Some("req_1"));
    let longest = "r".repeat(LONGEST_ID);
    assert_eq!(id("cf-ray", &longest), Some(longest.clone()));
    assert_eq!(id("cf-ray", &(longest + "r")), None);
    assert_eq!(id("request-id", "  "), None);
    assert_eq!(id("x-other-id", "req_1"), None);
}
