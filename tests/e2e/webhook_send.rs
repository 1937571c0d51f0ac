//! `webhook send`: well-formed events, signed, to the address that was named.

use serde_json::{Value, json};

use crate::docs::has_described_fields;
use crate::harness::listening::{event, home_with_the_secret, home_without_a_service, received};
use crate::harness::{Home, Reply, Scripted, Served, free_port, holds, words};

const KINDS: &str = "created requires_action processing confirmed failed cancelled modified";

fn taking() -> Scripted {
    Scripted::start(|_| Reply::json(200, &json!({"taken": true})))
}

#[test]
fn an_event_of_each_kind_is_posted_and_its_signature_verifies() {
    let (home, consumer) = (home_with_the_secret(), taking());
    let to = format!("{}/hooks?x=1", consumer.base_url());
    for kind in KINDS.split(' ') {
        let kind = format!("booking.{kind}");
        let output = home.ok(["webhook", "send", &kind, "--to", &to, "--json"]);
        let sent = output.json();
        has_described_fields(&home, "webhook send", &sent);
        holds!(sent, {"delivered": true, "status": 200});
        assert_eq!(sent["body"], r#"{"taken":true}"#);

        let request = consumer.requests().pop().unwrap();
        assert!(request.is("POST", "/hooks?x=1"));
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert_eq!(request.header("booking-delivery-attempt"), Some("1"));
        assert_eq!(request.json(), sent["event"]);
        assert_eq!(request.json()["type"], Value::from(kind));
        let header = request.header("booking-signature").unwrap();
        home.feed(["webhook", "verify", "--signature", header], &request.body).exits(0);
    }
}

/// No service takes part: only the secret is the sandbox's.
#[test]
fn event_without_service_mentions_sandbox_for_its_secret_alone() {
    let (home, consumer) = (Home::new(), taking());
    let send = ["webhook", "send", "booking.confirmed", "--to"];
    let output = home.ok(send.iter().chain(&[consumer.base_url()]));
    assert_eq!(output.stderr, "using the sandbox's webhook secret\n");
}

#[test]
fn fields_are_set_by_path_and_typed() {
    let (home, consumer) = (home_with_the_secret(), taking());
    let to = consumer.base_url();
    home.ok(words(format!(
        "webhook send booking.failed --to {to} -F id=evt_1 -F data.object.status=cancelled \
         -F data.object.error_message=null -F data.object.next_action={{\"type\":\"otp\"}} \
         -F data.object.provider=4 \
         -F data.object.last_modification.changes.datetime.from=2026-11-21T19:30:00Z"
    )));
    let event = consumer.requests()[0].json();
    let object = &event["data"]["object"];
    assert_eq!(event["id"], "evt_1");
    let modified = json!({"changes": {"datetime": {"from": "2026-11-21T19:30:00Z"}}});
    holds!(object, {"status": "cancelled", "error_message": null, "next_action": {"type": "otp"}});
    holds!(object, {"provider": 4, "last_modification": modified});
}

#[test]
fn event_about_real_booking_holds_what_service_says_of_it() {
    let served = Served::start();
    let (home, consumer) = (served.home(), taking());
    let booking = home.booked("ven_provider_fails", &[], 11);
    let send = |about: &str| {
        let to = consumer.base_url();
        let send = format!("webhook send booking.failed --json --to {to} --booking {about}");
        home.run(send.split(' '))
    };
    // The sandbox tells its own secret.
    send(&booking).exits(0);
    let request = consumer.requests().pop().unwrap();
    let summary = request.json()["data"]["object"].clone();
    let document = home.booking(&booking);
    for (field, value) in summary.as_object().unwrap() {
        assert_eq!(value, &document[field], "{field}");
    }
    assert_eq!(summary["error_code"], document["error_code"]);
    assert!(summary.get("customer").is_none(), "an event holds a summary alone");
    let header = request.header("booking-signature").unwrap();
    home.feed(["webhook", "verify", "--signature", header], &request.body).exits(0);

    send("bk_nowhere").exits(6);
}

#[test]
fn the_exit_code_says_what_the_consumer_made_of_it() {
    let home = home_with_the_secret();
    let send = |reply: Reply| {
        // Only the one that never answers is to be given up soon: a busy machine may be late with
        // the others.
        let timeout = match reply {
            Reply::Silence => "300ms",
            _ => "20s",
        };
        let consumer = Scripted::start(move |_| reply.clone());
        let to = ["--to", consumer.base_url(), "--json", "--timeout", timeout];
        home.run(["webhook", "send", "booking.created"].iter().chain(&to))
    };
    for (status, code) in [(204, 0), (299, 0), (302, 7), (400, 7), (500, 7)] {
        let output = send(Reply::Whole(status, "text/plain", String::new())).exits(code);
        assert_eq!(output.json()["status"], status);
        assert_eq!(output.json()["delivered"], code == 0);
    }
    send(Reply::Close).refused(15, "network");
    send(Reply::Silence).refused(15, "timeout");
    let gone = format!("webhook send booking.created --to http://127.0.0.1:{}", free_port());
    home.refuses(&gone, 15, "network");
}

#[test]
fn interrupt_of_a_hanging_send_says_the_event_may_be_received() {
    let (sender, replayer) = (home_with_the_secret(), home_without_a_service());
    let body = event("evt_1", "booking.created", "bk_1", "processing");
    received(&replayer, &[body]);
    #[rustfmt::skip]
    let cases = [
        (&sender, &["send", "booking.created", "--to"][..], "event evt_"),
        (&sender, &["drill"], "events were"),
        (&replayer, &["events", "replay", "evt_1", "--to"], "1 of 1 events were"),
    ];
    for (home, command, what) in cases {
        let consumer = Scripted::start(|_| Reply::Silence);
        let command = ["webhook"].iter().chain(command);
        let running = home.start(command.chain(&[consumer.base_url(), "--json"]));
        consumer.wait_for_request();
        running.signal("-INT");
        let error = running.end().refused(130, "interrupted");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(what), "{error}");
        assert!(message.contains("may have handled"), "{error}");
    }
}

