//! What the sandbox settles where the specification is silent, 1 to 12.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::receiver::{Receiver, subscribed};
use crate::service::{
    Answer, BETA, LIVE, OTHER, READ_ONLY, SUSPENDED, Service, TEST, WITHOUT_BILLING, approval,
    instant, list, names, session_path, with,
};

/// Sends a booking request that would fail at the later of two checks, and has to fail at the earlier one.
async fn send(service: &Service, key: &str, body: impl Into<Vec<u8>>) -> Answer {
    service
        .with(key)
        .raw("POST", "/v1/bookings", Some(body.into()))
        .await
}

#[tokio::test]
async fn settled_1_size_key_environment_suspension_scope_and_rate_limit_in_this_order() {
    let service = Service::start(&[]);
    let huge = vec![b'{'; 1_200_000];
    for key in ["", BETA, SUSPENDED, READ_ONLY, LIVE] {
        send(&service, key, huge.clone()).await.is(413);
    }
    send(&service, "", "{").await.is(401);
    service.settings(json!({"suspended": true})).await;
    let answer = send(&service, BETA, "{").await;
    answer.refused(403, "wrong_key_environment");
    let answer = send(&service, READ_ONLY, "{").await;
    answer.refused(403, "org_suspended");
    service.settings(json!({"suspended": false})).await;
    let keyed = service.live().keyed("known");
    let order = service.order("ven_confirms").await;
    keyed.post("/v1/bookings", order.clone()).await.is(201);
    for _ in 0..9 {
        send(&service, LIVE, "{").await.is(400);
    }
    let answer = send(&service, READ_ONLY, "{").await;
    assert_eq!(answer.is(403)["error"], "insufficient_scope");
    // The limit comes before idempotency.
    keyed.post("/v1/bookings", order).await.is(429);
}

#[tokio::test]
async fn settled_1_idempotency_billing_allowance_json_values_in_this_order() {
    let service = Service::start(&[]);
    let order = service.order("ven_confirms").await;
    let keyed = service.live().keyed("known");
    keyed.post("/v1/bookings", order.clone()).await.is(201);
    service.settings(json!({"billing": false})).await;
    keyed
        .raw("POST", "/v1/bookings", Some(b"{".to_vec()))
        .await
        .is(200);
    let answer = send(&service, LIVE, "{").await;
    assert_eq!(answer.is(402)["error"], "billing_required");
    service.settings(json!({"billing": true})).await;
    for _ in 0..3 {
        let test = service.with(TEST);
        test.post("/v1/bookings", order.clone()).await.is(201);
    }
    let answer = send(&service, TEST, "{").await;
    assert_eq!(answer.is(402)["error"], "free_tier_exhausted");
    service.advance("5m").await;
    // Types before values.
    let wrong = json!({"venue_id": "ven_nowhere", "party_size": "two"}).to_string();
    let answer = send(&service, LIVE, wrong).await;
    assert_eq!(answer.is(400)["error"], "invalid request body");
}

#[tokio::test]
async fn settled_1_values_venue_provider_guest_slot_in_this_order() {
    let service = Service::start(&[]);
    let test_user = json!({"name": "Test User"});
    // Values before the venue.
    let fields = json!({"party_size": 0, "customer": test_user});
    let answer = service.create_with("ven_nowhere", fields).await;
    answer.invalid("party_size");
    // The venue before provider and guest.
    let fields = json!({"customer": test_user});
    let answer = service.create_with("ven_nowhere", fields.clone()).await;
    answer.refused_plainly(404);
    // The provider before the guest.
    let answer = service.create_with("ven_multi_provider", fields).await;
    answer.refused_plainly(400);
    // The guest before the slot.
    let slots = service.slots("ven_confirms").await;
    let other_time = json!({
        "availability_id": slots[0]["availability_id"], "datetime": slots[1]["datetime"],
    });
    let guest = with(
        other_time.clone(),
        &json!({"customer": {"name": "Test User"}}),
    );
    let answer = service.create_with("ven_confirms", guest).await;
    answer.refused(400, "placeholder_customer");
    let answer = service.create_with("ven_confirms", other_time).await;
    answer.refused(400, "slot_not_offered");
}

