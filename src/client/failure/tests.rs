use super::*;
use crate::arbitrary;
use crate::client::rate_limit::RATE_LIMIT_WINDOW;
use crate::client::refusal::GIVEN_UP_ON_THE_WAY;
use proptest::prelude::*;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

fn refused(status: u16, body: Value) -> Failure {
    Failure::Refused(Box::new(Refusal::new(
        status,
        &HeaderMap::new(),
        body.into(),
    )))
}

fn create() -> Call {
    Call::post("/v1/bookings", json!({}))
}

#[test]
fn a_5xx_on_a_write_leaves_it_open_unless_a_documented_code_says_that_nothing_was_done() {
    let unknown = refused(500, json!({"error": "boom"})).into_error(&create());
    assert_eq!(
        (unknown.exit, unknown.code.to_string().as_str()),
        (Exit::OutcomeUnknown, "outcome_unknown")
    );
    let known = refused(
        503,
        json!({"error": "off", "error_code": "vendor_disabled"}),
    )
    .into_error(&create());
    assert_eq!(
        (known.exit, known.code.to_string().as_str()),
        (Exit::Service, "vendor_disabled")
    );
}

#[test]
fn a_4xx_on_a_write_is_certain_only_where_it_carries_one_of_the_services_documents() {
    let certain = |failure: Failure| !failure.may_have_been_carried_out();
    for status in [400, 401, 402, 403, 404, 409, 413, 422, 429, 405, 451] {
        assert!(certain(refused(status, json!({"error": "no"}))), "{status}");
        assert!(
            !certain(refused(status, json!({"message": "no"}))),
            "{status}"
        );
        assert!(!certain(refused(status, json!(["error"]))), "{status}");
        let page = Refusal::bare(status, &HeaderMap::new(), "text/html".into());
        assert!(!certain(Failure::Refused(Box::new(page))), "{status}");
    }
    for status in GIVEN_UP_ON_THE_WAY {
        assert!(
            !certain(refused(status, json!({"error": "no"}))),
            "{status}"
        );
    }
    assert!(refused(429, json!({"error": "rate_limited"})).may_be_waited_out(&create()));
    assert!(!refused(429, json!({})).may_be_waited_out(&create()));
}

#[test]
fn a_refusal_that_the_specification_does_not_describe_names_its_status_and_is_an_invalid_request() {
    for status in [405, 410, 451] {
        let error = refused(status, json!({"error": "no"})).into_error(&Call::get("/v1/"));
        assert_eq!(error.exit, Exit::Invalid, "{status}");
        assert!(error.hint.is_some());
    }
    let error = refused(410, json!({"error": "gone"})).into_error(&Call::get("/v1/"));
    assert_eq!(error.message, "the service refused with 410: gone");
}

#[test]
fn the_hint_of_a_bare_status_leads_on_from_what_was_asked_for() {
    let hint = |status, call: Call| {
        let error = refused(status, json!({"error": "no"})).into_error(&call);
        error.hint.clone()
    };
    let has = |hint: Option<String>, words: &str| hint.is_some_and(|it| it.contains(words));
    assert!(has(
        hint(404, Call::get("/v1/bookings/bk_1")),
        "`bookctl bookings TEXT`"
    ));
    assert!(has(
        hint(404, Call::get("/v1/sessions/card?end_user=u")),
        "`bookctl session list`"
    ));
    for (path, list) in [
        ("deliveries/evt_1", "deliveries"),
        ("deliveries?organization=org_x", "organization list"),
        ("organizations/org_x", "organization list"),
        ("faults/flt_1", "faults"),
        ("requests/req_1", "requests"),
    ] {
        let hint = hint(404, Call::get(format!("/sandbox/{path}")));
        let list = format!("`bookctl sandbox {list}`");
        assert!(has(hint, &list), "{path}");
    }
    assert!(has(hint(404, create()), "`bookctl search`"));
    let cancel = Call::post("/v1/bookings/bk_1/cancel", json!({}));
    assert!(has(hint(409, cancel), "bookctl show bk_1"));
}

#[test]
fn older_refusals_carry_their_code_in_error_itself() {
    let error = refused(401, json!({"error": "unauthorized"})).into_error(&create());
    assert_eq!(
        (error.code.to_string().as_str(), error.exit),
        ("unauthorized", Exit::Unauthorized)
    );
    let error = refused(404, json!({"error": "venue not found"})).into_error(&create());
    assert_eq!(
        (error.code.to_string().as_str(), error.exit),
        ("http_404", Exit::NotFound)
    );
}

