//! What a test suite never met and what it got away with: clients of people who do not know the
//! rules.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::http::{send, send_many};
use crate::harness::listening::until;
use crate::harness::{HANG, Home, Reply, Scripted, Served};

pub(crate) const KEY: (&str, &str) = ("Authorization", "Bearer sk_live_sandbox");

pub(crate) struct Sandbox(Served);

impl Sandbox {
    pub(crate) fn start() -> Self {
        let options = ["--ephemeral", "--no-limits", "--delivery-interval", "20ms"];
        Self(Served::with(&Home::new(), &options))
    }

    pub(crate) fn call(&self, method: &str, path: &str, key: &str, body: &Value) -> (u16, Value) {
        let headers = [KEY, ("Idempotency-Key", key)];
        let headers = if key.is_empty() { &headers[..1] } else { &headers };
        let body = if body.is_null() { String::new() } else { body.to_string() };
        send(self.0.base_url(), method, path, headers, &body)
    }

    pub(crate) fn control(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.call(method, path, "", body);
        assert!(status < 300, "{answer}");
        answer
    }

    fn fails(&self, fault: &Value) {
        self.control("POST", "/sandbox/faults", fault);
    }

    pub(crate) fn order(&self, venue: &str) -> Value {
        let clock = self.control("GET", "/sandbox/clock", &Value::Null);
        let now: jiff::Timestamp = clock["now"].as_str().unwrap().parse().unwrap();
        let day = (now + jiff::SignedDuration::from_hours(48)).strftime("%Y-%m-%d");
        json!({"venue_id": venue, "datetime": format!("{day}T19:30:00Z"), "party_size": 2,
            "customer": {"name": "Ada Lovelace"}})
    }

    /// A booking that a careful client makes.
    fn book(&self, venue: &str, key: &str) -> String {
        let (status, booking) = self.call("POST", "/v1/bookings", key, &self.order(venue));
        assert_eq!(status, 201, "{booking}");
        format!("/v1/bookings/{}", booking["id"].as_str().unwrap())
    }

    /// Sends a booking request, and waits for a response only so long.
    fn first_try(&self, order: &Value, wait: Duration) {
        let address = self.0.base_url().trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(wait)).unwrap();
        let (name, key, body) = (KEY.0, KEY.1, order.to_string());
        let length = body.len();
        write!(stream, "POST /v1/bookings HTTP/1.1\r\nHost: {address}\r\n{name}: {key}\r\nIdempotency-Key: first-{length}\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        let answer = stream.read(&mut [0]);
        assert!(!answer.is_ok_and(|length| length > 0));
    }

    fn report(&self) -> Value {
        self.control("GET", "/sandbox/report", &Value::Null)
    }

    /// The codes of the findings.
    fn found(&self) -> Vec<String> {
        codes(&self.report())
    }

    /// How many requests show the first finding.
    fn finding_count(&self) -> usize {
        let requests = &self.report()["findings"][0]["requests"];
        requests.as_array().map_or(0, Vec::len)
    }

    pub(crate) fn has_met(&self, code: &str) -> bool {
        let report = self.report();
        let mut situations = report["situations"].as_array().unwrap().iter();
        situations.find(|it| it["code"] == code).unwrap()["met"] == true
    }
}

pub(crate) fn codes(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let findings = findings.inspect(|it| assert!(it["requests"][0].is_string(), "{it}"));
    findings.map(|it| it["code"].as_str().unwrap().to_owned()).collect()
}

/// Tries until it works. Each try is a new request, is it not?
fn books_in_a_loop(sandbox: &Sandbox, order: &Value) {
    for attempt in 0..5 {
        let key = format!("try-{attempt}-of-{}", order["party_size"]);
        if sandbox.call("POST", "/v1/bookings", &key, order).0 == 201 {
            return;
        }
    }
}