#[tokio::test]
async fn settled_1_billing_is_asked_of_every_call_but_the_index() {
    let service = Service::start(&[]);
    let caller = service.with(WITHOUT_BILLING);
    caller.get("/v1/").await.is(200);
    for (method, path) in [
        ("POST", "/v1/venues/search"),
        ("POST", "/v1/availability/search"),
        ("POST", "/v1/bookings"),
        ("GET", "/v1/bookings/bk_1"),
        ("POST", "/v1/bookings/bk_1/continue"),
        ("POST", "/v1/bookings/bk_1/modify"),
        ("POST", "/v1/bookings/bk_1/cancel"),
        ("POST", "/v1/sessions"),
        ("GET", "/v1/sessions"),
    ] {
        let answer = caller.call(method, path, None).await;
        assert_eq!(answer.is(402)["error"], "billing_required", "{path}");
    }
}

#[tokio::test]
async fn settled_2_a_seeded_venue_is_known_after_a_search_and_a_scenario_always() {
    let service = Service::start(&[]);
    let search = json!({
        "vertical": "fitness", "location": "Paris", "datetime": service.evening(1).await,
    });
    let found = service.with(OTHER).post("/v1/venues/search", search).await;
    let venue = list(found.is(200), "venues")[0]["venue_id"].clone();
    let slots = |venue: &Value| {
        let venue = venue.clone();
        let service = &service;
        async move {
            let body = json!({
                "venue_id": venue, "datetime": service.evening(1).await, "party_size": 1,
            });
            service.post("/v1/availability/search", body).await
        }
    };
    slots(&venue).await.refused_plainly(404);
    service
        .create(venue.as_str().unwrap())
        .await
        .refused_plainly(404);
    service.venues("fitness", "Paris").await;
    slots(&venue).await.is(200);
    slots(&json!("ven_confirms")).await.is(200);
}

#[tokio::test]
async fn settled_2_a_venue_of_several_providers_needs_one_that_serves_it() {
    let service = Service::start(&[]);
    service
        .create("ven_multi_provider")
        .await
        .refused_plainly(400);
    let slots = json!({
        "venue_id": "ven_multi_provider", "datetime": service.evening(1).await,
        "party_size": 2, "provider": "provider_c",
    });
    let answer = service.post("/v1/availability/search", slots).await;
    assert_eq!(answer.is(200)["provider"], "provider_c");
    for (venue, provider) in [
        ("ven_multi_provider", "provider_b"),
        ("ven_confirms", "provider_b"),
        ("ven_confirms", "provider_z"),
    ] {
        let fields = json!({"provider": provider});
        let answer = service.create_with(venue, fields).await;
        answer.refused_plainly(400);
    }
}

#[tokio::test]
async fn settled_3_placeholders_whatever_their_case_and_spacing() {
    let service = Service::start(&["--no-limits"]);
    let names = [
        "Test User",
        "John Doe",
        "Jane Doe",
        "Guest",
        "Customer",
        "N/A",
        "Unknown",
        "Test",
        "  tEsT   uSER ",
        "jane\tdoe",
        "12345",
        "---",
        "?!",
    ];
    for venue in ["ven_confirms", "ven_confirms_b"] {
        for name in names {
            let fields = json!({"customer": {"name": name}});
            let answer = service.create_with(venue, fields).await;
            answer.refused(400, "placeholder_customer");
        }
    }
    for name in ["Testa Userman", "Guest Lee", "李 小龍", "Johnny Doe"] {
        let fields = json!({"customer": {"name": name}});
        service.create_with("ven_confirms", fields).await.is(201);
    }
}

#[tokio::test]
async fn settled_4_a_full_slot_fails_the_next_booking_with_slot_taken() {
    let service = Service::start(&[]);
    let first = service.book("ven_last_table").await;
    assert_eq!(first["status"], "confirmed");
    let second = service.create("ven_last_table").await;
    assert_eq!(second.is(201)["status"], "failed");
    assert_eq!(second.body["error_code"], "slot_taken");
}

