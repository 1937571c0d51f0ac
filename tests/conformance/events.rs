//! "Events", 0 to 9: what is sent where, how it is signed, and how often it is tried.

use std::net::TcpListener;
use std::thread::sleep;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::receiver::{Receiver, Reply};
use crate::service::{LIVE, OTHER, Service, TEST, approval, instant, list, names};

const SECRET: &str = "whsec_conformance";

/// A service whose events go to a receiver.
fn subscribed(arguments: &[&str], receiver: &Receiver) -> Service {
    let service = Service::start(arguments);
    service.settings(json!({"webhook_url": receiver.url, "webhook_secret": SECRET}));
    service
}

/// A receiver, and a service whose events go there.
fn hearing() -> (Receiver, Service) {
    let receiver = Receiver::start();
    let service = subscribed(&[], &receiver);
    (receiver, service)
}

/// A service whose events go to a receiver, and a booking that it confirmed.
fn booked(receiver: &Receiver) -> (Service, Value) {
    let service = subscribed(&[], receiver);
    let booking = service.book("ven_confirms");
    (service, booking)
}

/// The deliveries about a booking, once a condition holds for them.
fn deliveries(
    service: &Service,
    booking: &Value,
    condition: impl Fn(&[Value]) -> bool,
) -> Vec<Value> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut deliveries = service.deliveries();
        deliveries.retain(|it| it["booking_id"] == booking["id"]);
        if condition(&deliveries) {
            return deliveries;
        }
        assert!(Instant::now() < deadline, "{deliveries:#?}");
        sleep(Duration::from_millis(50));
    }
}

/// The delivery of one kind of event about a booking, once so many attempts were made.
fn delivery(service: &Service, booking: &Value, kind: &str, attempts: usize) -> Value {
    let of_kind = |it: &&Value| it["type"] == kind;
    let tried = |it: &Value| list(it, "attempts").len() >= attempts;
    let found = deliveries(service, booking, |all| all.iter().find(of_kind).is_some_and(tried));
    found.iter().find(of_kind).unwrap().clone()
}

#[test]
fn events_1a_the_target_is_the_organizations_webhook_url() {
    let (first, second) = (Receiver::start(), Receiver::start());
    let service = subscribed(&[], &first);
    let before = service.book("ven_confirms");
    first.event("booking.confirmed", &before);
    service.settings(json!({"webhook_url": second.url}));
    let after = service.book("ven_confirms");
    second.event("booking.confirmed", &after);
    assert!(first.kinds(&after).is_empty());
}

#[test]
fn events_1a_each_organization_has_its_own_url_and_secret() {
    let (ours, theirs) = (Receiver::start(), Receiver::start());
    let service = subscribed(&[], &ours);
    let path = "/sandbox/organization?organization=other";
    let settings = json!({"webhook_url": theirs.url, "webhook_secret": "whsec_theirs"});
    service.live().call("PUT", path, Some(settings)).is(200);
    let order = service.order("ven_confirms");
    let mine = service.post("/v1/bookings", order.clone());
    let other = service.with(OTHER).post("/v1/bookings", order);
    let event = theirs.event("booking.confirmed", other.is(201));
    assert!(event.is_signed_with("whsec_theirs"));
    let event = ours.event("booking.confirmed", mine.is(201));
    assert!(event.is_signed_with(SECRET));
    assert!(ours.kinds(&other.body).is_empty());
    assert!(theirs.kinds(&mine.body).is_empty());
}

#[test]
fn events_1b_bookings_of_every_key_are_delivered_there() {
    let (receiver, service) = hearing();
    for key in [LIVE, TEST] {
        let order = service.order("ven_confirms");
        let answer = service.with(key).post("/v1/bookings", order);
        receiver.event("booking.confirmed", answer.is(201));
    }
}

#[test]
fn events_1c_with_no_url_set_nothing_is_sent() {
    let (receiver, service) = hearing();
    service.settings(json!({"webhook_url": null}));
    let silent = service.book("ven_confirms");
    service.settings(json!({"webhook_url": receiver.url}));
    let told = service.book("ven_confirms");
    receiver.event("booking.confirmed", &told);
    assert!(receiver.kinds(&silent).is_empty());
    let pending = deliveries(&service, &silent, |_| true);
    assert!(pending.iter().all(|it| it["state"] != "pending"));
}

#[test]
fn events_1c_pending_events_wait_while_the_url_is_removed() {
    let receiver = Receiver::saying(|_, _| Reply(500, Duration::ZERO));
    let (service, booking) = booked(&receiver);
    delivery(&service, &booking, "booking.created", 1);
    delivery(&service, &booking, "booking.confirmed", 1);
    service.settings(json!({"webhook_url": null}));
    service.advance("31s");
    let waits = |it: &Value| it["state"] == "pending" && it.get("next_attempt_at").is_none();
    deliveries(&service, &booking, |all| all.iter().all(waits));
    assert_eq!(receiver.attempts().len(), 2);
    service.settings(json!({"webhook_url": receiver.url}));
    delivery(&service, &booking, "booking.created", 2);
}

