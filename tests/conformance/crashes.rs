//! kill -9 of a server with a database file: what was acknowledged is there afterwards.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::http::try_exchange;
use crate::receiver::Receiver;
use crate::service::{LIVE, Service};

/// How often the server is killed; `CONFORMANCE_CRASHES` asks for more than a build has time for.
fn rounds() -> usize {
    std::env::var("CONFORMANCE_CRASHES").ok().and_then(|it| it.parse().ok()).unwrap_or(20)
}

/// Idempotency keys, and the bookings that were acknowledged for them.
type Acknowledged = Mutex<BTreeMap<String, String>>;

/// Creates bookings one after the other until the server is gone, and notes what it acknowledged.
fn create_until_killed(base: &str, order: &Value, prefix: &str, acknowledged: &Acknowledged) {
    let bearer = format!("Bearer {LIVE}");
    let order = order.to_string();
    for number in 0.. {
        let key = format!("{prefix}-{number}");
        let headers = [("authorization", &*bearer), ("idempotency-key", &key)];
        let body = order.as_bytes();
        let Some(answer) = try_exchange(base, "POST", "/v1/bookings", &headers, body) else {
            return;
        };
        assert_eq!(answer.status(), 201);
        let id = answer.json()["id"].as_str().unwrap().to_owned();
        acknowledged.lock().unwrap().insert(key, id);
    }
}

#[test]
fn crash_1_acknowledged_booking_and_its_events_survive_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sandbox.db");
    let file = file.to_str().unwrap();
    let receiver = Receiver::start();
    let acknowledged = Acknowledged::default();
    for round in 0..rounds() {
        let mut service = Service::on_file(file, &["--no-limits", "--delivery-interval", "1h"]);
        service.settings(json!({"webhook_url": receiver.url}));
        let order = service.order("ven_confirms");
        let before = acknowledged.lock().unwrap().len();
        let base = service.base.clone();
        std::thread::scope(|scope| {
            for caller in 0..4 {
                let (base, order, acknowledged) = (&base, &order, &acknowledged);
                let prefix = format!("round-{round}-{caller}");
                scope.spawn(move || create_until_killed(base, order, &prefix, acknowledged));
            }
            // Killed in the middle of the load, each time at another point of it.
            let enough = before + 3 + round * 3 % 17;
            let deadline = Instant::now() + Duration::from_secs(10);
            while acknowledged.lock().unwrap().len() < enough {
                assert!(Instant::now() < deadline, "the load is under way");
                sleep(Duration::from_micros(300));
            }
            service.kill();
        });
        let database =
            Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        let verdict: String =
            database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
    }

    let service = Service::on_file(file, &["--no-limits", "--delivery-interval", "1h"]);
    let stored: BTreeMap<String, Value> = (service.bookings().into_iter())
        .map(|it| (it["id"].as_str().unwrap().to_owned(), it))
        .collect();
    let acknowledged = acknowledged.lock().unwrap().clone();
    for id in acknowledged.values() {
        assert!(stored.contains_key(id), "{id} was acknowledged and is lost");
    }
    // Whatever is stored has told of itself, once for every step.
    let mut events: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for delivery in service.deliveries() {
        let booking = delivery["booking_id"].as_str().unwrap().to_owned();
        let kind = delivery["type"].as_str().unwrap().to_owned();
        events.entry(booking).or_default().push(kind);
    }
    for (id, booking) in &stored {
        let mut kinds = events.remove(id).unwrap_or_default();
        kinds.sort();
        let last = format!("booking.{}", booking["status"].as_str().unwrap());
        let mut expected = ["booking.created".to_owned(), last];
        expected.sort();
        assert_eq!(kinds, expected, "{booking}");
    }
    assert!(events.is_empty(), "an event without its booking: {events:?}");
}

#[test]
fn crash_2_a_key_that_was_acknowledged_is_known_after_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sandbox.db");
    let file = file.to_str().unwrap();
    let mut service = Service::on_file(file, &[]);
    let order = service.order("ven_otp");
    let keyed = service.live().keyed("key");
    let first = keyed.post("/v1/bookings", order.clone());
    let code = json!({"otp": service.code()});
    service.kill();
    let service = Service::on_file(file, &[]);
    let again = service.live().keyed("key").post("/v1/bookings", order);
    assert_eq!(*again.is(200), *first.is(201));
    let answer = service.act(&first.body, "continue", code);
    assert_eq!(answer.is(200)["status"], "confirmed");
}

#[test]
fn crash_3_unfinished_delivery_is_made_again_after_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sandbox.db");
    let file = file.to_str().unwrap();
    let receiver = Receiver::start();
    let mut service = Service::on_file(file, &["--delivery-interval", "1h"]);
    service.settings(json!({"webhook_url": receiver.url}));
    let booking = service.book("ven_confirms");
    service.kill();
    let _service = Service::on_file(file, &[]);
    receiver.event("booking.created", &booking);
    receiver.event("booking.confirmed", &booking);
}
