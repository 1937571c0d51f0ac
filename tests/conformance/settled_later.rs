//! What the sandbox settles where the specification is silent, 6 to 12: what is told of a booking,
//! what runs out, and when.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::receiver::{Receiver, subscribed};
use crate::service::{Service, TEST, approval, day, instant, names, of_slot, session_path, with};

/// What was told about a booking, once its last event came.
fn wait_for_kinds(receiver: &Receiver, booking: &Value, last: &str) -> Vec<String> {
    receiver.event(last, booking);
    let number = receiver.kinds(booking).len();
    let id = booking["id"].clone();
    receiver.wait(number, |it| it.object()["id"] == id);
    let kinds = receiver.kinds(booking);
    kinds.iter().map(|it| it.trim_start_matches("booking.").to_owned()).collect()
}

#[test]
fn settled_6_created_then_one_event_for_every_status() {
    let (service, receiver) = subscribed();

    let failed = service.book("ven_provider_fails");
    let processing = service.book("ven_processing");
    let paid = service.book_paid("ven_payment");
    let walked = service.book("ven_otp");
    service.act(&walked, "continue", json!({"otp": service.code()})).is(200);
    let answer = service.act(&walked, "modify", json!({"party_size": 3}));
    answer.is(200);
    service.act(&walked, "cancel", json!({})).is(200);
    service.advance("16m");
    // What is told last is told after all else.
    let fence = service.book("ven_confirms");
    receiver.event("booking.confirmed", &fence);

    assert_eq!(wait_for_kinds(&receiver, &failed, "booking.failed"), ["created", "failed"]);
    assert_eq!(
        wait_for_kinds(&receiver, &processing, "booking.confirmed"),
        ["created", "processing", "confirmed"]
    );
    assert_eq!(
        wait_for_kinds(&receiver, &paid, "booking.failed"),
        ["created", "requires_action", "failed"]
    );
    assert_eq!(
        wait_for_kinds(&receiver, &walked, "booking.cancelled"),
        ["created", "requires_action", "confirmed", "modified", "cancelled"]
    );
}