/// Nine bookings hold up an attempt each.
#[test]
fn events_6b_a_slow_receiver_holds_up_only_its_own_organization() {
    let slow = Receiver::saying(|_, _| Reply(200, Duration::from_secs(9)));
    let receiver = Receiver::start();
    let service = subscribed(&["--no-limits"], &slow);
    let url = json!({"webhook_url": receiver.url});
    let other = "/sandbox/organization?organization=other";
    service.live().call("PUT", other, Some(url)).is(200);
    let first = service.book("ven_confirms");
    for _ in 0..8 {
        service.book("ven_confirms");
    }
    slow.event("booking.created", &first);
    let order = service.order("ven_confirms");
    let booking = service.with(OTHER).post("/v1/bookings", order);
    let began = Instant::now();
    receiver.event("booking.confirmed", booking.is(201));
    assert!(began.elapsed() < Duration::from_secs(6));
}

#[test]
fn events_1d_the_bookings_own_webhook_url_is_never_used() {
    let (receiver, named) = (Receiver::start(), Receiver::start());
    let service = subscribed(&[], &receiver);
    let fields = json!({"webhook_url": named.url});
    let booking = service.create_with("ven_confirms", fields.clone());
    receiver.event("booking.confirmed", booking.is(201));
    service.settings(json!({"webhook_url": null}));
    let booking = service.create_with("ven_confirms", fields);
    service.settings(json!({"webhook_url": receiver.url}));
    let fence = service.book("ven_confirms");
    receiver.event("booking.confirmed", &fence);
    assert!(receiver.kinds(booking.is(201)).is_empty());
    assert_eq!(named.attempts().len(), 0);
}

#[test]
fn events_4b_data_object_is_the_summary_with_what_is_present() {
    let (receiver, service) = hearing();
    let always = ["id", "object", "provider", "status"];
    let expected = |more: &[&'static str]| {
        let mut names = [&always[..], more].concat();
        names.sort_unstable();
        names
    };

    let booking = service.book("ven_confirms");
    let event = receiver.event("booking.confirmed", &booking);
    assert_eq!(names(event.object()), expected(&[]));

    let booking = service.book("ven_otp");
    let event = receiver.event("booking.requires_action", &booking);
    assert_eq!(names(event.object()), expected(&["next_action"]));

    let booking = service.book("ven_provider_fails");
    let event = receiver.event("booking.failed", &booking);
    assert_eq!(names(event.object()), expected(&["error_code", "error_message"]));

    let booking = service.book("ven_confirms");
    let modified = service.act(&booking, "modify", json!({"party_size": 3}));
    let event = receiver.event("booking.modified", &booking);
    assert_eq!(names(event.object()), expected(&["last_modification"]));
    for (name, value) in event.object().as_object().unwrap() {
        assert_eq!(modified.body[name], *value, "{name}");
    }
}

#[test]
fn events_4c_booking_has_the_fields_that_the_summary_lacks() {
    let (receiver, service) = hearing();
    let booking = service.book_paid("ven_payment");
    let event = receiver.event("booking.requires_action", &booking);
    let read = service.read(event.object());
    for name in "venue_id datetime party_size customer expires_at".split(' ') {
        assert_eq!(event.object().get(name), None, "{name}");
        assert!(!read[name].is_null(), "{name}");
    }
}

#[test]
fn events_5a_the_signature_header_holds_t_and_v1() {
    let (receiver, service) = hearing();
    let booking = service.book("ven_confirms");
    let attempt = receiver.event("booking.confirmed", &booking);
    let (t, v1) = attempt.signature();
    assert!(t.bytes().all(|it| it.is_ascii_digit()));
    assert_eq!(v1.len(), 64);
    assert!(v1.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it)));
}

#[test]
fn events_5b_v1_is_the_hmac_of_t_a_dot_and_the_raw_body() {
    let (receiver, service) = hearing();
    // A body with more than ASCII in it.
    let guest = json!({"customer": {"name": "Zoë Müller", "phone": "+441632960001"}});
    let booking = service.create_with("ven_otp", guest);
    let mut attempt = receiver.event("booking.requires_action", booking.is(201));
    assert!(attempt.is_signed_with(SECRET));
    attempt.raw.push(b'\n');
    assert!(!attempt.is_signed_with(SECRET), "raw bytes");
}

