//! Deliveries whose id or kind stands elsewhere: each is kept, and the keys that say where are
//! named.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::harness::listening::{App, Courier, Listening, SECRET, event, lines, signature, until};
use crate::harness::{Home, holds};

fn home(dialect: &str) -> Home {
    Home::new()
        .with_profile(
            "acme",
            "http://127.0.0.1:9",
            &format!("[profiles.acme.dialect]\nservice_name = 'Booking'\n{dialect}"),
        )
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
fn delivery_without_id_is_stored_once_under_its_digest() {
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
    home.ok(["webhook", "events", "show", id]).prints("unknown kind").prints("701");
    home.ok(["webhook", "events", "list"]).prints("unknown kind");
    let listening = Listening::start(&home, &[]);
    for kind in ["booking.created", "booking.confirmed"] {
        let body = event("evt_1", kind, "bk_1", "confirmed");
        assert_eq!(Courier::to(&listening.url).unwrap().deliver(&body), Some(200));
    }
    listening.end().says("a delivery has no event ID of its own at `id`");
    let app = App::start(|_| 200);
    home.ok(["webhook", "events", "replay", id, "--to", &app.url]);
    assert_eq!(app.count(), 1);
}

/// The signature is that of the bytes that came; the event is read from what they hold.
#[test]
fn delivery_with_gzip_or_a_byte_order_mark_is_read() {
    let home = home("");
    let listening = Listening::start(&home, &[]);
    let body = |id: &str| event(id, "booking.confirmed", "bk_1", "confirmed");
    let mut gzip = Command::new("gzip");
    let mut gzip = gzip.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    gzip.stdin.take().unwrap().write_all(body("evt_1").as_bytes()).unwrap();
    let packed = gzip.wait_with_output().unwrap().stdout;
    let marked = format!("\u{feff}{}", body("evt_2")).into_bytes();
    let mut courier = Courier::to(&listening.url).unwrap();
    for (body, encoding) in [(packed, "Content-Encoding: gzip\r\n"), (marked, "")] {
        let headers = format!("{encoding}Booking-Signature: {}\r\n", signature(&body));
        assert_eq!(courier.post(body, &headers), Some(200));
    }
    let output = listening.end();
    let (events, _) = lines(&output);
    assert_eq!([&events[0]["event_id"], &events[1]["event_id"]], ["evt_1", "evt_2"], "{output}");
    assert!(!output.stderr.contains("event_id_field"), "{output}");
}

#[test]
fn an_id_in_a_header_and_a_kind_at_a_path_are_found() {
    let home = home("event_id_field = \"header:X-Event-Id\"\nevent_type_field = \"event.kind\"\n");
    let listening = Listening::start(&home, &[]);
    let body = json!({"event": {"kind": "booking.confirmed"}, "data": {"object": {"id": "bk_1", "status": "confirmed"}}});
    let body = body.to_string();
    let headers = format!("X-Event-Id: e-9\r\nBooking-Signature: {}\r\n", signature(&body));
    let mut courier = Courier::to(&listening.url).unwrap();
    assert_eq!(courier.post(&body, &headers), Some(200));
    let output = listening.end();
    let (events, _) = lines(&output);
    holds!(events[0], {"event_id": "e-9", "type": "booking.confirmed", "booking_id": "bk_1"});
    assert!(!output.stderr.contains("event_id_field"), "{output}");
}

/// A service whose event's id stands elsewhere than bookctl looks, and where something stands that
/// several events have.
#[test]
fn id_that_events_of_other_kinds_have_loses_no_delivery() {
    let home = home("");
    let app = App::start(|_| 200);
    let listening = Listening::start(&home, &["--forward-to", &app.url]);
    let mut courier = Courier::to(&listening.url).unwrap();
    let body = |kind: &str| format!(r#"{{"id":"fx-1","type":"booking.{kind}","guests":2}}"#);
    let kinds = ["confirmed", "modified", "cancelled"];
    // The second time each is a duplicate, whatever its headers.
    for (kind, attempt) in kinds.iter().flat_map(|it| [(it, 1), (it, 2)]) {
        let body = body(kind);
        let headers = format!(
            "Booking-Delivery-Attempt: {attempt}\r\nBooking-Signature: {}\r\n",
            signature(&body)
        );
        assert_eq!(courier.post(&body, &headers), Some(200));
    }
    until("the app gets all three", || app.count() == 3);
    let bodies: Vec<String> = app.delivered().into_iter().map(|it| it.body).collect();
    assert_eq!(bodies, kinds.map(body));
    let output = listening.end();
    let warnings = output.stderr.matches("profile set acme dialect.event_id_field=PATH");
    assert_eq!(warnings.count(), 1, "{output}");
    let (events, summary) = lines(&output);
    assert_eq!(summary["duplicates"], 3, "{output}");
    let of_kind = |kind| events.iter().find(|it| it["type"] == kind).unwrap();
    assert_eq!(of_kind("booking.confirmed")["event_id"], "fx-1", "{output}");
    for kind in ["booking.modified", "booking.cancelled"] {
        let id = of_kind(kind)["event_id"].as_str().unwrap();
        assert!(id.starts_with("sha256:"), "{output}");
        home.ok(["webhook", "events", "show", id]);
    }
}

#[test]
fn signature_in_header_of_another_name_is_refused() {
    let home = home("");
    let body = body(1);
    let headers = format!("Acme-Signature: {}\r\n", signature(&body));
    let post = |headers: &str| {
        let listening = Listening::start(&home, &[]);
        let mut courier = Courier::to(&listening.url).unwrap();
        let statuses = [(); 2].map(|()| courier.post(&body, headers));
        (statuses, listening.end())
    };
    let said = "acme-signature, which verifies with the secret. To read that one: \
                bookctl profile set acme dialect.service_name=acme";
    let (statuses, output) = post(&headers);
    assert_eq!(statuses, [Some(400); 2]);
    assert_eq!(output.stderr.matches(said).count(), 1, "{output}");
    assert_eq!(lines(&output).0[1]["outcome"], "refused", "{output}");
    // Nobody knows who sent this one.
    let (_, output) = post("Acme-Signature: t=1,v1=00\r\n");
    assert!(!output.stderr.contains("service_name"), "{output}");
    let set = ["profile", "set", "acme", "dialect.service_name=acme"];
    home.ok(set);
    assert_eq!(post(&headers).0, [Some(200); 2]);
}

/// A home whose profile reads events with an expression.
fn home_with_expression(expression: &str) -> Home {
    Home::new()
        .with_profile("acme", "http://127.0.0.1:9", &format!("[profiles.acme.dialect]\nservice_name = 'Booking'\n[profiles.acme.read]\nevent = '{expression}'\n"))
        .with("BOOKCTL_WEBHOOK_SECRET", SECRET)
}

#[test]
fn event_whose_expression_fails_is_kept_unread_with_warning() {
    let home = home_with_expression(
        r#"if .version == 2 then error("version 2") else {id: .uid, type: .kind, data: {object: .booking}} end"#,
    );
    let listening = Listening::start(&home, &[]);
    let mut courier = Courier::to(&listening.url).unwrap();
    let body = |version: u8| {
        json!({"version": version, "id": "of_something_else", "uid": "evt_1", "kind": "booking.confirmed",
               "booking": {"id": "bk_1", "status": "confirmed"}})
        .to_string()
    };
    for version in [1, 2, 2] {
        assert_eq!(courier.deliver(&body(version)), Some(200));
    }
    let output = listening.end().says("read.event failed: \"version 2\"");
    let (events, _) = lines(&output);
    assert_eq!(events[0]["event_id"], "evt_1", "{output}");
    let unread = events[1]["event_id"].as_str().unwrap();
    assert!(unread.starts_with("sha256:"), "{output}");
    assert_eq!(events[1]["booking_id"], json!(null), "{output}");
    assert_eq!(events[2]["outcome"], "duplicate", "{output}");
    let shown = home.run(["webhook", "events", "show", unread, "--json"]);
    assert_eq!(shown.exits(0).json()["body"], body(2));
}

#[test]
fn an_expression_that_takes_its_time_holds_nobody_up() {
    let home = home_with_expression("if .slow then until(false; .) else . end");
    let listening = Listening::start(&home, &[]);
    let (url, order) = (listening.url.clone(), std::sync::mpsc::channel());
    let slow = order.0.clone();
    let posting = std::thread::spawn(move || {
        let status = Courier::to(&url).unwrap().deliver(r#"{"slow":true}"#);
        slow.send(status).unwrap();
    });
    // Those that are refused need no expression.
    for _ in 0..20 {
        let mut courier = Courier::to(&listening.url).unwrap();
        let status = courier.post("{}", "Booking-Signature: t=1,v1=00\r\n");
        order.0.send(status).unwrap();
    }
    posting.join().unwrap();
    let answers: Vec<_> = order.1.try_iter().collect();
    assert_eq!(answers.last(), Some(&Some(200)), "{answers:?}");
    assert_eq!(answers.len(), 21);
    listening.end().says("did not end within");
}
