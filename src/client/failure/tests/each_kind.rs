//! What each kind of failure becomes, and what a refusal says.

use super::*;

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
    for (failure, code, exit, status, message, hint) in [
        (
            Failure::NoKey("https://a.example".to_owned()),
            "no_key",
            Exit::Unauthorized,
            None,
            "no API key for https://a.example",
            "auth login",
        ),
        (
            Failure::NotSent("a header is wrong".to_owned()),
            "network",
            Exit::Network,
            None,
            "cannot send the request: a header is wrong",
            "",
        ),
        (
            Failure::TimedOut(Duration::from_secs(30)),
            "timeout",
            Exit::Network,
            None,
            "within 30 s",
            "",
        ),
        (
            Failure::NotReached {
                why: "refused".to_owned(),
                timed_out: false,
            },
            "network",
            Exit::Network,
            None,
            "refused",
            "check the base URL",
        ),
        (
            Failure::NoAnswer("reset".to_owned()),
            "network",
            Exit::Network,
            None,
            "did not answer: reset",
            "check the base URL",
        ),
        (
            Failure::Unusable("it is too large".to_owned()),
            "unexpected_answer",
            Exit::Network,
            None,
            "cannot use the response: it is too large",
            "request less",
        ),
        (
            elsewhere,
            "unexpected_answer",
            Exit::Network,
            Some(302),
            "redirects to https://b.example",
            "final address",
        ),
        (
            unreadable(502, ""),
            "http_502",
            Exit::Service,
            Some(502),
            "the response (502) is not",
            "try again",
        ),
        (
            unreadable(200, "text/html"),
            "unexpected_answer",
            Exit::Network,
            Some(200),
            "the response (200, text/html) is not",
            "check the base URL",
        ),
    ] {
        let error = failure.into_error(&Call::get("/v1/"));
        assert_eq!(
            (
                error.code.to_string().as_str(),
                error.exit,
                error.http_status
            ),
            (code, exit, status),
            "{message}"
        );
        assert!(error.message.contains(message), "{}", error.message);
        let shown = error.hint.as_deref().unwrap_or_default();
        assert!(shown.contains(hint), "{shown}");
        assert_eq!(error.request.as_deref(), Some("GET /v1/"));
    }
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
        assert!(open.leaves_a_write_open(), "{open:?}");
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
        assert!(!closed.leaves_a_write_open(), "{closed:?}");
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
fn a_failure_has_the_status_of_the_answer_that_came() {
    let unreadable = Failure::Unreadable {
        status: 502,
        kind: String::new(),
    };
    let elsewhere = Failure::Redirected {
        status: 302,
        to: None,
    };
    assert_eq!(refused(422, json!({})).status(), Some(422));
    assert_eq!(unreadable.status(), Some(502));
    assert_eq!(elsewhere.status(), Some(302));
    assert_eq!(Failure::NoAnswer(String::new()).status(), None);
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
    let nothing = page(404, "");
    assert!(nothing.message.contains("no body"), "{}", nothing.message);
}

#[test]
fn a_refusal_that_the_specification_describes_is_told_in_the_services_words_alone() {
    let error = refused(404, json!({"error": "venue not found"})).into_error(&create());
    assert_eq!(error.message, "venue not found");
}