#[tokio::test]
async fn settled_4_a_slot_that_was_never_offered_is_a_validation_failure() {
    let service = Service::start(&[]);
    let elsewhere = service.new_slot("ven_otp").await;
    for id in [json!("slot_nothing"), elsewhere["availability_id"].clone()] {
        let fields = json!({"availability_id": id});
        let answer = service.create_with("ven_confirms", fields).await;
        answer.invalid("availability_id");
    }
}

#[tokio::test]
async fn settled_4_without_availability_id_it_is_the_slot_at_that_time_or_none() {
    let service = Service::start(&[]);
    let booking = service.book("ven_last_table").await;
    let left = service.slots("ven_last_table").await;
    let at = instant(&booking["datetime"]);
    assert!(
        left.iter().all(|it| instant(&it["datetime"]) != at),
        "taken"
    );
    let day = service.evening(1).await;
    let odd = json!({"datetime": day.replace("19:30", "19:37")});
    let answer = service.create_with("ven_confirms", odd).await;
    assert_eq!(answer.is(201)["status"], "failed");
    assert_eq!(answer.body["error_code"], "no_availability");
}

#[tokio::test]
async fn settled_5_a_party_is_1_to_20_and_a_time_is_in_the_future_of_the_sandboxs_clock() {
    let service = Service::start(&["--no-limits"]);
    for (size, status) in [(0, 400), (-1, 400), (1, 201), (20, 201), (21, 400)] {
        let fields = json!({"party_size": size});
        let answer = service.create_with("ven_confirms", fields).await;
        answer.is(status);
    }
    let booking = service.book("ven_confirms").await;
    let soon = service.evening(2).await;
    service.advance("3d").await;
    let fields = json!({"datetime": soon});
    let answer = service.create_with("ven_confirms", fields.clone()).await;
    answer.invalid("datetime");
    let answer = service.act(&booking, "modify", fields).await;
    answer.invalid("datetime");
    for size in [0, 21] {
        let change = json!({"party_size": size});
        let answer = service.act(&booking, "modify", change).await;
        answer.invalid("party_size");
    }
}

/// What was told about a booking, once its last event came.
async fn told(receiver: &Receiver, booking: &Value, last: &str) -> Vec<String> {
    receiver.event(last, booking).await;
    let number = receiver.kinds(booking).len();
    let id = booking["id"].clone();
    receiver.wait(number, |it| it.object()["id"] == id).await;
    let kinds = receiver.kinds(booking);
    kinds
        .iter()
        .map(|it| it.trim_start_matches("booking.").to_owned())
        .collect()
}

#[tokio::test]
async fn settled_6_created_then_one_event_for_every_status() {
    let (service, receiver) = subscribed().await;

    let failed = service.book("ven_provider_fails").await;
    let processing = service.book("ven_processing").await;
    let paid = service.book_paid("ven_payment").await;
    let walked = service.book("ven_otp").await;
    let code = json!({"otp": service.code().await});
    service.act(&walked, "continue", code).await.is(200);
    let change = json!({"party_size": 3});
    service.act(&walked, "modify", change).await.is(200);
    service.act(&walked, "cancel", json!({})).await.is(200);
    service.advance("16m").await;
    // What is told last is told after all else.
    let fence = service.book("ven_confirms").await;
    receiver.event("booking.confirmed", &fence).await;

    assert_eq!(
        told(&receiver, &failed, "booking.failed").await,
        ["created", "failed"]
    );
    assert_eq!(
        told(&receiver, &processing, "booking.confirmed").await,
        ["created", "processing", "confirmed"]
    );
    assert_eq!(
        told(&receiver, &paid, "booking.failed").await,
        ["created", "requires_action", "failed"]
    );
    assert_eq!(
        told(&receiver, &walked, "booking.cancelled").await,
        [
            "created",
            "requires_action",
            "confirmed",
            "modified",
            "cancelled"
        ]
    );
}