#[test]
fn naive_retry_loop_is_found_to_change_its_key_and_not_to_wait() {
    let sandbox = Sandbox::start();
    let order = sandbox.order("ven_confirms");
    sandbox.fails(&json!({"on": "POST /v1/bookings", "kind": "status", "status": 503}));
    books_in_a_loop(&sandbox, &order);
    assert_eq!(sandbox.found(), ["retry_with_another_key"]);
    assert!(sandbox.has_met("server_error") && !sandbox.has_met("rate_limited"));

    sandbox.fails(&json!({"preset": "rate_limited", "times": 1}));
    let mut order = order;
    order["party_size"] = json!(3);
    books_in_a_loop(&sandbox, &order);
    let both = ["retry_with_another_key", "retry_after_ignored"];
    assert_eq!(sandbox.found(), both);
    assert!(sandbox.has_met("rate_limited"));
    for _ in 0..2 {
        sandbox.call("POST", "/v1/bookings", "order-1", &json!({"party_size": 2}));
    }
    assert_eq!(sandbox.found()[2..], ["rejected_sent_again"]);
}

#[test]
fn a_key_that_comes_with_another_booking_request_is_found() {
    let sandbox = Sandbox::start();
    let order = sandbox.order("ven_confirms");
    for _ in 0..2 {
        sandbox.call("POST", "/v1/bookings", "user-7", &order);
    }
    assert_eq!(sandbox.found(), [""; 0]);
    assert!(sandbox.has_met("repeated_create"));
    let mut grace = sandbox.order("ven_otp");
    grace["customer"]["name"] = json!("Grace Hopper");
    assert_eq!(sandbox.call("POST", "/v1/bookings", "user-7", &grace).0, 200);
    assert_eq!(sandbox.found(), ["key_for_another_booking"]);
    let report = sandbox.report();
    let id = report["findings"][0]["requests"][0].as_str().unwrap();
    assert_eq!(report["findings"][0]["calls"][id], "POST /v1/bookings (org_sandbox)");
    let request = sandbox.control("GET", &format!("/sandbox/requests/{id}"), &Value::Null);
    let note = request["notes"][0].as_str().unwrap();
    assert!(note.ends_with("other values: venue_id, customer.name"), "{note}");
}

#[test]
fn a_poller_is_found_to_read_more_often_than_the_limit_allows() {
    let sandbox = Sandbox::start();
    sandbox.control("POST", "/sandbox/clock", &json!({"freeze": true}));
    let booking = sandbox.book("ven_processing", "order-1");
    let processing = |times: usize| {
        for _ in 0..times {
            let (_, booking) = sandbox.call("GET", &booking, "", &Value::Null);
            assert_eq!(booking["status"], "processing");
        }
    };
    processing(5);
    assert_eq!(sandbox.found(), [""; 0]);
    // A test that moves the clock between two reads does not poll.
    sandbox.control("POST", "/sandbox/clock", &json!({"advance": "1s"}));
    processing(5);
    assert_eq!(sandbox.found(), [""; 0]);
    // Bookings that are read once each, and then again and again: the limit is that of all
    // together.
    let bookings: Vec<String> =
        (0..6).map(|it| sandbox.book("ven_otp", &format!("otp-{it}"))).collect();
    for rounds in 0..3 {
        assert_eq!(sandbox.found(), [""; 0], "{rounds}");
        for booking in bookings.iter().chain(&bookings).take(6 * rounds) {
            sandbox.call("GET", booking, "", &Value::Null);
        }
    }
    assert_eq!(sandbox.found(), ["polling_too_fast"]);
    let before = sandbox.finding_count();
    processing(20);
    assert!(sandbox.finding_count() > before);
}

#[test]
fn a_client_that_sends_its_answers_again_is_found() {
    let sandbox = Sandbox::start();
    let booking = sandbox.book("ven_otp", "order-1");
    let inbox = sandbox.control("GET", "/sandbox/inbox", &Value::Null);
    let code = json!({"otp": inbox["messages"][0]["code"]});
    let path = format!("{booking}/continue");
    // A guest who mistypes a code does what guests do, and perhaps five times.
    let other = format!("{}/continue", sandbox.book("ven_otp", "order-2"));
    for path in [&path, &path, &other, &other, &other, &other, &other] {
        sandbox.call("POST", path, "", &json!({"otp": "000000"}));
    }
    sandbox.call("GET", other.trim_end_matches("/continue"), "", &Value::Null);
    assert!(sandbox.has_met("otp_attempts_exceeded"));
    assert_eq!(sandbox.found(), [""; 0]);
    let fault = json!({"on": "POST /v1/bookings/{id}/continue", "kind": "status", "status": 502});
    // A client that reads after the error knows that the code did not count.
    let careful = sandbox.book("ven_otp", "order-3");
    let inbox = sandbox.control("GET", "/sandbox/inbox", &Value::Null);
    let given = json!({"otp": inbox["messages"][0]["code"]});
    sandbox.fails(&fault);
    for status in [502, 200] {
        let (_, booking) = sandbox.call("GET", &careful, "", &Value::Null);
        assert_eq!(booking["status"], "requires_action");
        let path = format!("{careful}/continue");
        assert_eq!(sandbox.call("POST", &path, "", &given).0, status);
    }
    assert_eq!(sandbox.found(), [""; 0]);
    sandbox.fails(&fault);
    while sandbox.call("POST", &path, "", &code).0 != 200 {}
    assert_eq!(sandbox.found(), ["answer_sent_twice"]);
    assert!(sandbox.has_met("otp_confirmed") && sandbox.has_met("invalid_otp"));
}

