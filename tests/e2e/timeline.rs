//! `show --timeline`: a booking's story.

use serde_json::{Value, json};

use crate::harness::listening::{Courier, Listening, SECRET};
use crate::harness::{Home, Reply, Scripted, each, holds, text, words};

fn kinds(story: &Value) -> Vec<String> {
    each(&story["timeline"], "kind")
}

fn story(home: &Home, id: &str) -> Value {
    let show = ["show", id, "--timeline", "--json"];
    home.ok(show).json()
}

/// The request, states and changes, on the service's clock, although that was moved in between.
#[test]
fn a_story_is_told_in_order_and_on_one_clock() {
    let home = Home::new();
    home.advance("26h");
    let id = home.booked("ven_confirms", &[], 0);
    home.ok(["modify", &id, "--party", "4"]);
    home.advance("3h");
    home.ok(["cancel", &id, "--yes", "--reason", "ill"]);
    let story = story(&home, &id);
    assert_eq!(story["booking"], home.booking(&id));
    let kinds = kinds(&story);
    let expected = ["request", "sent", "response", "status", "write", "change", "write", "status"];
    assert_eq!(kinds, expected);
    let timeline = story["timeline"].as_array().unwrap();
    assert_eq!(timeline[0]["request"]["venue_id"], "ven_confirms");
    assert_eq!(timeline[2]["http_status"], 201);
    holds!(timeline[4], {"write": "modify", "outcome": "done", "changes": {"party_size": 4}});
    assert_eq!(timeline[5]["changes"], json!({"party_size": {"from": 2, "to": 4}}));
    holds!(timeline[6], {"write": "cancel", "outcome": "done", "reason": "ill"});
    assert_eq!(timeline[7]["status"], "cancelled");
    let times: Vec<String> = timeline.iter().map(|it| text(it, "at")).collect();
    assert!(times.is_sorted(), "{times:?}");
    let created = text(&story["booking"], "created_at");
    assert_eq!(times[0][..13], created[..13], "the service's clock");
}

#[test]
fn pause_and_its_answer_and_what_went_wrong_are_states_of_story() {
    let (home, id) = Home::with_booking("ven_otp", 10);
    let code = home.code();
    home.ok(["continue", &id, "--otp", &code]);
    let told = story(&home, &id);
    let states: Vec<&Value> = told["timeline"].as_array().unwrap().iter().collect();
    let states: Vec<String> = states
        .into_iter()
        .filter(|it| it["kind"] == "status")
        .map(|it| text(it, "status"))
        .collect();
    assert_eq!(states.first().map(String::as_str), Some("requires_action"));
    assert_eq!(states.last().map(String::as_str), Some("confirmed"));
    let failed = home.booked("ven_provider_fails", &[], 11);
    let told = story(&home, &failed);
    let last = told["timeline"].as_array().unwrap().iter();
    let last = last.rev().find(|it| it["kind"] == "status").unwrap();
    assert_eq!(last["error_code"], "provider_error");
    assert!(last["message"].is_string(), "{last}");
}

/// What was held under which reference is known after the pause, and no answer ever is.
#[test]
fn each_write_is_told_with_its_result_and_without_its_secret() {
    let home = Home::new();
    let id = home.booked("ven_payment", &["--payment", "vendor"], 10);
    home.run(["continue", &id, "--psp-response", "{\"approval_id\": \"wrong_answer\"}"]);
    home.fault("POST /v1/bookings/{id}/continue", "drop_before", 1);
    home.run(["continue", &id, "--psp-abort"]).exits(16);
    let told = story(&home, &id);
    let writes = told["timeline"].as_array().unwrap().iter();
    let writes: Vec<_> = writes.filter(|it| it["kind"] == "write").collect();
    holds!(writes[0], {"write": "payment", "outcome": "rejected"});
    holds!(writes[1], {"write": "abort", "outcome": "unknown"});
    assert!(writes[1]["pause"]["amount"].is_number(), "{told}");
    assert!(writes[1]["pause"]["reference"]["approval_id"].is_string(), "{told}");
    assert!(
        !told.to_string().contains("wrong_answer")
            && !home.files_hold("journal.db", "wrong_answer")
    );
    // A person reads the card, then the timeline; a ticket has both.
    let page = home.ok(["show", &id, "--timeline"]);
    page.shows("Ada Lovelace");
    page.shows("payment response: rejected");
    page.shows("\tstatus\trequires_action");
    let ticket = home.ok(["show", &id, "--markdown"]);
    ticket.shows("### waiting · bk_");
    ticket.shows("- guest: Ada Lovelace");
    ticket.shows("end of the payment: the result is unknown · 46.00 EUR");
    home.ok(["bookings", "forget", &id, "--yes"]);
    assert!(!home.files_hold("journal.db", "approval_id"));
}