#[tokio::test]
async fn settled_6_no_event_for_a_refusal_or_a_change_of_nothing() {
    let (service, _receiver) = subscribed().await;
    let refused = service.book("ven_modify_refused").await;
    let change = json!({"party_size": 3});
    service.act(&refused, "modify", change).await.is(422);
    let unsupported = service.book("ven_confirms_b").await;
    let change = json!({"party_size": 3});
    service.act(&unsupported, "modify", change).await.is(422);
    service.act(&unsupported, "cancel", json!({})).await.is(200);
    let same = service.book("ven_confirms").await;
    // The same instant, written in another zone.
    let again = instant(&same["datetime"])
        .to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(1)))
        .strftime("%Y-%m-%dT%H:%M:%S%:z")
        .to_string();
    let change = json!({"party_size": 2, "datetime": again});
    let unchanged = service.act(&same, "modify", change).await;
    assert_eq!(*unchanged.is(200), same);
    let paused = service.book("ven_otp").await;
    let wrong = json!({"otp": "000000"});
    service.act(&paused, "continue", wrong).await.is(400);

    let mut kinds: Vec<String> = service
        .deliveries()
        .await
        .iter()
        .map(|it| it["type"].as_str().unwrap().to_owned())
        .collect();
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

#[tokio::test]
async fn settled_7_what_was_due_has_happened_before_any_answer_in_the_order_it_was_due() {
    let (service, receiver) = subscribed().await;
    let paid = service.book_paid("ven_payment").await;
    let processing = service.book("ven_processing").await;
    service.advance("1h").await;
    assert_eq!(service.read(&paid).await["status"], "failed");
    let confirmed = service.read(&processing).await;
    assert_eq!(confirmed["status"], "confirmed");
    // It is dated when it was due, not when it was looked at.
    let took = instant(&confirmed["updated_at"]).duration_since(instant(&confirmed["created_at"]));
    assert_eq!(took.as_secs(), 5);
    let first = receiver.event("booking.confirmed", &processing).await;
    let second = receiver.event("booking.failed", &paid).await;
    let id = |it: &crate::receiver::Attempt| it.event["id"].as_str().unwrap().to_owned();
    assert!(id(&first) < id(&second));
    assert!(instant(&first.event["created_at"]) < instant(&second.event["created_at"]));
}

#[tokio::test]
async fn settled_8_a_payment_approval_expires_15_minutes_after_creation() {
    let service = Service::start(&[]);
    let booking = service.book_paid("ven_payment").await;
    let lifetime = instant(&booking["expires_at"]).duration_since(instant(&booking["created_at"]));
    assert_eq!(lifetime, SignedDuration::from_mins(15));
    service.advance("15m").await;
    let read = service.read(&booking).await;
    assert_eq!(read["error_code"], "payment_approval_expired");
}

#[tokio::test]
async fn settled_8_a_late_answer_or_abort_is_a_plain_400_and_another_continue_the_409() {
    let service = Service::start(&[]);
    for (venue, code) in [
        ("ven_payment", "payment_approval_expired"),
        ("ven_payment_outcome_unknown", "payment_outcome_unknown"),
    ] {
        let booking = service.book_paid(venue).await;
        service.advance("15m").await;
        let abort = json!({"psp_abort": true});
        let answer = service.act(&booking, "continue", abort).await;
        assert_eq!(names(answer.is(400)), ["error"]);
        let read = service.read(&booking).await;
        assert_eq!(read["error_code"], "payment_approval_expired");
        let answer = service.act(&booking, "continue", approval(&booking)).await;
        assert_eq!(names(answer.is(400)), ["error"]);
        assert_eq!(service.read(&booking).await["error_code"], code);
        let answer = service
            .act(&booking, "continue", json!({"otp": "123456"}))
            .await;
        answer.refused_plainly(409);
    }
    // A booking that failed otherwise waits for no payment.
    let aborted = service.book_paid("ven_payment").await;
    let abort = || json!({"psp_abort": true});
    service.act(&aborted, "continue", abort()).await.is(200);
    service
        .act(&aborted, "continue", abort())
        .await
        .refused_plainly(409);
}

