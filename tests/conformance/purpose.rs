//! "Preamble" and "What the service does".

use serde_json::{Value, json};

use crate::receiver::Receiver;
use crate::service::{OTHER, READ_ONLY, Service, TEST, approval, list, names, session_path};

#[tokio::test]
async fn preamble_2_the_printed_base_url_is_where_the_service_answers() {
    let service = Service::start(&[]);
    assert!(service.base.starts_with("http://127.0.0.1:"));
    service.get("/v1/").await.is(200);
}

#[tokio::test]
async fn preamble_4_only_provider_a_modifies_and_cancels_at_the_venue() {
    let service = Service::start(&[]);
    for (venue, able) in [
        ("ven_confirms", true),
        ("ven_confirms_b", false),
        ("ven_confirms_c", false),
    ] {
        let booking = service.book(venue).await;
        let modified = service
            .act(&booking, "modify", json!({"party_size": 3}))
            .await;
        assert_eq!(modified.status == 200, able, "{}", modified.text);
        let cancelled = service.act(&booking, "cancel", json!({})).await;
        assert_eq!(cancelled.is(200)["status"] == "cancelled", able);
    }
}

#[tokio::test]
async fn preamble_5_only_provider_b_connects_persons() {
    let service = Service::start(&[]);
    let connect = |provider: &'static str| {
        let body = json!({"end_user": "ada", "provider": provider, "phone": "+441632960001"});
        service.post("/v1/sessions", body)
    };
    assert_eq!(
        connect("provider_b").await.is(201)["provider"],
        "provider_b"
    );
    connect("provider_a").await.invalid("provider");
    connect("provider_c").await.invalid("provider");
}

#[tokio::test]
async fn purpose_1_each_of_the_four_verticals_has_venues_and_no_other_has() {
    let service = Service::start(&[]);
    for vertical in ["dining", "fitness", "entertainment", "travel"] {
        let venues = service.venues(vertical, "London").await;
        assert!(!venues.is_empty(), "{vertical}");
        assert!(venues.iter().all(|it| it["vertical"] == vertical));
    }
    let body = json!({
        "vertical": "gardening", "location": "London", "datetime": service.evening(1).await,
    });
    let answer = service.post("/v1/venues/search", body).await;
    answer.invalid("vertical");
}

#[tokio::test]
async fn purpose_3_a_search_finds_the_venues_of_its_vertical_alone() {
    let service = Service::start(&[]);
    let dining = service.venues("dining", "Paris").await;
    let travel = service.venues("travel", "Paris").await;
    assert!(!dining.is_empty() && !travel.is_empty());
    assert!(dining.iter().all(|it| !travel.contains(it)));
}

#[tokio::test]
async fn purpose_4_slots_are_read_for_one_venue() {
    let service = Service::start(&[]);
    let venue = service.search_then("fitness", "Tokyo", "provider_b").await;
    let venue_id = venue["venue_id"].as_str().unwrap();
    let body = json!({
        "venue_id": venue_id, "datetime": service.evening(2).await, "party_size": 1,
    });
    let answer = service.post("/v1/availability/search", body).await;
    assert_eq!(answer.is(200)["venue_id"], venue_id);
    assert!(!list(&answer.body, "slots").is_empty());
}

#[tokio::test]
async fn purpose_5_the_slots_of_a_restaurant_carry_both_terms() {
    let service = Service::start(&[]);
    let venue = service
        .search_then("dining", "New York", "provider_a")
        .await;
    for slot in service.slots(venue["venue_id"].as_str().unwrap()).await {
        assert!(slot["card_terms"]["required"].is_boolean(), "{slot}");
        assert!(slot["cancellation_terms"]["text"].is_string(), "{slot}");
    }
}

#[tokio::test]
async fn purpose_6_a_booking_is_created_for_a_venue_and_a_time() {
    let service = Service::start(&[]);
    let order = service.order("ven_confirms").await;
    let booking = service.book("ven_confirms").await;
    assert_eq!(booking["venue_id"], "ven_confirms");
    assert_eq!(booking["datetime"], order["datetime"]);
}

#[tokio::test]
async fn purpose_7_a_booking_and_its_status_are_read() {
    let service = Service::start(&[]);
    let booking = service.book("ven_confirms").await;
    assert_eq!(service.read(&booking).await, booking);
}

#[tokio::test]
async fn purpose_8_a_paused_booking_advances_by_otp_by_another_action_and_by_a_payment_answer() {
    let service = Service::start(&[]);

    let booking = service.book("ven_otp").await;
    let code = service.code().await;
    let answer = service
        .act(&booking, "continue", json!({"otp": code}))
        .await;
    assert_eq!(answer.is(200)["status"], "confirmed");

    let booking = service.book("ven_confirm_details").await;
    let answer = service.act(&booking, "continue", details(&booking)).await;
    assert_eq!(answer.is(200)["status"], "confirmed");

    let booking = service.book_paid("ven_payment").await;
    let answer = service.act(&booking, "continue", approval(&booking)).await;
    assert_eq!(answer.is(200)["status"], "confirmed");
}