/// A page of an error is its beginning to a person, and whole to a script.
#[test]
fn of_long_answer_person_sees_beginning_and_how_much_there_is() {
    let home = home_with_the_secret();
    let page = "<p>no\n".repeat(5000);
    let whole = page.clone();
    let consumer = Scripted::start(move |_| Reply::Whole(500, "text/html", page.clone()));
    let to = consumer.base_url();
    let send = ["webhook", "send", "booking.created", "--to", to];
    let output = home.run(send).exits(7);
    let output = output.prints("<p>no").prints("29940 more bytes");
    assert!(output.stdout.len() < 2000, "{output}");
    let json = home.run(send.iter().chain(&["--json"])).exits(7).json();
    assert_eq!(json["body"], whole);
}

#[test]
fn a_dry_run_shows_the_request_and_sends_nothing() {
    let (home, consumer) = (home_with_the_secret(), taking());
    let send = "webhook send booking.modified --timestamp 1795262400 --dry-run --to";
    let request = home.json(&format!("{send} {}", consumer.base_url()));
    assert_eq!(request["method"], "POST");
    assert_eq!(request["body"]["type"], "booking.modified");
    let header = request["headers"]["Booking-Signature"].as_str().unwrap();
    assert!(header.starts_with("t=1795262400,v1="), "{header}");
    assert!(consumer.requests().is_empty());
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let home = home_with_the_secret();
    for arguments in [
        "booking.confirmed",
        "booking.archived --to http://127.0.0.1:1/",
        "booking.confirmed --to 127.0.0.1:1",
        "booking.confirmed --to ftp://127.0.0.1/",
        "booking.confirmed --to http://user:pass@127.0.0.1/",
        "booking.confirmed --to http://127.0.0.1:1/ --timestamp yesterday",
        "booking.confirmed --to http://127.0.0.1:1/ -F x",
    ] {
        home.refuses(&format!("webhook send {arguments}"), 2, "usage");
    }
}

/// "`--verbose` (requests and answers on stderr, redacted)" (command line)
#[test]
fn verbose_shows_what_was_sent_to_handler_and_what_it_answered() {
    let consumer = taking();
    let send = ["webhook", "send", "booking.confirmed", "-v", "--to"];
    let to = format!("{}/hooks", consumer.base_url());
    home_with_the_secret()
        .ok(send.iter().chain(&[to.as_str()]))
        .says(format!("> POST {to}\n> Booking-Signature: t="))
        .says("> {\"id\":\"evt_")
        .says("< 200\n< {\"taken\":true}");
    let output = home_with_the_secret().run(["webhook", "drill", "-v", &to]);
    let posted = output.stderr.matches("> POST ").count();
    assert_eq!(posted, consumer.requests().len() - 1, "{output}");
    let first = output.stderr.matches("> Booking-Delivery-Attempt: 1\n").count();
    assert_eq!(first, posted, "{output}");
    output.tells(" more bytes");
    let home = home_without_a_service();
    let body = event("evt_1", "booking.created", "bk_1", "confirmed");
    received(&home, &[body]);
    home.ok(["webhook", "events", "replay", "evt_1", "-v", "--to", &to])
        .says(format!("> POST {to}\n"))
        .says("> Booking-Signature: t=")
        .says("> {\"id\":\"evt_1\"")
        .says("< 200\n< {\"taken\":true}");
}