#[test]
fn events_5d_every_attempt_is_signed_afresh_with_its_own_time() {
    let receiver =
        Receiver::saying(|_, before| Reply(if before < 2 { 500 } else { 200 }, Duration::ZERO));
    let (service, booking) = booked(&receiver);
    receiver.wait(2, |_| true);
    deliveries(&service, &booking, |all| all.iter().all(|it| list(it, "attempts").len() == 1));
    // Into the next second of real time, which is what signatures tell.
    let first_second = receiver.attempts()[1].at.as_second();
    while Timestamp::now().as_second() == first_second {
        sleep(Duration::from_millis(20));
    }
    service.advance("31s");
    let attempts = receiver.wait(4, |_| true);
    let (first, again) = (&attempts[0], &attempts[2..]);
    let again = again.iter().find(|it| it.event["id"] == first.event["id"]).unwrap();
    assert_eq!(again.raw, first.raw);
    for attempt in &attempts {
        assert!(attempt.is_signed_with(SECRET));
        let t: i64 = attempt.signature().0.parse().unwrap();
        assert!((attempt.at.as_second() - t).abs() <= 2, "the attempt's time");
    }
    assert_ne!(again.signature(), first.signature());
}

#[test]
fn events_6a_the_worker_delivers_at_the_pace_of_its_interval() {
    let receiver = Receiver::start();
    let service = subscribed(&["--delivery-interval", "3s"], &receiver);
    let started = Timestamp::now();
    let first = service.book("ven_confirms");
    receiver.event("booking.confirmed", &first);
    // The round is over when what it took is noted.
    let delivered = |all: &[Value]| all.iter().all(|it| it["state"] == "delivered");
    deliveries(&service, &first, delivered);
    let second = service.book("ven_confirms");
    receiver.event("booking.confirmed", &second);
    let attempts = receiver.attempts();
    let since = |from: Timestamp, to: Timestamp| to.duration_since(from).as_millis();
    // What one round takes goes at once; the next round is an interval later.
    let wait = since(started, attempts[0].at);
    assert!((1_500..5_000).contains(&wait), "{wait} ms");
    let together = since(attempts[0].at, attempts[1].at);
    assert!(together < 1_000, "{together} ms");
    let round = since(attempts[1].at, attempts[2].at);
    assert!((2_000..5_000).contains(&round), "{round} ms");
}

#[test]
#[ignore = "waits for eight seconds"]
fn events_6b_any_2xx_within_10_seconds_is_delivered() {
    let statuses = [200, 201, 202, 204, 299];
    let receiver = Receiver::saying(move |_, before| {
        let late = if before == 0 { 8 } else { 0 };
        Reply(statuses[before % statuses.len()], Duration::from_secs(late))
    });
    let service = subscribed(&[], &receiver);
    for booking in [(); 3].map(|()| service.book("ven_confirms")) {
        let delivered = |all: &[Value]| all.iter().all(|it| it["state"] == "delivered");
        for delivery in deliveries(&service, &booking, delivered) {
            let attempts = list(&delivery, "attempts");
            assert_eq!(attempts.len(), 1);
            assert!(attempts[0]["status"].is_number());
            assert_eq!(delivery.get("next_attempt_at"), None);
        }
    }
}

/// Asserts that a delivery is tried again so long after its last attempt failed.
#[track_caller]
fn assert_tried_again_after(seconds: i64, delivery: &Value) {
    let attempts = list(delivery, "attempts");
    let last = attempts.last().unwrap();
    let pause = instant(&delivery["next_attempt_at"]).duration_since(instant(&last["at"]));
    // The attempt is dated when it began; noting that it failed takes a moment too.
    let took = SignedDuration::from_millis(last["latency_ms"].as_i64().unwrap());
    let least = SignedDuration::from_secs(seconds);
    let most = least + took + SignedDuration::from_millis(900);
    assert!((least..=most).contains(&pause), "{pause} in {delivery}");
}

#[test]
fn events_6c_failure_is_retried_3_times_and_then_abandoned() {
    let receiver = Receiver::saying(|_, _| Reply(500, Duration::ZERO));
    let (service, booking) = booked(&receiver);
    for (number, wait, advance) in [(1, 30, "31s"), (2, 120, "2m1s"), (3, 600, "10m1s")] {
        let failed = delivery(&service, &booking, "booking.confirmed", number);
        assert_eq!(failed["state"], "pending");
        assert_tried_again_after(wait, &failed);
        service.advance(advance);
    }
    let last = delivery(&service, &booking, "booking.confirmed", 4);
    assert_eq!(last["state"], "abandoned");
    assert_eq!(last.get("next_attempt_at"), None);
    service.advance("2d");
    let fence = service.book("ven_confirms");
    delivery(&service, &fence, "booking.confirmed", 1);
    let last = delivery(&service, &booking, "booking.confirmed", 4);
    assert_eq!(list(&last, "attempts").len(), 4);
}