#[test]
fn settled_6_rejection_or_empty_change_sends_no_event() {
    let (service, _receiver) = subscribed();
    let refused = service.book("ven_modify_refused");
    let answer = service.act(&refused, "modify", json!({"party_size": 3}));
    answer.is(422);
    let unsupported = service.book("ven_confirms_b");
    service.act(&unsupported, "modify", json!({"party_size": 3})).is(422);
    service.act(&unsupported, "cancel", json!({})).is(200);
    let same = service.book("ven_confirms");
    // The same instant, written in another zone.
    let again = instant(&same["datetime"])
        .to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(1)))
        .strftime("%Y-%m-%dT%H:%M:%S%:z")
        .to_string();
    let unchanged = service.act(&same, "modify", json!({"party_size": 2, "datetime": again}));
    assert_eq!(*unchanged.is(200), same);
    let paused = service.book("ven_otp");
    let answer = service.act(&paused, "continue", json!({"otp": "000000"}));
    answer.is(400);

    let mut kinds: Vec<String> =
        service.deliveries().iter().map(|it| it["type"].as_str().unwrap().to_owned()).collect();
    kinds.sort();
    let expected = [
        "booking.confirmed",
        "booking.confirmed",
        "booking.confirmed",
        "booking.created",
        "booking.created",
        "booking.created",
        "booking.created",
        "booking.requires_action",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn settled_7_due_changes_happen_in_order_before_each_response() {
    let (service, receiver) = subscribed();
    let paid = service.book_paid("ven_payment");
    let processing = service.book("ven_processing");
    service.advance("1h");
    assert_eq!(service.read(&paid)["status"], "failed");
    let confirmed = service.read(&processing);
    assert_eq!(confirmed["status"], "confirmed");
    // It is dated when it was due, not when it was looked at.
    let took = instant(&confirmed["updated_at"]).duration_since(instant(&confirmed["created_at"]));
    assert_eq!(took.as_secs(), 5);
    let first = receiver.event("booking.confirmed", &processing);
    let second = receiver.event("booking.failed", &paid);
    let id = |it: &crate::receiver::Attempt| it.event["id"].as_str().unwrap().to_owned();
    assert!(id(&first) < id(&second));
    assert!(instant(&first.event["created_at"]) < instant(&second.event["created_at"]));
}

#[test]
fn settled_8_late_payment_answer_gets_400_and_others_409() {
    let service = Service::start(&[]);
    for (venue, code) in [
        ("ven_payment", "payment_approval_expired"),
        ("ven_payment_outcome_unknown", "payment_outcome_unknown"),
    ] {
        let booking = service.book_paid(venue);
        service.advance("15m");
        let answer = service.act(&booking, "continue", json!({"psp_abort": true}));
        assert_eq!(names(answer.is(400)), ["error"]);
        let read = service.read(&booking);
        assert_eq!(read["error_code"], "payment_approval_expired");
        let answer = service.act(&booking, "continue", approval(&booking));
        assert_eq!(names(answer.is(400)), ["error"]);
        assert_eq!(service.read(&booking)["error_code"], code);
        let answer = service.act(&booking, "continue", json!({"otp": "123456"}));
        answer.refused_plainly(409);
    }
    // A booking that failed otherwise waits for no payment.
    let aborted = service.book_paid("ven_payment");
    let abort = || json!({"psp_abort": true});
    service.act(&aborted, "continue", abort()).is(200);
    let answer = service.act(&aborted, "continue", abort());
    answer.refused_plainly(409);
}

#[test]
fn settled_9_vendor_payment_is_for_dining_at_provider_a() {
    let service = Service::start(&["--no-limits"]);
    for (vertical, provider, possible) in [
        ("dining", "provider_a", true),
        ("dining", "provider_b", false),
        ("dining", "provider_c", false),
        ("fitness", "provider_a", false),
        ("travel", "provider_b", false),
    ] {
        let venue = service.search_then(vertical, "London", provider);
        let venue = venue["venue_id"].as_str().unwrap();
        let slot = service.new_slot(venue);
        let fields = with(of_slot(&slot), &json!({"payment_collection": "vendor_external"}));
        let answer = service.create_with(venue, fields);
        if possible {
            let action = &answer.is(201)["next_action"];
            assert_eq!(action["type"], "payment_approval");
        } else {
            answer.refused(409, "vault_unavailable");
        }
    }
    service.book_paid("ven_payment_declines");
}

#[test]
fn settled_10_a_session_code_is_good_for_10_minutes_and_5_tries() {
    let service = Service::start(&[]);
    let late = service.connect("ada", "+441632960001");
    let code = json!({"code": service.code()});
    service.advance("10m");
    let answer = service.post(&session_path(&late, "/verify"), code);
    answer.refused(400, "invalid_code");

    let tried = service.connect("grace", "+441632960002");
    let code = json!({"code": service.code()});
    let path = session_path(&tried, "/verify");
    for _ in 0..5 {
        let answer = service.post(&path, json!({"code": "000000"}));
        answer.refused(400, "invalid_code");
    }
    service.post(&path, code).refused(400, "invalid_code");
    let read = service.get(&session_path(&tried, ""));
    assert_ne!(read.is(200)["state"], "active");
}

#[test]
fn settled_10_a_session_lapses_after_30_days() {
    let service = Service::start(&[]);
    let session = service.sign_in("ada", "+441632960001");
    let card = session_path(&session, "/card");
    service.advance("29d23h");
    service.get(&card).is(200);
    let as_ada = json!({"end_user": "ada"});
    let answer = service.create_with("ven_confirms_b", as_ada.clone());
    answer.is(201);
    service.advance("1h");
    service.get(&card).refused(409, "reconnect_required");
    let answer = service.create_with("ven_confirms_b", as_ada);
    answer.refused(409, "reconnect_required");
    let read = service.get(&session_path(&session, ""));
    assert_ne!(read.is(200)["state"], "active");
}

#[test]
fn settled_10_last_digit_of_the_phone_decides_the_card() {
    let service = Service::start(&[]);
    for (phone, has_card) in [("+441632960010", false), ("+441632960019", true)] {
        let session = service.sign_in(phone, phone);
        let path = format!("/v1/sessions/card?end_user={}", phone.replace('+', "%2B"));
        for path in [path, session_path(&session, "/card")] {
            assert_eq!(service.get(&path).is(200)["has_card"], has_card, "{path}");
        }
    }
    let nobody = service.get("/v1/sessions/card?end_user=nobody");
    nobody.refused_plainly(404);
}

#[test]
fn settled_10_booking_as_person_at_b_needs_active_session() {
    let service = Service::start(&[]);
    let as_ada = json!({"end_user": "ada"});
    let answer = service.create_with("ven_confirms_b", as_ada.clone());
    answer.refused(409, "reconnect_required");
    service.connect("ada", "+441632960001");
    let answer = service.create_with("ven_confirms_b", as_ada.clone());
    answer.refused(409, "reconnect_required");
    service.sign_in("ada", "+441632960001");
    let answer = service.create_with("ven_confirms_b", as_ada.clone());
    answer.is(201);
    // Other providers have no sessions.
    service.create_with("ven_confirms_c", as_ada).is(201);
}

#[test]
fn settled_11_worker_ticks_every_second_by_default() {
    let receiver = Receiver::start();
    let service = Service::at_its_own_pace();
    service.settings(json!({"webhook_url": receiver.url}));
    let asked = Timestamp::now();
    let booking = service.book("ven_confirms");
    let attempt = receiver.event("booking.created", &booking);
    let waited = attempt.at.duration_since(asked).as_millis();
    assert!(waited < 3_000, "{waited} ms");
    drop(service);
    // The service's own pace is a flag, and nothing comes in its first seconds.
    let service = Service::start(&["--delivery-interval", "30s"]);
    service.settings(json!({"webhook_url": receiver.url}));
    let booking = service.book("ven_confirms");
    // Proves that nothing comes: longer than the default interval of a second, shorter than this
    // one.
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    assert!(receiver.kinds(&booking).is_empty());
}

#[test]
fn settled_11_an_interval_of_nothing_is_refused() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_bookctl"))
        .args(["sandbox", "serve", "--port", "0", "--ephemeral", "--json"])
        .args(["--delivery-interval", "0s"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let _ = server.kill();
    let code = server.wait().unwrap().code();
    assert_eq!((ready.as_str(), code), ("", Some(2)));
}

#[test]
fn settled_12_availability_is_the_local_day_without_past_slots() {
    let service = Service::start(&["--no-limits"]);
    for (city, zone) in [("Sydney", "Australia/Sydney"), ("New York", "America/New_York")] {
        let venue = service.search_then("dining", city, "provider_a");
        let venue = venue["venue_id"].as_str().unwrap();
        // An instant whose UTC day is not the venue's.
        let day = (service.now() + SignedDuration::from_hours(72)).in_tz(zone).unwrap();
        let at = if city == "Sydney" { "08:00:00" } else { "21:00:00" };
        let at = format!("{}T{at}{}", day.strftime("%Y-%m-%d"), day.strftime("%:z"));
        let slots = service.slots_on(venue, &at);
        assert!(!slots.is_empty());
        for slot in &slots {
            let local = instant(&slot["datetime"]).in_tz(zone).unwrap();
            assert_eq!(local.date(), day.date());
        }
        assert!(slots.is_sorted_by_key(|it| instant(&it["datetime"])));
    }
    // Of today, what is left of it.
    let today = service.now();
    let noon_on = today + SignedDuration::from_secs(60);
    for slot in service.slots_on("ven_confirms", &noon_on.to_string()) {
        assert!(instant(&slot["datetime"]) > today);
    }
    let past = (today - SignedDuration::from_secs(60)).to_string();
    let answer = service.post("/v1/availability/search", day("ven_confirms", &past));
    answer.invalid("datetime");
}

#[test]
fn settled_12_a_slot_that_is_past_or_full_is_not_offered() {
    let service = Service::start(&[]);
    let before = service.slots("ven_last_table").len();
    service.book("ven_last_table");
    assert_eq!(service.slots("ven_last_table").len(), before - 1);
    // To 18:10 of tomorrow: of 17:00, 17:30 and 18:00 nothing is left.
    let evening: Timestamp = service.evening(1).parse().unwrap();
    let wait = evening.duration_since(service.now()) - SignedDuration::from_mins(80);
    service.advance(&format!("{}s", wait.as_secs()));
    let slots = service.slots_on("ven_confirms", &evening.to_string());
    assert_eq!(slots.len(), 8);
    assert_eq!(instant(&slots[0]["datetime"]), evening - SignedDuration::from_mins(60));
}

#[test]
fn settled_12_no_limits_switches_rate_limits_and_allowance_off() {
    let service = Service::start(&["--no-limits"]);
    for day in 1..=15 {
        let evening = json!({"datetime": service.evening(day)});
        let order = with(service.order("ven_confirms"), &evening);
        let answer = service.with(TEST).post("/v1/bookings", order);
        assert_eq!(answer.is(201)["status"], "confirmed");
        assert_eq!(answer.header("ratelimit-limit"), None);
    }
}
