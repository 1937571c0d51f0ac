//! `webhook events`: what was received, looked at and sent again.

use crate::docs::has_described_fields;
use crate::harness::listening::{App, event, home_without_a_service, received, signature};
use crate::harness::{Home, free_port, has, holds, text, words};

/// A home in which three events of two bookings were received, the first of them twice.
fn home_of_three() -> Home {
    let home = home_without_a_service();
    let first = || event("evt_1", "booking.created", "bk_1", "processing");
    let bodies = [
        first(),
        event("evt_2", "booking.confirmed", "bk_1", "confirmed"),
        event("evt_3", "booking.failed", "bk_2", "failed"),
        first(),
    ];
    received(&home, &bodies);
    home
}

fn ids(home: &Home, more: &str) -> Vec<String> {
    let list = home.list(&format!("webhook events list {more}"));
    list.iter().map(|it| text(it, "event_id")).collect()
}

#[test]
fn events_are_listed_the_newest_first_and_narrowed_down() {
    let home = home_of_three();
    assert_eq!(ids(&home, ""), ["evt_3", "evt_2", "evt_1"]);
    assert_eq!(ids(&home, "--booking bk_1"), ["evt_2", "evt_1"]);
    assert_eq!(ids(&home, "--kind booking.failed"), ["evt_3"]);
    assert_eq!(ids(&home, "--limit 2"), ["evt_3", "evt_2"]);
    assert_eq!(ids(&home, "--since 1h --state kept").len(), 3);
    assert_eq!(ids(&Home::new(), "").len(), 0);
    home.refuses("webhook events list --since soon", 2, "usage");
    has_described_fields(&home, "webhook events list", &home.json("webhook events list"));
    // Another service's events are another's.
    assert_eq!(ids(&home, "--profile sandbox").len(), 0);
}

#[test]
fn event_is_shown_with_its_headers_its_raw_body() {
    let home = home_of_three();
    let shown = home.json("webhook events show evt_1");
    let body = event("evt_1", "booking.created", "bk_1", "processing");
    assert_eq!(shown["body"], body);
    holds!(shown, {"duplicates": 1, "state": "kept"});
    assert_eq!(shown["verification"]["verified"], true);
    let age = shown["verification"]["age_seconds"].as_i64().unwrap();
    assert!((0..60).contains(&age));
    let headers = shown["headers"].as_array().unwrap();
    assert!(headers.iter().any(|it| it["name"] == "booking-signature"));
    home.refuses("webhook events show evt_x", 6, "unknown_event");
}

#[test]
fn events_are_sent_again_signed_afresh_or_as_they_came() {
    let home = home_of_three();
    let app = App::start(|it| if it.id == "evt_3" { 500 } else { 200 });
    let replay = |more: &[&str]| {
        let replay = ["webhook", "events", "replay", "--to", &app.url, "--json"];
        home.run(replay.iter().chain(more))
    };
    let one = replay(&["evt_2", "--header", "X-Again: yes"]).exits(0).json();
    assert_eq!(one["events"][0]["attempt"]["status"], 200);
    replay(&["evt_1", "--as-received"]).exits(0);
    // All of them, and one is not taken.
    let all = replay(&["--since", "1h"]).exits(18).json();
    let delivered = [0, 1, 2].map(|it| &all["events"][it]["delivered"]);
    assert_eq!(delivered, [true, true, false]);
    let seen = app.delivered();
    let sent: Vec<&str> = seen.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(sent, ["evt_2", "evt_1", "evt_1", "evt_2", "evt_3"]);
    assert_eq!(seen[0].headers["x-again"], "yes");
    // Afresh: it is the signature that the body has now, or had a second ago.
    let afresh = &seen[2].headers["booking-signature"];
    let shown = home.json("webhook events show evt_1");
    let came =
        shown["headers"].as_array().unwrap().iter().find(|it| it["name"] == "booking-signature");
    assert_eq!(seen[1].headers["booking-signature"], came.unwrap()["value"]);
    assert_eq!(afresh.len(), signature(&seen[2].body).len());
    let attempts = shown["attempts"].as_array().unwrap();
    assert!(attempts.iter().all(|it| it["replay"] == true && it["status"] == 200), "{attempts:?}");

    // Those of a booking, and those since then.
    let of = |more: &[&str]| replay(more).json()["events"].as_array().unwrap().len();
    assert_eq!(of(&["--booking", "bk_1"]), 2);
    assert_eq!(of(&["--booking", "bk_1", "--since", "1ms"]), 0);
    replay(&["evt_1", "--booking", "bk_1"]).refused(2, "usage");
    replay(&["evt_1", "evt_x"]).refused(6, "unknown_event");
    let error = replay(&[]).refused(2, "usage");
    has(&error, "hint", "--booking");
    let closed = format!("http://127.0.0.1:{}/", free_port());
    let replay = format!("webhook events replay evt_1 --to {closed} --json");
    let closed = home.run(words(replay)).exits(18).json();
    let attempt = &closed["events"][0]["attempt"];
    assert_eq!(attempt["error"], "connection refused");
    home.ok(words("webhook events list")).prints("\treplay: connection refused");
}

#[test]
fn a_row_of_the_list_names_an_event() {
    let home = home_of_three();
    let show = |row: &str| home.run(["webhook", "events", "show", row, "--json"]);
    show("@1").refused(2, "usage");
    home.ok(["webhook", "events", "list"]);
    assert_eq!(text(&show("@2").exits(0).json(), "event_id"), "evt_2");
    let narrowed = ["webhook", "events", "list", "--kind", "booking.failed"];
    home.ok(narrowed);
    assert_eq!(text(&show("@1").exits(0).json(), "event_id"), "evt_3");
    show("@2").refused(2, "usage");
    let app = App::start(|_| 200);
    let replayed = home.list(&format!("webhook events replay @1 --to {}", app.url));
    assert_eq!(replayed[0]["event_id"], "evt_3");
}