#[test]
fn events_6c_each_status_outside_2xx_is_a_failure() {
    let statuses = [301, 307, 400, 404, 410, 503];
    let receiver = Receiver::saying(move |_, before| Reply(statuses[before % 6], Duration::ZERO));
    let service = subscribed(&[], &receiver);
    for booking in [(); 3].map(|()| service.book("ven_confirms")) {
        for kind in ["booking.created", "booking.confirmed"] {
            let failed = delivery(&service, &booking, kind, 1);
            assert_eq!(failed["state"], "pending");
            assert_tried_again_after(30, &failed);
        }
    }
    assert_eq!(receiver.attempts().len(), 6, "no redirect is followed");
}

#[test]
#[ignore = "waits for ten seconds"]
fn events_6c_a_timeout_is_a_failure() {
    let receiver = Receiver::saying(|_, _| Reply(200, Duration::from_secs(25)));
    let (service, booking) = booked(&receiver);
    let failed = delivery(&service, &booking, "booking.confirmed", 1);
    assert_eq!(failed["state"], "pending");
    let attempt = &list(&failed, "attempts")[0];
    assert!(attempt["error"].is_string(), "{attempt}");
    assert_eq!(attempt.get("status"), None);
    let latency = attempt["latency_ms"].as_i64().unwrap();
    assert!((9_500..12_000).contains(&latency), "{latency} ms");
}

#[test]
fn events_6c_a_connection_error_is_a_failure() {
    // A port that nobody listens on any more.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    drop(listener);
    let service = Service::start(&[]);
    service.settings(json!({"webhook_url": url}));
    let booking = service.book("ven_confirms");
    let failed = delivery(&service, &booking, "booking.confirmed", 1);
    assert_eq!(failed["state"], "pending");
    assert!(list(&failed, "attempts")[0]["error"].is_string());
    assert_tried_again_after(30, &failed);
}

#[test]
fn events_7a_event_comes_again_if_it_was_not_acknowledged() {
    // The endpoint has the first event, and fails before it can say so.
    let receiver =
        Receiver::saying(|_, before| Reply(if before == 0 { 500 } else { 200 }, Duration::ZERO));
    let (service, booking) = booked(&receiver);
    let first = receiver.wait(2, |_| true)[0].clone();
    let kind = first.kind().to_owned();
    delivery(&service, &booking, &kind, 1);
    service.advance("31s");
    let id = first.event["id"].clone();
    let copies = receiver.wait(2, move |it| it.event["id"] == id);
    assert_eq!(copies[0].raw, copies[1].raw);
    // It came after the one that happened later: out of order.
    assert_eq!(receiver.attempts().last().unwrap().kind(), kind);
}

#[test]
fn events_7b_event_ids_are_unique_and_statuses_may_be_old() {
    let receiver =
        Receiver::saying(|_, before| Reply(if before < 2 { 500 } else { 200 }, Duration::ZERO));
    let (service, booking) = booked(&receiver);
    receiver.wait(2, |_| true);
    delivery(&service, &booking, "booking.confirmed", 1);
    delivery(&service, &booking, "booking.created", 1);
    service.act(&booking, "cancel", json!({})).is(200);
    service.advance("31s");
    let attempts = receiver.wait(5, |_| true);
    // The copies of an event share its id; different events never do.
    let mut ids: Vec<&Value> = attempts.iter().map(|it| &it.event["id"]).collect();
    ids.sort_by_key(ToString::to_string);
    ids.dedup();
    assert_eq!(ids.len(), 3);
    // The late copy tells of the status of then; the booking tells of now.
    let late = attempts.iter().rfind(|it| it.kind() == "booking.confirmed").unwrap();
    assert_eq!(late.object()["status"], "confirmed");
    assert_eq!(service.read(late.object())["status"], "cancelled");
}

#[test]
fn events_8_the_history_of_deliveries_can_be_seen() {
    let receiver =
        Receiver::saying(|_, before| Reply(if before < 2 { 503 } else { 200 }, Duration::ZERO));
    let service = subscribed(&[], &receiver);
    let booking = service.book_paid("ven_payment");
    delivery(&service, &booking, "booking.created", 1);
    delivery(&service, &booking, "booking.requires_action", 1);
    service.advance("31s");
    let history = delivery(&service, &booking, "booking.created", 2);
    assert_eq!(history["state"], "delivered");
    let attempts = list(&history, "attempts");
    assert_eq!(attempts[0]["status"], 503);
    assert_eq!(attempts[1]["status"], 200);
    let answer = service.act(&booking, "continue", approval(&booking));
    answer.is(200);
}