/// An answer to every field that the action asks for.
pub(crate) fn details(booking: &Value) -> Value {
    let mut answer = json!({});
    for field in list(&booking["next_action"], "fields") {
        let name = field.as_str().or_else(|| field["name"].as_str());
        answer[name.expect("a field's name")] = json!("yes");
    }
    answer
}

#[tokio::test]
async fn purpose_9_a_confirmed_booking_is_modified_at_provider_a_only() {
    let service = Service::start(&[]);
    let booking = service.book("ven_confirms").await;
    let modified = service
        .act(&booking, "modify", json!({"party_size": 4}))
        .await;
    assert_eq!(modified.is(200)["party_size"], 4);
    for venue in ["ven_confirms_b", "ven_confirms_c"] {
        let booking = service.book(venue).await;
        let answer = service
            .act(&booking, "modify", json!({"party_size": 4}))
            .await;
        answer.refused(422, "modify_unsupported");
    }
}

#[tokio::test]
async fn purpose_10_a_booking_is_cancelled_at_the_venue_on_provider_a_only() {
    let service = Service::start(&[]);
    for (venue, status) in [
        ("ven_confirms", "cancelled"),
        ("ven_confirms_b", "confirmed"),
        ("ven_confirms_c", "confirmed"),
    ] {
        let booking = service.book(venue).await;
        service.act(&booking, "cancel", json!({})).await.is(200);
        assert_eq!(service.read(&booking).await["status"], status, "{venue}");
    }
}

#[tokio::test]
async fn purpose_11_a_person_is_connected_by_a_texted_code_and_then_booked_for() {
    let service = Service::start(&[]);
    let session = service.connect("ada", "+441632960001").await;
    let texted = service.inbox().await.remove(0);
    assert_eq!(texted["to"], "+441632960001");
    assert_eq!(texted["session_id"], session["id"]);

    let as_ada = json!({"end_user": "ada"});
    let early = service.create_with("ven_confirms_b", as_ada.clone()).await;
    early.refused(409, "reconnect_required");

    let code = json!({"code": texted["code"]});
    let verified = service.post(&session_path(&session, "/verify"), code).await;
    assert_eq!(verified.is(200)["state"], "active");
    let booking = service.create_with("ven_confirms_b", as_ada).await;
    assert_eq!(booking.is(201)["status"], "confirmed");
    assert_eq!(booking.body["end_user"], "ada");
}

#[tokio::test]
async fn purpose_12_a_persons_account_is_asked_for_a_card() {
    let service = Service::start(&[]);
    let session = service.sign_in("ada", "+441632960001").await;
    let answer = service.get(&session_path(&session, "/card")).await;
    assert_eq!(*answer.is(200), json!({"has_card": true}));
}

#[tokio::test]
async fn purpose_13_a_change_of_a_booking_reaches_the_webhook() {
    let service = Service::start(&[]);
    let receiver = Receiver::start().await;
    service.settings(json!({"webhook_url": receiver.url})).await;
    let booking = service.book("ven_confirms").await;
    service.act(&booking, "cancel", json!({})).await.is(200);
    let event = receiver.event("booking.cancelled", &booking).await;
    assert_eq!(event.object()["status"], "cancelled");
}

#[tokio::test]
async fn purpose_14_an_organizations_keys_share_its_bookings_its_limits_and_its_webhooks() {
    let service = Service::start(&[]);
    let receiver = Receiver::start().await;
    service.settings(json!({"webhook_url": receiver.url})).await;
    let order = service.order("ven_confirms").await;
    let path = "/v1/bookings";
    let by_live = service.post(path, order.clone()).await;
    let by_test = service.with(TEST).post(path, order.clone()).await;
    let by_other = service.with(OTHER).post(path, order).await;

    // Bookings.
    let path = |answer: &crate::service::Answer| {
        format!("/v1/bookings/{}", answer.is(201)["id"].as_str().unwrap())
    };
    service.with(TEST).get(&path(&by_live)).await.is(200);
    service.with(READ_ONLY).get(&path(&by_test)).await.is(200);
    service.with(OTHER).get(&path(&by_live)).await.is(404);

    // Rate limits: two booking requests of one organization, one of the other.
    assert_eq!(by_live.number("ratelimit-remaining"), 9);
    assert_eq!(by_test.number("ratelimit-remaining"), 8);
    assert_eq!(by_other.number("ratelimit-remaining"), 9);

    // Webhooks.
    receiver.event("booking.confirmed", &by_live.body).await;
    receiver.event("booking.confirmed", &by_test.body).await;
    assert!(receiver.kinds(&by_other.body).is_empty());
}

#[tokio::test]
async fn purpose_15_a_booking_whose_provider_fails_is_returned_as_failed_with_its_code() {
    let service = Service::start(&[]);
    let answer = service.create("ven_provider_fails").await;
    let booking = answer.is(201);
    assert_eq!(booking["status"], "failed");
    assert!(booking["error_code"].is_string());
    assert!(names(booking).contains(&"id"));
}