#[test]
fn a_careless_request_is_found_and_a_careful_client_is_not() {
    let sandbox = Sandbox::start();
    let order = sandbox.order("ven_confirms");
    // What the service did not know may be known after a search.
    let mut unknown = order.clone();
    unknown["venue_id"] = json!("ven_none");
    for _ in 0..2 {
        let (status, _) = sandbox.call("POST", "/v1/bookings", "order-0", &unknown);
        assert_eq!(status, 404);
    }
    let remark = "may have given up";
    let check = |state| json!({ "billing_check": state });
    sandbox.control("PUT", "/sandbox/organization", &check("unavailable"));
    let (status, _) = sandbox.call("POST", "/v1/bookings", "order-9", &order);
    assert_eq!(status, 503);
    sandbox.control("PUT", "/sandbox/organization", &check("ok"));
    assert!(!sandbox.report().to_string().contains(remark));
    // The same key after an error, as the specification asks for; then what a test does next.
    sandbox.fails(&json!({"on": "POST /v1/bookings", "kind": "status", "status": 500}));
    for _ in 0..2 {
        sandbox.call("POST", "/v1/bookings", "order-1", &order);
    }
    sandbox.fails(&json!({"on": "POST /v1/bookings", "kind": "status", "status": 500}));
    sandbox.call("POST", "/v1/bookings", "order-2", &order);
    assert!(sandbox.report().to_string().contains(remark));
    sandbox.control("DELETE", "/sandbox/faults", &Value::Null);
    sandbox.call("POST", "/v1/bookings", "order-3", &order);
    assert_eq!(sandbox.found(), [""; 0]);

    let search =
        json!({"venue_id": "ven_confirms", "datetime": order["datetime"], "party_size": 2});
    let (_, slots) = sandbox.call("POST", "/v1/availability/search", "", &search);
    let mut other = order;
    other["availability_id"] = slots["slots"][0]["availability_id"].clone();
    other["datetime"] = slots["slots"][0]["datetime"].clone();
    sandbox.call("POST", "/v1/bookings", "order-4", &other);
    assert_eq!(sandbox.found(), [""; 0]);
    other["party_size"] = json!(4);
    other["partySize"] = json!(4);
    sandbox.call("POST", "/v1/bookings", "", &other);
    let all = ["no_idempotency_key", "slot_for_another_party", "unknown_field"];
    assert_eq!(sandbox.found(), all);
}

#[test]
fn a_handler_that_takes_everything_is_found() {
    let sandbox = Sandbox::start();
    let handler = Scripted::start(|request| {
        // One that verifies is as it should be.
        let is_strict = request.is("POST", "/strict");
        let is_unsigned = is_strict && request.header("booking-signature").is_none();
        let is_closed = is_unsigned || request.is("POST", "/closed");
        Reply::json(if is_closed { 400 } else { 200 }, &json!({}))
    });
    for (path, kind) in
        [("closed", "unsigned"), ("strict", "unsigned"), ("hook", "unsigned"), ("hook", "old")]
    {
        let url = json!({"webhook_url": format!("{}/{path}", handler.base_url())});
        sandbox.control("PUT", "/sandbox/organization", &url);
        sandbox.fails(&json!({"on": "webhook", "kind": kind}));
        let before = handler.requests().len();
        sandbox.book("ven_confirms", &format!("{path}-{kind}"));
        let expected = match (path, kind) {
            ("closed", _) => vec!["genuine_rejected"],
            ("strict", _) => vec![],
            (_, "unsigned") => vec!["unsigned_accepted"],
            _ => vec!["unsigned_accepted", "old_accepted"],
        };
        let is_met = || sandbox.has_met(&format!("webhook_{kind}"));
        until(&format!("{path} {kind} is {expected:?}"), || {
            handler.requests().len() >= before + 2 && is_met() && sandbox.found() == expected
        });
    }
    let before = sandbox.found();
    sandbox.control("POST", "/sandbox/reset", &Value::Null);
    assert_eq!(sandbox.found(), before);
    assert!(sandbox.has_met("webhook_unsigned"));
}

