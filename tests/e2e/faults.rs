//! A service, a network, a disk that misbehave: never a false success, never a booking made twice,
//! never a key in the wrong place.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};

use crate::harness::{GUEST, HANG, Home, Reply, Request, Scripted, has, text, words};

pub(crate) const SLOT_TIME: &str = "2030-12-01T19:30:00+01:00";

pub(crate) fn slots() -> Value {
    let slot = json!({"availability_id": "slot_1", "datetime": SLOT_TIME, "party_size": 2});
    json!({"object": "list", "venue_id": "ven_1", "provider": "provider_a", "slots": [slot]})
}

pub(crate) fn confirmed() -> Value {
    json!({"id": "bk_1", "object": "booking", "status": "confirmed", "provider": "provider_a"})
}

/// A service whose searches work and whose creates are answered by `create`, given how many came
/// before.
pub(crate) fn creating(create: impl Fn(usize) -> Reply + Send + 'static) -> Scripted {
    Scripted::start(move |request: &Request| match request.path.as_str() {
        "/v1/availability/search" => Reply::json(200, &slots()),
        "/v1/bookings" => create(request.earlier),
        _ => Reply::json(404, &json!({"error": "not found"})),
    })
}

/// The same service, which tells of the first create, and answers it once it may go on.
pub(crate) fn creating_held(
    create: impl Fn(usize) -> Reply + Send + 'static,
) -> (Scripted, Receiver<()>, Sender<()>) {
    let (sent, arrived) = channel();
    let (go_on, held) = channel::<()>();
    let server = creating(move |before| {
        if before == 0 {
            sent.send(()).unwrap();
            // Bounded, so that a failed assertion ends the test and does not leave it waiting.
            held.recv_timeout(HANG).unwrap();
        }
        create(before)
    });
    (server, arrived, go_on)
}

/// The booking command for the slot of this service, with more flags.
pub(crate) fn booking<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let command = ["book", "ven_1", "--at", SLOT_TIME, "--json"];
    [&command, &GUEST[2..], more].concat()
}

/// The booking that it asks for, as a service that echoes it has it.
pub(crate) fn requested_booking(id: &str) -> Value {
    json!({
        "id": id, "object": "booking", "status": "confirmed", "provider": "provider_a",
        "venue_id": "ven_1", "datetime": SLOT_TIME, "party_size": 2, "customer": {"name": "Ada Lovelace"},
    })
}

pub(crate) fn home(server: &Scripted) -> Home {
    Home::pointing_to(server.base_url(), "sk_live_x")
}

/// Every booking request carries the one key that the error names; returns it.
fn one_key(server: &Scripted, error: &Value) -> String {
    let keys: BTreeSet<String> = server
        .creates()
        .iter()
        .map(|request| request.header("idempotency-key").unwrap().to_owned())
        .collect();
    let key = text(error, "idempotency_key");
    assert_eq!(keys, BTreeSet::from([key.clone()]));
    key
}

#[test]
fn a_create_that_gets_its_answer_on_a_later_try_is_confirmed() {
    let server = creating(|before| match before {
        0 => Reply::Close,
        1 => Reply::json(503, &json!({"error": "busy"})),
        _ => Reply::json(201, &confirmed()),
    });
    assert_eq!(home(&server).ok(booking(&[])).json(), confirmed());
    let bodies: BTreeSet<String> = server.creates().iter().map(|it| it.body.clone()).collect();
    assert_eq!(bodies.len(), 1, "each try is the same request");
}

/// "a 5xx without a code … proves nothing" (design, Policies): three tries under one key, and the
/// attempt stays open.
#[test]
fn failing_booking_request_is_sent_three_times_and_exits_16() {
    for status in [500, 502, 503, 504] {
        let (server, home) =
            creating(move |_| Reply::json(status, &json!({"error": "busy"}))).beside_home();
        let error = home.run(booking(&[])).refused(16, "outcome_unknown");
        let key = one_key(&server, &error);
        assert_eq!(server.creates().len(), 3, "{status}");
        let open = &home.json("attempts")["attempts"];
        assert_eq!(open[0]["idempotency_key"], key, "{status}");
    }
}