#[tokio::test]
async fn settled_9_vendor_payment_is_for_dining_at_provider_a_and_the_payment_scenarios() {
    let service = Service::start(&["--no-limits"]);
    for (vertical, provider, possible) in [
        ("dining", "provider_a", true),
        ("dining", "provider_b", false),
        ("dining", "provider_c", false),
        ("fitness", "provider_a", false),
        ("travel", "provider_b", false),
    ] {
        let venue = service.search_then(vertical, "London", provider).await;
        let venue = venue["venue_id"].as_str().unwrap();
        let slot = service.new_slot(venue).await;
        let fields = json!({
            "availability_id": slot["availability_id"], "datetime": slot["datetime"],
            "payment_collection": "vendor_external",
        });
        let answer = service.create_with(venue, fields).await;
        if possible {
            let action = &answer.is(201)["next_action"];
            assert_eq!(action["type"], "payment_approval");
        } else {
            answer.refused(409, "vault_unavailable");
        }
    }
    service.book_paid("ven_payment_declines").await;
}

#[tokio::test]
async fn settled_10_a_session_code_is_good_for_10_minutes_and_5_tries() {
    let service = Service::start(&[]);
    let late = service.connect("ada", "+441632960001").await;
    let code = json!({"code": service.code().await});
    service.advance("10m").await;
    let answer = service.post(&session_path(&late, "/verify"), code).await;
    answer.refused(400, "invalid_code");

    let tried = service.connect("grace", "+441632960002").await;
    let code = json!({"code": service.code().await});
    let path = session_path(&tried, "/verify");
    for _ in 0..5 {
        let answer = service.post(&path, json!({"code": "000000"})).await;
        answer.refused(400, "invalid_code");
    }
    service.post(&path, code).await.refused(400, "invalid_code");
    let read = service.get(&session_path(&tried, "")).await;
    assert_ne!(read.is(200)["state"], "active");
}

#[tokio::test]
async fn settled_10_a_session_lapses_after_30_days() {
    let service = Service::start(&[]);
    let session = service.sign_in("ada", "+441632960001").await;
    let card = session_path(&session, "/card");
    service.advance("29d23h").await;
    service.get(&card).await.is(200);
    let as_ada = json!({"end_user": "ada"});
    let booked = service.create_with("ven_confirms_b", as_ada.clone()).await;
    booked.is(201);
    service.advance("1h").await;
    service.get(&card).await.refused(409, "reconnect_required");
    let answer = service.create_with("ven_confirms_b", as_ada).await;
    answer.refused(409, "reconnect_required");
    let read = service.get(&session_path(&session, "")).await;
    assert_ne!(read.is(200)["state"], "active");
}

#[tokio::test]
async fn settled_10_the_phones_last_digit_decides_the_card_and_nobody_is_404() {
    let service = Service::start(&[]);
    for (phone, has_card) in [("+441632960010", false), ("+441632960019", true)] {
        service.sign_in(phone, phone).await;
        let path = format!("/v1/sessions/card?end_user={}", phone.replace('+', "%2B"));
        assert_eq!(service.get(&path).await.is(200)["has_card"], has_card);
    }
    let nobody = service.get("/v1/sessions/card?end_user=nobody").await;
    nobody.refused_plainly(404);
}

#[tokio::test]
async fn settled_10_booking_as_a_person_at_provider_b_needs_an_active_session() {
    let service = Service::start(&[]);
    let as_ada = json!({"end_user": "ada"});
    let answer = service.create_with("ven_confirms_b", as_ada.clone()).await;
    answer.refused(409, "reconnect_required");
    service.connect("ada", "+441632960001").await;
    let answer = service.create_with("ven_confirms_b", as_ada.clone()).await;
    answer.refused(409, "reconnect_required");
    service.sign_in("ada", "+441632960001").await;
    let answer = service.create_with("ven_confirms_b", as_ada.clone()).await;
    answer.is(201);
    // Other providers have no sessions.
    service.create_with("ven_confirms_c", as_ada).await.is(201);
}

#[tokio::test]
async fn settled_11_the_worker_ticks_every_second_unless_told_otherwise() {
    let receiver = Receiver::start().await;
    let service = Service::at_its_own_pace();
    service.settings(json!({"webhook_url": receiver.url})).await;
    let asked = Timestamp::now();
    let booking = service.book("ven_confirms").await;
    let attempt = receiver.event("booking.created", &booking).await;
    let waited = attempt.at.duration_since(asked).as_millis();
    assert!(waited < 3_000, "{waited} ms");
    drop(service);
    // The service's own pace is a flag, and nothing comes in its first seconds.
    let service = Service::start(&["--delivery-interval", "30s"]);
    service.settings(json!({"webhook_url": receiver.url})).await;
    let booking = service.book("ven_confirms").await;
    // Proves that nothing comes: longer than the default interval of a second, shorter than this one.
    tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
    assert!(receiver.kinds(&booking).is_empty());
}