#[test]
fn the_sentence_names_each_field_of_a_failed_validation() {
    let body =
        json!({"error": "validation failed", "fields": {"datetime": "must be in the future"}});
    assert_eq!(
        refused(400, body).to_string(),
        "validation failed; datetime: must be in the future"
    );
}

#[test]
fn retry_after_is_clamped_to_the_services_own_window() {
    let body = json!({"error": "rate_limited", "retry_after_seconds": 999_999});
    let error = refused(429, body).into_error(&create());
    assert_eq!(error.retry_after, Some(Duration::from_secs(300)));
}

#[test]
fn each_failure_of_a_read_has_its_code_its_exit_and_a_way_on() {
    let unreadable = |status, kind: &str| Failure::Unreadable {
        status,
        kind: kind.to_owned(),
    };
    let elsewhere = Failure::Redirected {
        status: 302,
        to: Some("https://b.example".to_owned()),
    };
    let not_reached = Failure::NotReached {
        why: "refused".to_owned(),
        timed_out: false,
    };
    let is = |failure: Failure, code: &str, exit, message: &str, hint: &str| {
        let status = failure.status();
        let error = failure.into_error(&Call::get("/v1/"));
        assert_eq!(
            (error.code.to_string().as_str(), error.exit),
            (code, exit),
            "{message}"
        );
        assert_eq!(error.http_status, status, "{message}");
        assert!(error.message.contains(message), "{}", error.message);
        let shown = error.hint.as_deref().unwrap_or_default();
        assert!(shown.contains(hint), "{shown}");
        assert_eq!(error.request.as_deref(), Some("GET /v1/"));
    };
    let (network, unexpected) = (Exit::Network, "unexpected_answer");
    let no_key = Failure::NoKey("https://a.example".to_owned());
    let message = "no API key for https://a.example";
    is(no_key, "no_key", Exit::Unauthorized, message, "auth login");
    let message = "cannot send the request: a header is wrong";
    is(
        Failure::NotSent("a header is wrong".to_owned()),
        "network",
        network,
        message,
        "",
    );
    let timed_out = Failure::TimedOut(Duration::from_secs(30));
    is(timed_out, "timeout", network, "within 30 s", "");
    is(
        not_reached,
        "network",
        network,
        "refused",
        "check the base URL",
    );
    let no_answer = Failure::NoAnswer("reset".to_owned());
    is(
        no_answer,
        "network",
        network,
        "did not answer: reset",
        "check the base URL",
    );
    let unusable = Failure::Unusable("it is too large".to_owned());
    let message = "cannot use the response: it is too large";
    is(unusable, unexpected, network, message, "request less");
    let message = "redirects to https://b.example";
    is(elsewhere, unexpected, network, message, "final address");
    let message = "the response (502) is not";
    is(
        unreadable(502, ""),
        "http_502",
        Exit::Service,
        message,
        "try again",
    );
    let message = "the response (200, text/html) is not";
    is(
        unreadable(200, "text/html"),
        unexpected,
        network,
        message,
        "check the base URL",
    );
}

#[test]
fn a_key_that_is_not_to_be_had_is_said_in_its_own_words() {
    let why = Error::config("the keyring is locked");
    let error = Failure::Key(why).into_error(&create());
    assert_eq!(
        (error.exit, error.message.as_str()),
        (Exit::Config, "the keyring is locked")
    );
    assert_eq!(error.request.as_deref(), Some("POST /v1/bookings"));
}

#[test]
fn a_write_is_open_unless_it_never_left_or_was_refused() {
    let unreadable = Failure::Unreadable {
        status: 200,
        kind: String::new(),
    };
    let elsewhere = Failure::Redirected {
        status: 302,
        to: None,
    };
    for open in [
        Failure::NoAnswer(String::new()),
        Failure::TimedOut(Duration::ZERO),
        Failure::Unusable(String::new()),
        unreadable,
        elsewhere,
        refused(500, json!({"error": "boom"})),
        refused(500, json!({"error": "boom", "error_code": "no_such_code"})),
    ] {
        assert!(open.may_have_been_carried_out(), "{open:?}");
        assert_eq!(open.into_error(&create()).exit, Exit::OutcomeUnknown);
    }
    for closed in [
        Failure::NoKey(String::new()),
        Failure::NotSent(String::new()),
        Failure::NotReached {
            why: String::new(),
            timed_out: false,
        },
        refused(400, json!({"error": "no"})),
        refused(422, json!({"error": "no"})),
        refused(
            503,
            json!({"error": "off", "error_code": "vendor_disabled"}),
        ),
    ] {
        assert!(!closed.may_have_been_carried_out(), "{closed:?}");
        assert_ne!(closed.into_error(&create()).exit, Exit::OutcomeUnknown);
    }
}