/// Exit 15: "the service could not be reached, or its answer to a read could not be used" (command
/// line, Exit codes)
#[test]
fn whatever_is_no_answer_to_a_read_exits_15() {
    let cut = |rest| {
        let reply = Reply::Bytes(format!("HTTP/1.1 200 OK\r\n{rest}"));
        (reply, "network", "within the response")
    };
    for (reply, code, said) in [
        (Reply::html(), "unexpected_answer", "it is not JSON"),
        (Reply::json(200, &json!({"a": 1})), "unexpected_answer", ""),
        (Reply::Close, "network", "before the response"),
        cut("Content-Length: 50\r\n\r\n{"),
        cut("Transfer-Encoding: chunked\r\n\r\n5\r\n{"),
    ] {
        let (_server, home) = Scripted::with_home(move |_| reply.clone());
        let error = home.refuses("show bk_1", 15, code);
        has(&error, "message", said);
        assert_eq!(error["request"], "GET /v1/bookings/bk_1");
        assert_eq!(error["http_status"] == 200, code != "network", "{error}");
        home.run(words("search dining --near London --at 'tomorrow 19:30' --json"))
            .refused(15, code);
    }
}

/// "a continue, modify or cancel is not repeated blindly: the booking is read first" (design)
#[test]
fn code_whose_answer_is_lost_is_sent_once_and_booking_is_read() {
    let paused = json!({"id": "bk_1", "object": "booking", "status": "requires_action", "next_action": {"type": "otp"}});
    for (then, exit) in [(paused, 16), (confirmed(), 0)] {
        let (server, home) = Scripted::with_home(move |request| match request.method.as_str() {
            "GET" => Reply::json(200, &then),
            _ => Reply::Close,
        });
        home.run(["continue", "bk_1", "--otp", "123456", "--json"]).exits(exit);
        let sent = server.requests();
        let answers = sent.iter().filter(|it| it.is("POST", "/v1/bookings/bk_1/continue"));
        assert_eq!(answers.count(), 1);
        assert!(sent.iter().any(|it| it.is("GET", "/v1/bookings/bk_1")));
    }
}

/// "A key never follows a redirect or another base URL." (design, What must never happen)
#[test]
fn a_redirect_is_not_followed_and_the_key_does_not_travel() {
    for status in [301, 302, 307, 308] {
        let elsewhere = Scripted::start(|_| Reply::json(200, &confirmed()));
        let location = format!("{}/v1/bookings", elsewhere.base_url());
        let server = creating(move |_| {
            Reply::Bytes(format!(
                "HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            ))
        });
        let output = home(&server).run(booking(&[]));
        assert_ne!(output.code, Some(0), "{output}");
        output.error();
        assert!(elsewhere.requests().is_empty(), "{status}");
    }
}

/// Nothing but the host of where it leads is repeated: what stands around it may be a secret.
#[test]
fn a_redirect_is_said_to_be_one_and_where_it_leads() {
    for (location, to) in [
        ("https://user:word@elsewhere.example/v1?token=x", "https://elsewhere.example"),
        ("/elsewhere?token=x", "another path"),
        ("mailto:token", "another path"),
    ] {
        let (server, home) = Scripted::with_home(move |_| {
            Reply::Bytes(format!(
                "HTTP/1.1 307 Moved\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            ))
        });
        let error = home.refuses("show bk_1", 15, "unexpected_answer");
        let sentence =
            format!("the response (307) redirects to {to}, and bookctl does not follow redirects");
        assert_eq!(text(&error, "message"), sentence);
        has(&error, "hint", "base URL");
        assert_eq!(error["http_status"], 307);
        assert_eq!(server.requests().len(), 1);
    }
}

/// "Every wait has a deadline, says what it waits for" (design); `--timeout`
#[test]
fn a_service_that_never_answers_is_given_up_after_the_timeout() {
    let (server, home) = Scripted::with_home(|_| Reply::Silence);
    let show = ["show", "bk_1", "--json", "--timeout", "300ms"];
    home.run(show).refused(15, "timeout");
    let output = home.run(booking(&["--slot", "slot_1", "--timeout", "300ms"]));
    one_key(&server, &output.refused(16, "outcome_unknown"));
}