/// A request without an answer, sent again by `attempts resume`.
#[test]
fn each_run_of_the_request_and_its_result_are_told() {
    let home = Home::new();
    home.fault("POST /v1/bookings", "drop_after", 3);
    let book = ["--idempotency-key", "order-1"];
    home.book("ven_confirms", &book).exits(16);
    let resumed = home.run(["attempts", "resume", "order-1", "--json"]);
    let id = text(&resumed.exits(0).json(), "id");
    let story = story(&home, &id);
    let timeline = story["timeline"].as_array().unwrap().iter();
    let of = |kind: &str| timeline.clone().filter(|it| it["kind"] == kind).collect::<Vec<_>>();
    assert_eq!(of("request").len(), 1);
    assert_eq!(of("request")[0]["idempotency_key"], "order-1");
    assert_eq!(of("sent").len(), 2);
    let outcomes: Vec<String> = of("response").into_iter().map(|it| text(it, "outcome")).collect();
    assert_eq!(outcomes, ["in_doubt", "booked"]);
    let told = home.ok(["show", &id, "--timeline"]);
    let again = "run 2: HTTP 200, the booking was there already";
    told.shows(again);
    // The booking was made by the first run, whose answer was lost; the second one showed it.
    assert_eq!(kinds(&story), ["request", "sent", "response", "sent", "response", "status"]);
    let runs = timeline.clone().filter(|it| it["run"].is_u64());
    let runs: Vec<u64> = runs.map(|it| it["run"].as_u64().unwrap()).collect();
    assert_eq!(runs, [1, 1, 2, 2]);
}

/// Whatever the service says of its times: its clock may be a few seconds off.
#[test]
fn no_state_stands_before_the_result_that_brought_it() {
    let (_server, home) = Scripted::with_home(|request| {
        let behind = |seconds| {
            let now = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(seconds);
            now.strftime("%FT%TZ").to_string()
        };
        match request.method.as_str() {
            "POST" => {
                let mut booking = request.json();
                booking["id"] = json!("bk_1");
                booking["status"] = json!("processing");
                booking["created_at"] = json!(behind(30));
                booking["updated_at"] = json!(behind(30));
                Reply::json(201, &booking)
            }
            _ => Reply::json(
                200,
                &json!({"id": "bk_1", "status": "confirmed", "created_at": behind(30), "updated_at": behind(29)}),
            ),
        }
    });
    let slot = "--slot slot_1 --at 2031-12-01T18:00:00Z --party 2";
    let book = words(format!("book ven_1 {slot} --name 'Ada Lovelace'"));
    home.run(book).exits(8);
    let told = story(&home, "bk_1");
    let kinds = kinds(&told);
    let place = |kind: &str| kinds.iter().position(|it| it == kind).unwrap();
    assert!(place("sent") < place("response"), "{told}");
    assert!(place("response") < place("status"), "{told}");
    let states = told["timeline"].as_array().unwrap().iter();
    let states: Vec<&Value> =
        states.filter(|it| it["kind"] == "status").map(|it| &it["status"]).collect();
    assert_eq!(states, ["processing", "confirmed"]);
}

fn confirmed() -> Value {
    json!({
        "id": "bk_1", "status": "confirmed", "datetime": "2031-12-01T18:00:00+00:00",
        "created_at": "2026-07-14T16:00:00Z", "updated_at": "2026-07-14T16:00:05Z",
    })
}

#[test]
fn deliveries_are_part_of_the_story() {
    let server = Scripted::start(|_| Reply::json(200, &confirmed()));
    let home =
        Home::pointing_to(server.base_url(), "sk_live_x").with("BOOKCTL_WEBHOOK_SECRET", SECRET);
    let listening = Listening::start(&home, &[]);
    let of_kind = |id, kind| crate::harness::listening::event(id, kind, "bk_1", "confirmed");
    let changes = json!({"party_size": {"from": 2, "to": 4}, "seating_preference": {"from": null, "to": "bar"}});
    let mut modified: Value = serde_json::from_str(&of_kind("evt_2", "booking.modified")).unwrap();
    modified["data"]["object"]["last_modification"] = json!({ "changes": changes });
    let mut courier = Courier::to(&listening.url).unwrap();
    assert_eq!(courier.deliver(&of_kind("evt_1", "booking.confirmed")), Some(200));
    assert_eq!(courier.deliver(&modified.to_string()), Some(200));
    listening.end();
    let story = story(&home, "bk_1");
    assert_eq!(kinds(&story), ["created", "status", "delivery", "delivery"]);
    assert_eq!(story["timeline"][3]["changes"], changes);
    home.ok(words("show bk_1 --timeline")).shows("party 2 → 4, seating not set → bar");
    let delivery = &story["timeline"][2];
    holds!(delivery, {"event": "evt_1", "type": "booking.confirmed"});
    // The booking was made elsewhere, so nothing tells how far apart the two clocks are.
    assert_eq!(delivery["at"], "2026-11-21T12:00:00Z");
}

/// What this machine knows is shown with a warning where the service cannot be reached (15).
#[test]
fn without_the_service_the_story_is_what_this_machine_knows() {
    let (home, id) = Home::with_booking("ven_confirms", 0);
    home.refuses("show bk_nobody --timeline", 6, "http_404");
    let elsewhere = ["show", &id, "--timeline", "--json"];
    home.fault("GET /v1/bookings/{id}", "drop_before", 9);
    let output = home.run(elsewhere).exits(15).says("this is what this computer knows");
    let story = output.json();
    assert_eq!(story["booking"]["status"], "confirmed");
    assert_eq!(kinds(&story), ["request", "sent", "response", "status"]);
    home.refuses(&format!("show {id} {id} --timeline"), 2, "usage");
}
