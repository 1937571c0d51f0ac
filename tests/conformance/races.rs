//! Many at once: no booking twice, no table sold twice, and a limit that is one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::service::{LIVE, Service, list, with};

/// Creates bookings all at once, one a connection: what came of each.
async fn create_at_once(
    service: &Service,
    bodies: impl Iterator<Item = (Value, Option<String>)>,
) -> Vec<(u16, Value)> {
    let mut calls = JoinSet::new();
    for (body, key) in bodies {
        let mut request = service
            .client
            .post(format!("{}/v1/bookings", service.base))
            .bearer_auth(LIVE)
            .json(&body);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        calls.spawn(async move {
            let response = request.send().await.unwrap();
            let status = response.status().as_u16();
            (status, response.json::<Value>().await.unwrap())
        });
    }
    calls.join_all().await
}

async fn all(service: &Service) -> Vec<Value> {
    list(service.get("/sandbox/bookings").await.is(200), "bookings")
}

#[tokio::test]
async fn race_1_200_creates_of_20_keys_are_20_bookings() {
    let service = Service::start(&["--no-limits"]);
    let order = service.order("ven_confirms").await;
    let bodies = (0..200).map(|it| (order.clone(), Some(format!("key-{}", it % 20))));
    let answers = create_at_once(&service, bodies).await;
    let count = |status| answers.iter().filter(|it| it.0 == status).count();
    assert_eq!((count(201), count(200)), (20, 180));
    let ids: BTreeSet<&str> = answers
        .iter()
        .map(|it| it.1["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 20);
    let stored = all(&service).await;
    let stored: BTreeSet<&str> = stored.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(stored, ids);
}

/// How many of 50 that race for one slot get it.
async fn race_for(service: &Service, venue: &str, slot: &Value) -> usize {
    let fields = json!({
        "availability_id": slot["availability_id"], "datetime": slot["datetime"],
    });
    let body = with(service.order(venue).await, &fields);
    let answers = create_at_once(service, (0..50).map(|_| (body.clone(), None))).await;
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

#[tokio::test]
async fn race_2_one_of_50_gets_the_last_table() {
    let service = Service::start(&["--no-limits"]);
    let slot = service.new_slot("ven_last_table").await;
    assert_eq!(race_for(&service, "ven_last_table", &slot).await, 1);
}

#[tokio::test]
async fn race_3_as_many_of_50_get_a_seeded_slot_as_it_holds() {
    let service = Service::start(&["--no-limits"]);
    let venue = service.search_then("travel", "London", "provider_c").await;
    let venue = venue["venue_id"].as_str().unwrap();
    let slot = service.new_slot(venue).await;
    let winners = race_for(&service, venue, &slot).await;
    assert!((1..20).contains(&winners), "{winners}");
    // One after the other it holds as many.
    let alone = Service::start(&["--no-limits"]);
    alone.venues("travel", "London").await;
    let fields = json!({
        "availability_id": slot["availability_id"], "datetime": slot["datetime"],
    });
    let mut held = 0;
    while alone.create_with(venue, fields.clone()).await.is(201)["status"] == "confirmed" {
        held += 1;
    }
    assert_eq!(winners, held);
}

#[tokio::test]
async fn race_4_of_40_creates_at_once_10_pass_the_rate_limit() {
    let service = Service::start(&[]);
    let order = service.order("ven_confirms").await;
    let answers = create_at_once(&service, (0..40).map(|_| (order.clone(), None))).await;
    let count = |status| answers.iter().filter(|it| it.0 == status).count();
    assert_eq!((count(201), count(429)), (10, 30));
    assert_eq!(all(&service).await.len(), 10);
}

#[tokio::test]
async fn race_5_a_test_allowance_is_not_overdrawn() {
    let service = Service::start(&[]);
    let order = service.order("ven_confirms").await;
    let mut calls = JoinSet::new();
    for _ in 0..10 {
        let request = service
            .client
            .post(format!("{}/v1/bookings", service.base))
            .bearer_auth(crate::service::TEST)
            .json(&order);
        calls.spawn(async move { request.send().await.unwrap().status().as_u16() });
    }
    let statuses = calls.join_all().await;
    let count = |status| statuses.iter().filter(|it| **it == status).count();
    assert_eq!((count(201), count(402)), (3, 7));
}

#[tokio::test]
async fn race_6_a_code_confirms_once_however_many_send_it() {
    let service = Service::start(&["--no-limits"]);
    let booking = service.book("ven_otp").await;
    let code = json!({"otp": service.code().await});
    let id = booking["id"].as_str().unwrap();
    let mut calls = JoinSet::new();
    for _ in 0..30 {
        let request = service
            .client
            .post(format!("{}/v1/bookings/{id}/continue", service.base))
            .bearer_auth(LIVE)
            .json(&code);
        calls.spawn(async move { request.send().await.unwrap().status().as_u16() });
    }
    let statuses = calls.join_all().await;
    let count = |status| statuses.iter().filter(|it| **it == status).count();
    assert_eq!((count(200), count(409)), (1, 29));
}

#[tokio::test]
async fn race_7_two_servers_of_one_database_sell_no_table_twice() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sandbox.db");
    let file = file.to_str().unwrap();
    let servers = [
        Service::on_file(file, &["--no-limits"]),
        Service::on_file(file, &["--no-limits"]),
    ];
    let order = servers[0].order("ven_last_table").await;
    let keyed = servers[0].order("ven_confirms").await;
    let (one, two) = tokio::join!(
        create_at_once(&servers[0], race_bodies(&order, &keyed)),
        create_at_once(&servers[1], race_bodies(&order, &keyed)),
    );
    let answers = [one, two].concat();
    let of_last = |it: &&(u16, Value)| it.1["venue_id"] == "ven_last_table";
    let winners = answers
        .iter()
        .filter(of_last)
        .filter(|it| it.1["status"] == "confirmed")
        .count();
    assert_eq!(winners, 1);
    let keyed: BTreeSet<&str> = answers
        .iter()
        .filter(|it| !of_last(it))
        .map(|it| it.1["id"].as_str().unwrap())
        .collect();
    assert_eq!(keyed.len(), 5);
    let (one, two) = (all(&servers[0]).await, all(&servers[1]).await);
    assert_eq!(one.len(), 20 + 5);
    assert_eq!(one, two);
}

/// Ten creates without a key, and ten of five keys.
fn race_bodies(order: &Value, keyed: &Value) -> impl Iterator<Item = (Value, Option<String>)> {
    let keyed = (0..10).map(|it| (keyed.clone(), Some(format!("key-{}", it % 5))));
    (0..10).map(|_| (order.clone(), None)).chain(keyed)
}