#[test]
fn a_delivery_and_an_id_that_no_command_could_repeat_have_hints_of_their_own() {
    let hint = |status, call: Call| {
        let error = refused(status, json!({"error": "no"})).into_error(&call);
        error.hint.clone().unwrap_or_default()
    };
    let delivery = hint(404, Call::get("/sandbox/deliveries/evt_1"));
    assert!(delivery.contains("sandbox deliveries"), "{delivery}");
    let odd = hint(409, Call::post("/v1/bookings/a%2Fb/cancel", json!({})));
    assert!(!odd.is_empty() && !odd.contains("%2F"), "{odd}");
}

#[test]
fn other_peoples_unfinished_bookings_are_not_shown_with_a_refusal() {
    let open = json!([{"id": "bk_0", "status": "requires_action", "next_action": {"message": "the code"}}]);
    let error = refused(404, json!({"error": "no", "open_bookings": open}));
    let error = error.into_error(&create());
    assert!(error.details.is_empty(), "{error:?}");
    let hint = error.hint.as_deref().unwrap_or_default();
    assert!(!hint.contains("bk_0"), "{hint}");
}

#[test]
fn the_sentence_of_a_refusal_is_its_own_words_or_else_what_its_code_means() {
    let sentence = |body: Value| refused(422, body).to_string();
    assert_eq!(
        sentence(json!({"message": "No table.", "error": "x"})),
        "No table"
    );
    assert_eq!(
        sentence(json!({"error": "slot_taken"})),
        code::entry("slot_taken").unwrap().meaning
    );
    assert_eq!(
        sentence(json!({"error_code": "no_such_code"})),
        "the service refused with 422: no_such_code"
    );
    assert_eq!(sentence(json!({})), "the service refused with 422");
    assert_eq!(
        sentence(json!({"error": "no", "missing": ["a", "b"], "reason": null, "attempts_left": 2})),
        "no; missing: a, b; tries left: 2"
    );
}

#[test]
fn a_page_in_place_of_a_refusal_is_said_to_be_one_and_is_the_services_only_by_a_status_it_uses() {
    let page = |status, kind: &str| {
        let page = Refusal::bare(status, &HeaderMap::new(), kind.to_owned());
        Failure::Refused(Box::new(page)).into_error(&Call::get("/v1/"))
    };
    for (status, exit) in [(404, Exit::NotFound), (418, Exit::Network)] {
        let error = page(status, "text/html");
        assert_eq!(error.exit, exit, "{status}");
        let said = format!("the response ({status}, text/html) is not a document of the service");
        assert_eq!(error.message, said);
        let hint = error.hint.as_deref().unwrap_or_default();
        assert!(hint.contains("may not come from"), "{hint}");
    }
}

#[test]
fn a_refusal_that_the_specification_describes_is_told_in_the_services_words_alone() {
    let error = refused(404, json!({"error": "venue not found"})).into_error(&create());
    assert_eq!(error.message, "venue not found");
}

proptest! {
    #[test]
    fn whatever_a_retry_after_says_it_is_believed_up_to_the_services_own_window(
        header in prop_oneof![
            any::<Vec<u8>>(),
            any::<u128>().prop_map(|seconds| seconds.to_string().into_bytes()),
        ],
        seconds in arbitrary::json(),
    ) {
        let mut headers = HeaderMap::new();
        if let Ok(value) = HeaderValue::from_bytes(&header) {
            headers.insert(reqwest::header::RETRY_AFTER, value);
        }
        let body = json!({"error": "rate_limited", "retry_after_seconds": seconds});
        let refusal = Refusal::new(429, &headers, body.into());
        prop_assert!(refusal.retry_after.is_none_or(|after| after <= RATE_LIMIT_WINDOW));
    }

    #[test]
    fn whatever_the_body_of_a_refusal_it_is_one_sentence_and_no_success(
        status in 300u16..600,
        fields in prop::collection::hash_map(
            prop::sample::select(vec!["error", "error_code", "message", "fields", "missing", "detail", "open_bookings"]),
            arbitrary::json(),
            0..7,
        ),
    ) {
        let body = Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
        for call in [create(), Call::get("/v1/")] {
            let error = refused(status, body.clone()).into_error(&call);
            prop_assert_ne!(error.exit, Exit::Done);
            prop_assert_eq!(error.http_status, Some(status));
            prop_assert_eq!(error.body.as_ref().map(|it| it.value()), Some(&body));
        }
    }
}
