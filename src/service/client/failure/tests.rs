use super::*;
use crate::arbitrary;
use crate::service::client::answer::{redirected, unusable};
use crate::service::client::rate_limit::RATE_LIMIT_WINDOW;
use crate::service::client::refusal::{KeySender, PROVES_NOTHING};
use crate::service::documents::rows;
use proptest::prelude::*;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

fn refused(status: u16, body: Value) -> Failure {
    Failure::Refused(Box::new(Refusal::new(status, &HeaderMap::new(), body.into())))
}

fn network(cause: Cause, why: &str) -> Failure {
    Failure::Failed(cause, with_next(Code::Network, why))
}

fn create() -> Call {
    Call::post("/v1/bookings", json!({}))
}

fn error_for(status: u16, body: Value, call: &Call) -> Error {
    refused(status, body).into_error(call)
}

fn page(status: u16) -> Failure {
    let mut page = Refusal::new(status, &HeaderMap::new(), json!("<html>").into());
    page.instead = Some(", text/html".to_owned());
    Failure::Refused(Box::new(page))
}

fn hint_of(error: &Error) -> &str {
    error.hint.as_deref().unwrap_or_default()
}

#[test]
fn write_4xx_is_certain_only_with_a_service_document() {
    let certain = |failure: Failure| !failure.may_have_been_carried_out();
    for status in [400, 401, 402, 403, 404, 409, 413, 422, 429, 405, 451] {
        assert!(certain(refused(status, json!({"error": "no"}))), "{status}");
        for nothing in [json!({"message": "no"}), json!(["error"])] {
            assert!(!certain(refused(status, nothing)), "{status}");
        }
        assert!(!certain(page(status)), "{status}");
    }
    for status in PROVES_NOTHING {
        assert!(!certain(refused(status, json!({"error": "no"}))), "{status}");
    }
    assert!(refused(429, json!({"error": "rate_limited"})).may_be_waited_out(&create()));
    assert!(!refused(429, json!({})).may_be_waited_out(&create()));
}

#[test]
fn refusal_has_the_specified_code_exit_and_sentence() {
    for [status, body, method, code, exit, message] in rows(
        r#"500 | {"error": "boom"}                                | POST | outcome_unknown | OutcomeUnknown | the outcome is unknown: boom
           503 | {"error": "off", "error_code": "vendor_disabled"} | POST | vendor_disabled | Service        | off
           405 | {"error": "no"}                                  | GET  | http_405        | Invalid        | no
           410 | {"error": "gone"}                                | GET  | http_410        | Invalid        | the service rejected the request with 410: gone
           401 | {"error": "unauthorized"}                        | POST | unauthorized    | Unauthorized   |
           422 | {"error": "no", "error_code": "full_house"}      | POST | full_house      | Refused        | no (full_house)
           422 | {"error": "full_house", "error_code": "full_house"} | POST | full_house   | Refused        | the service rejected the request with 422: full_house
           429 | {"error": "no", "retry_after_seconds": 9}        | GET  | http_429        | RateLimited    | no; the limit resets in 9 s
           404 | {"error": "venue not found"}                     | POST | http_404        | NotFound       | venue not found"#,
    ) {
        let call = if method == "GET" { Call::get("/v1/") } else { create() };
        let error = error_for(status.parse().unwrap(), body.parse().unwrap(), &call);
        assert_eq!(error.code.to_string(), code);
        assert_eq!(format!("{:?}", error.exit), exit);
        assert!(message.is_empty() || error.message == message, "{}", error.message);
        assert_eq!(error.hint.is_some(), error.exit != Exit::OutcomeUnknown);
    }
    for [body, sentence] in rows(
        r#"{"message": "No table.", "error": "x"}       | No table
           {"error_code": "no_such_code"}               | the service rejected the request with 422: no_such_code
           {}                                           | the service rejected the request with 422
           {"error": "no", "missing": ["a", "b"], "reason": null, "attempts_left": 2} | no; missing: a, b; tries left: 2
           {"error": "no", "fields": {"datetime": "is over"}} | no; datetime: is over"#,
    ) {
        assert_eq!(refused(422, body.parse().unwrap()).to_string(), sentence);
    }
    let limited = json!({"error": "no", "retry_after_seconds": 9});
    assert!(hint_of(&error_for(429, limited.clone(), &create())).contains("--max-wait 9s"));
    assert!(!hint_of(&error_for(503, limited, &Call::get("/v1/"))).contains("--max-wait"));
    let known = refused(422, json!({"error": "slot_taken"})).to_string();
    assert_eq!(known, code::entry("slot_taken").unwrap().meaning);
}

#[test]
fn the_hint_of_a_bare_status_leads_on_from_what_was_asked_for() {
    for [status, method, path, words] in rows(
        "404 | GET  | /v1/bookings/bk_1                  | `bookctl bookings TEXT`
         404 | GET  | /v1/sessions/card?end_user=u       | `bookctl session list`
         404 | GET  | /sandbox/deliveries/evt_1          | `bookctl sandbox deliveries`
         404 | GET  | /sandbox/deliveries?organization=x | `bookctl sandbox organization list`
         404 | GET  | /sandbox/organizations/x           | `bookctl sandbox organization list`
         404 | GET  | /sandbox/faults/x                  | `bookctl sandbox faults`
         404 | GET  | /sandbox/requests/x                | `bookctl sandbox requests`
         404 | POST | /v1/bookings                       | `bookctl search`
         409 | POST | /v1/bookings/bk_1/cancel           | bookctl show bk_1
         409 | POST | /v1/sessions/s_1/verify            | bookctl session show s_1
         409 | DELETE | /v1/sessions/s_1                 | bookctl session show s_1",
    ) {
        let call = Call { method: method.parse().unwrap(), ..Call::get(path) };
        for body in [json!({"error": "no"}), json!({"error": "no", "error_code": "own"})] {
            let error = error_for(status.parse().unwrap(), body, &call);
            assert!(hint_of(&error).contains(words), "{error:?}");
        }
    }
    let displayed = error_for(409, json!({"error": "no"}), &Call::get("/v1/bookings/bk_1"));
    assert_eq!(displayed.hint, None, "it would be the same command");
    let clock = Call::get("/sandbox/clock");
    assert!(!hint_of(&error_for(404, json!({"error": "no"}), &clock)).contains("organization"));
    for path in ["/v1/bookings/a%2Fb/cancel", "/v1/sessions/a%2Fb/verify"] {
        let odd = error_for(409, json!({"error": "no"}), &Call::post(path, json!({})));
        assert!(odd.hint.as_ref().is_some_and(|it| !it.contains("%2F")), "{path}");
    }
}