#[tokio::test]
async fn settled_11_an_interval_of_nothing_is_refused() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_bookctl"))
        .args(["sandbox", "serve", "--port", "0", "--ephemeral", "--json"])
        .args(["--delivery-interval", "0s"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut ready)
        .unwrap();
    let _ = server.kill();
    let code = server.wait().unwrap().code();
    assert_eq!((ready.as_str(), code), ("", Some(2)));
}

#[tokio::test]
async fn settled_12_availability_is_the_venues_local_day_ascending_and_not_past() {
    let service = Service::start(&["--no-limits"]);
    for (city, zone) in [
        ("Sydney", "Australia/Sydney"),
        ("New York", "America/New_York"),
    ] {
        let venue = service.search_then("dining", city, "provider_a").await;
        let venue = venue["venue_id"].as_str().unwrap();
        // An instant whose UTC day is not the venue's.
        let day = (service.now().await + SignedDuration::from_hours(72))
            .in_tz(zone)
            .unwrap();
        let at = if city == "Sydney" {
            "08:00:00"
        } else {
            "21:00:00"
        };
        let at = format!("{}T{at}{}", day.strftime("%Y-%m-%d"), day.strftime("%:z"));
        let body = json!({"venue_id": venue, "datetime": at, "party_size": 2});
        let answer = service.post("/v1/availability/search", body).await;
        let slots = list(answer.is(200), "slots");
        assert!(!slots.is_empty());
        for slot in &slots {
            let local = instant(&slot["datetime"]).in_tz(zone).unwrap();
            assert_eq!(local.date(), day.date());
        }
        assert!(slots.is_sorted_by_key(|it| instant(&it["datetime"])));
    }
    // Of today, what is left of it.
    let today = service.now().await;
    let noon_on = today + SignedDuration::from_secs(60);
    let body = json!({
        "venue_id": "ven_confirms", "datetime": noon_on.to_string(), "party_size": 2,
    });
    let answer = service.post("/v1/availability/search", body).await;
    for slot in list(answer.is(200), "slots") {
        assert!(instant(&slot["datetime"]) > today);
    }
    let past = (today - SignedDuration::from_secs(60)).to_string();
    let body = json!({"venue_id": "ven_confirms", "datetime": past, "party_size": 2});
    let answer = service.post("/v1/availability/search", body).await;
    answer.invalid("datetime");
}

#[tokio::test]
async fn settled_12_a_slot_that_is_past_or_full_is_not_offered() {
    let service = Service::start(&[]);
    let before = service.slots("ven_last_table").await.len();
    service.book("ven_last_table").await;
    assert_eq!(service.slots("ven_last_table").await.len(), before - 1);
    // To 18:10 of tomorrow: of 17:00, 17:30 and 18:00 nothing is left.
    let evening: Timestamp = service.evening(1).await.parse().unwrap();
    let wait = evening.duration_since(service.now().await) - SignedDuration::from_mins(80);
    service.advance(&format!("{}s", wait.as_secs())).await;
    let body = json!({
        "venue_id": "ven_confirms", "datetime": evening.to_string(), "party_size": 2,
    });
    let answer = service.post("/v1/availability/search", body).await;
    let slots = list(answer.is(200), "slots");
    assert_eq!(slots.len(), 8);
    assert_eq!(
        instant(&slots[0]["datetime"]),
        evening - SignedDuration::from_mins(60)
    );
}

#[tokio::test]
async fn settled_12_no_limits_switches_rate_limits_and_allowance_off() {
    let service = Service::start(&["--no-limits"]);
    for day in 1..=15 {
        let evening = json!({"datetime": service.evening(day).await});
        let order = with(service.order("ven_confirms").await, &evening);
        let answer = service.with(TEST).post("/v1/bookings", order).await;
        assert_eq!(answer.is(201)["status"], "confirmed");
        assert_eq!(answer.header("ratelimit-limit"), None);
    }
}
