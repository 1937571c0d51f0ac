//! Deliveries whose id or kind stands elsewhere: each is kept, and the keys that say where are named.

use serde_json::json;

use crate::harness::Home;
use crate::harness::listening::{Courier, Listening, SECRET, lines, signature};

fn home(dialect: &str) -> Home {
    Home::new()
        .configured(&format!(
            "default_profile = \"acme\"\n[profiles.acme]\nbase_url = \"http://127.0.0.1:9\"\n\
             [profiles.acme.dialect]\nservice_name = \"Booking\"\n{dialect}"
        ))
        .with("BOOKCTL_WEBHOOK_SECRET", SECRET)
}

fn body(number: usize) -> String {
    json!({
        "event": {"number": number},
        "payload": {"booking": {"id": 700 + number, "status": "CONFIRMED", "provider": "a"}},
    })
    .to_string()
}

#[test]
fn a_delivery_without_an_id_is_kept_once_under_the_digest_of_its_body_with_one_warning() {
    let home = home("");
    let listening = Listening::start(&home, &[]);
    let mut courier = Courier::to(&listening.url).unwrap();
    for number in [1, 2, 1] {
        assert_eq!(courier.deliver(&body(number)), Some(200));
    }
    let output = listening.end();
    let warnings = output.stderr.matches("dialect.event_id_field=PATH").count();
    assert_eq!(warnings, 1, "{output}");
    let (events, summary) = lines(&output);
    assert_eq!(events.len(), 3, "{output}");
    assert_eq!(events[0]["booking_id"], "701");
    assert_eq!(events[2]["outcome"], "duplicate");
    assert_eq!(summary["received"], 2, "{summary}");
    let id = events[0]["event_id"].as_str().unwrap();
    assert!(id.starts_with("sha256:"), "{id}");
    home.run(["webhook", "events", "show", id])
        .exits(0)
        .prints("unknown kind")
        .prints("701");
    home.run(["webhook", "events", "list"])
        .exits(0)
        .prints("unknown kind");
    let app = crate::harness::listening::App::start(|_| 200);
    home.run(["webhook", "events", "replay", id, "--to", &app.url])
        .exits(0);
    assert_eq!(app.count(), 1);
}

#[test]
fn an_id_in_a_header_and_a_kind_at_a_path_are_found() {
    let home = home("event_id_field = \"header:X-Event-Id\"\nevent_type_field = \"event.kind\"\n");
    let listening = Listening::start(&home, &[]);
    let body = json!({"event": {"kind": "booking.confirmed"}, "data": {"object": {"id": "bk_1", "status": "confirmed"}}});
    let body = body.to_string();
    let headers = format!(
        "X-Event-Id: e-9\r\nBooking-Signature: {}\r\n",
        signature(&body)
    );
    let mut courier = Courier::to(&listening.url).unwrap();
    assert_eq!(courier.post(&body, &headers), Some(200));
    let output = listening.end();
    let (events, _) = lines(&output);
    assert_eq!(
        (
            &events[0]["event_id"],
            &events[0]["type"],
            &events[0]["booking_id"]
        ),
        (&json!("e-9"), &json!("booking.confirmed"), &json!("bk_1"))
    );
    assert!(!output.stderr.contains("event_id_field"), "{output}");
}

#[test]
fn a_delivery_that_is_not_signed_is_still_refused() {
    let home = home("");
    let listening = Listening::start(&home, &[]);
    let mut courier = Courier::to(&listening.url).unwrap();
    assert_eq!(
        courier.post(&body(1), "Booking-Signature: t=1,v1=00\r\n"),
        Some(400)
    );
    listening.end();
}

#[test]
fn deliveries_whose_ids_differ_in_the_last_of_many_digits_are_two() {
    let home = home("");
    let listening = Listening::start(&home, &[]);
    let mut courier = Courier::to(&listening.url).unwrap();
    for id in [
        "123456789012345678901234",
        "123456789012345678901235",
        "1234567890.12345678",
        "1234567890.12345679",
    ] {
        let body = format!(
            r#"{{"id":{id},"type":"booking.confirmed","data":{{"object":{{"id":{id},"status":"confirmed"}}}}}}"#
        );
        assert_eq!(courier.deliver(&body), Some(200));
    }
    let output = listening.end();
    let (events, summary) = lines(&output);
    assert_eq!(summary["received"], 4, "{output}");
    assert_eq!(events[0]["event_id"], "123456789012345678901234");
    assert_eq!(events[1]["booking_id"], "123456789012345678901235");
}
