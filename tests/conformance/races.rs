//! Many at once: no booking twice, no table sold twice, and a limit that is one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::service::{LIVE, Service, TEST, of_slot, path_of, with};

/// Makes all these posts with a key at once, one a connection; each body may have an idempotency
/// key. What came of each.
fn at_once(
    service: &Service,
    (key, path): (&str, &str),
    bodies: impl Iterator<Item = (Value, Option<String>)>,
) -> Vec<(u16, Value)> {
    std::thread::scope(|scope| {
        let calls = bodies.map(|(body, idempotency_key)| {
            scope.spawn(move || {
                let caller = service.with(key);
                let answer = match idempotency_key {
                    Some(key) => caller.keyed(&key).post(path, body),
                    None => caller.post(path, body),
                };
                (answer.status, answer.body)
            })
        });
        let calls: Vec<_> = calls.collect();
        calls.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

const CREATE: (&str, &str) = (LIVE, "/v1/bookings");

fn count(answers: &[(u16, Value)], status: u16) -> usize {
    answers.iter().filter(|it| it.0 == status).count()
}

#[test]
fn race_1_200_creates_of_20_keys_are_20_bookings() {
    let service = Service::start(&["--no-limits"]);
    let order = service.order("ven_confirms");
    let bodies = (0..200).map(|it| (order.clone(), Some(format!("key-{}", it % 20))));
    let answers = at_once(&service, CREATE, bodies);
    assert_eq!((count(&answers, 201), count(&answers, 200)), (20, 180));
    let ids: BTreeSet<&str> = answers.iter().map(|it| it.1["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 20);
    let stored = service.bookings();
    let stored: BTreeSet<&str> = stored.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(stored, ids);
}

/// How many of 50 that race for one slot get it.
fn race_for(service: &Service, venue: &str, slot: &Value) -> usize {
    let body = with(service.order(venue), &of_slot(slot));
    let answers = at_once(service, CREATE, (0..50).map(|_| (body.clone(), None)));
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for (status, booking) in answers {
        assert_eq!(status, 201, "{booking}");
        let outcome = match booking["error_code"].as_str() {
            Some(code) => code.to_owned(),
            None => booking["status"].as_str().unwrap().to_owned(),
        };
        *outcomes.entry(outcome).or_default() += 1;
    }
    let confirmed = outcomes.remove("confirmed").unwrap_or_default();
    let taken = outcomes.remove("slot_taken").unwrap_or_default();
    assert_eq!(confirmed + taken, 50, "{outcomes:?}");
    confirmed
}

#[test]
fn race_2_one_of_50_gets_the_last_table() {
    let service = Service::start(&["--no-limits"]);
    let slot = service.new_slot("ven_last_table");
    assert_eq!(race_for(&service, "ven_last_table", &slot), 1);
}

#[test]
fn race_3_as_many_of_50_get_a_seeded_slot_as_it_holds() {
    let service = Service::start(&["--no-limits"]);
    let venue = service.search_then("travel", "London", "provider_c");
    let venue = venue["venue_id"].as_str().unwrap();
    let slot = service.new_slot(venue);
    let winners = race_for(&service, venue, &slot);
    assert!((1..20).contains(&winners), "{winners}");
    // One after the other it holds as many.
    let alone = Service::start(&["--no-limits"]);
    alone.venues("travel", "London");
    let mut held = 0;
    while alone.create_with(venue, of_slot(&slot)).is(201)["status"] == "confirmed" {
        held += 1;
    }
    assert_eq!(winners, held);
}

#[test]
fn race_4_of_40_creates_at_once_10_pass_the_rate_limit() {
    let (service, order) = Service::with_order("ven_confirms");
    let answers = at_once(&service, CREATE, (0..40).map(|_| (order.clone(), None)));
    assert_eq!((count(&answers, 201), count(&answers, 429)), (10, 30));
    assert_eq!(service.bookings().len(), 10);
}

#[test]
fn race_5_a_test_allowance_is_not_overdrawn() {
    let (service, order) = Service::with_order("ven_confirms");
    let orders = (0..10).map(|_| (order.clone(), None));
    let answers = at_once(&service, (TEST, "/v1/bookings"), orders);
    assert_eq!((count(&answers, 201), count(&answers, 402)), (3, 7));
}

#[test]
fn race_6_a_code_confirms_once_however_many_send_it() {
    let service = Service::start(&["--no-limits"]);
    let booking = service.book("ven_otp");
    let code = json!({"otp": service.code()});
    let codes = (0..30).map(|_| (code.clone(), None));
    let answers = at_once(&service, (LIVE, &path_of(&booking, "continue")), codes);
    assert_eq!((count(&answers, 200), count(&answers, 409)), (1, 29));
}

#[test]
fn race_7_two_servers_of_one_database_sell_no_table_twice() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sandbox.db");
    let file = file.to_str().unwrap();
    let servers =
        [Service::on_file(file, &["--no-limits"]), Service::on_file(file, &["--no-limits"])];
    let order = servers[0].order("ven_last_table");
    let keyed = servers[0].order("ven_confirms");
    let answers = std::thread::scope(|scope| {
        let (order, keyed) = (&order, &keyed);
        let both = servers
            .each_ref()
            .map(|server| scope.spawn(move || at_once(server, CREATE, race_bodies(order, keyed))));
        both.map(|it| it.join().unwrap()).concat()
    });
    let of_last = |it: &&(u16, Value)| it.1["venue_id"] == "ven_last_table";
    let winners = answers.iter().filter(of_last).filter(|it| it.1["status"] == "confirmed").count();
    assert_eq!(winners, 1);
    let keyed: BTreeSet<&str> =
        answers.iter().filter(|it| !of_last(it)).map(|it| it.1["id"].as_str().unwrap()).collect();
    assert_eq!(keyed.len(), 5);
    let (one, two) = (servers[0].bookings(), servers[1].bookings());
    assert_eq!(one.len(), 20 + 5);
    assert_eq!(one, two);
}

/// Ten creates without a key, and ten of five keys.
fn race_bodies(order: &Value, keyed: &Value) -> impl Iterator<Item = (Value, Option<String>)> {
    let keyed = (0..10).map(|it| (keyed.clone(), Some(format!("key-{}", it % 5))));
    (0..10).map(|_| (order.clone(), None)).chain(keyed)
}