#[test]
fn each_failure_of_a_read_has_its_code_its_exit_and_a_way_on() {
    let to = Some("https://b.example".to_owned());
    let unreadable = |status, why: &str| {
        Failure::unreadable(status, why.to_owned(), json!("<html>").into(), None)
    };
    let failures = [
        Failure::no_key("https://a.example"),
        Failure::not_sent("a header is wrong"),
        Failure::timed_out(Duration::from_secs(30)),
        network(Cause::NotReached { timed_out: false }, "refused"),
        network(Cause::NoAnswer, "reset"),
        unusable("it is too large"),
        redirected(302, to),
        unreadable(502, "it does not"),
        unreadable(200, "it is not JSON"),
        page(404),
        page(418),
        Failure::Failed(Cause::Key, Error::config("the keyring is locked")),
    ];
    let reported = rows(
        "    | no_key            | Unauthorized | no API key for https://a.example           | auth login
             | network           | Network      | cannot send the request: a header is wrong |
             | timeout           | Network      | within 30 s                                |
             | network           | Network      | refused                                    | check the base URL
             | network           | Network      | no complete response: reset                | check the base URL
             | unexpected_answer | Network      | cannot use the response: it is too large   | ask for less
         302 | unexpected_answer | Network      | redirects to https://b.example             | final address
         502 | http_502          | Service      | it does not                                | try again
         200 | unexpected_answer | Network      | it is not JSON                             | bookctl api
         404 | http_404          | NotFound     | the response (404, text/html) does not     | may not come from
         418 | http_418          | Network      | the response (418, text/html) does not     | may not come from
             | config            | Config       | the keyring is locked                      |",
    );
    for (failure, [status, code, exit, message, hint]) in failures.into_iter().zip(reported) {
        let status = status.parse().ok();
        assert_eq!(failure.is_answer(), status.is_some() || code == "unexpected_answer");
        let error = failure.into_error(&Call::get("/v1/"));
        let displayed = (error.code.to_string(), format!("{:?}", error.exit));
        assert_eq!((&*displayed.0, &*displayed.1), (code, exit), "{message}");
        assert_eq!(error.http_status, status, "{message}");
        assert!(error.message.contains(message), "{}", error.message);
        assert!(hint_of(&error).contains(hint), "{error:?}");
        assert_eq!(error.request.as_deref(), Some("GET /v1/"));
    }
    for (body, has_body) in [("", false), ("<html>", true)] {
        let body = json!(body).into();
        let failure = Failure::unreadable(502, String::new(), body, None);
        assert_eq!(failure.into_error(&create()).body.is_some(), has_body);
    }
}

#[test]
fn a_write_is_open_unless_it_never_left_or_was_refused() {
    let coded = |status, code| refused(status, json!({"error": "off", "error_code": code}));
    let unreadable = Failure::unreadable(200, String::new(), json!("").into(), None);
    for (open, failure) in [
        (true, network(Cause::NoAnswer, "")),
        (true, Failure::timed_out(Duration::ZERO)),
        (true, unusable("")),
        (true, unreadable),
        (true, redirected(200, None)),
        (true, coded(500, "no_such_code")),
        (false, Failure::no_key("")),
        (false, Failure::not_sent("")),
        (false, network(Cause::NotReached { timed_out: false }, "")),
        (false, refused(422, json!({"error": "no"}))),
        (false, coded(503, "vendor_disabled")),
    ] {
        assert_eq!(failure.may_have_been_carried_out(), open, "{failure:?}");
        let is_unknown = failure.into_error(&create()).exit == Exit::OutcomeUnknown;
        assert_eq!(is_unknown, open);
    }
    let Failure::Refused(mut conflict) = refused(409, json!({"error_code": "key_in_use"})) else {
        unreachable!("it is a refusal");
    };
    conflict.judge_conflict(KeySender::Others);
    let conflict = Failure::Refused(conflict);
    assert!(conflict.is_open_conflict());
    assert_eq!(conflict.code(), Some("key_in_use"));
    assert_eq!(network(Cause::NoAnswer, "").code(), None);
}

#[test]
fn rejection_shows_no_unfinished_bookings_of_others() {
    let open = json!([{"id": "bk_0", "status": "requires_action", "next_action": {"message": "the code"}}]);
    let error = error_for(404, json!({"error": "no", "open_bookings": open}), &create());
    assert!(error.details.is_empty(), "{error:?}");
    assert!(!hint_of(&error).contains("bk_0"), "{error:?}");
}

proptest! {
    #[test]
    fn retry_after_counts_up_to_the_services_window(
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
    fn any_body_of_a_rejection_is_one_sentence_and_no_success(
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