/// What later requests have pushed out of the log still counts, and so does what was deleted.
#[test]
fn a_long_suite_keeps_what_it_met_and_broke_first() {
    let sandbox = Sandbox::start();
    let added = sandbox.control("POST", "/sandbox/organizations", &Value::Null);
    let key = format!("Bearer {}", added["keys"]["live"].as_str().unwrap());
    let url = sandbox.0.base_url();
    send(url, "POST", "/v1/bookings", &[("Authorization", &key)], "{}");
    let own = format!("/sandbox/organizations/{}", added["id"].as_str().unwrap());
    sandbox.control("DELETE", &own, &Value::Null);
    let requests = sandbox.control("GET", "/sandbox/requests", &Value::Null);
    assert_eq!(requests["requests"], json!([]));
    assert_eq!(sandbox.found(), ["no_idempotency_key"]);

    let order = sandbox.order("ven_otp");
    sandbox.fails(&json!({"on": "POST /v1/bookings", "kind": "status", "status": 503}));
    books_in_a_loop(&sandbox, &order);
    // More than the 16 MB that the log takes.
    send_many(url, "GET /v1/", &[b'x'; 66_000], 300);
    let both = ["no_idempotency_key", "retry_with_another_key"];
    assert_eq!(sandbox.found(), both);
    assert!(sandbox.has_met("validation_failed") && sandbox.has_met("otp"));
}

/// Of a test's own organization, all that it sets up decides what is a retry; what others do, and
/// the time, do not.
#[test]
fn a_retry_is_found_whatever_other_tests_do_meanwhile() {
    let sandbox = Sandbox::start();
    let foreign = json!({"on": "GET /v1/", "kind": "status", "organization": "other"});
    let off = json!({"webhook_url": null});
    for (place, (method, path, body, is_found)) in [
        ("POST", "/sandbox/organizations", &Value::Null, true),
        ("POST", "/sandbox/faults", &foreign, true),
        ("POST", "/sandbox/clock", &json!({"advance": "2s"}), true),
        ("PUT", "/sandbox/organization?organization=other", &off, true),
        ("PUT", "/sandbox/organization", &off, false),
    ]
    .into_iter()
    .enumerate()
    {
        let mut order = sandbox.order("ven_confirms");
        order["customer"]["name"] = json!(format!("Ada {path} {place}"));
        let before = sandbox.finding_count();
        sandbox.fails(&json!({"on": "POST /v1/bookings", "kind": "drop_before"}));
        sandbox.first_try(&order, HANG);
        sandbox.control(method, path, body);
        sandbox.call("POST", "/v1/bookings", &format!("again-{place}"), &order);
        assert_eq!(sandbox.finding_count() > before, is_found, "{method} {path}");
    }
}

#[test]
fn a_client_that_hangs_up_has_booked_all_the_same() {
    let sandbox = Sandbox::start();
    let order = sandbox.order("ven_confirms");
    sandbox.fails(&json!({"on": "POST /v1/bookings", "kind": "delay", "delay_ms": 60_000}));
    sandbox.first_try(&order, Duration::from_millis(300));
    sandbox.call("POST", "/v1/bookings", "order-2", &order);
    assert_eq!(sandbox.found(), ["retry_with_another_key"]);
    assert!(sandbox.has_met("slow_response"));
    let bookings = sandbox.control("GET", "/sandbox/bookings", &Value::Null);
    assert_eq!(bookings["bookings"].as_array().unwrap().len(), 2);
}
