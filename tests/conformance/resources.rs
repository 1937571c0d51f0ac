//! "Resources and their fields".

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::receiver::Receiver;
use crate::service::{LIVE, OTHER, Service, approval, instant, list, names, path_of, session_path};

#[tokio::test]
async fn booking_id_is_what_the_paths_take() {
    let service = Service::start(&[]);
    let booking = service.book("ven_confirms").await;
    let id = booking["id"].as_str().unwrap();
    let read = service.get(&format!("/v1/bookings/{id}")).await;
    assert_eq!(read.is(200)["id"], id);
}

#[tokio::test]
async fn booking_object_names_the_type() {
    let service = Service::start(&[]);
    assert_eq!(service.book("ven_confirms").await["object"], "booking");
}

#[tokio::test]
async fn booking_status_tells_where_the_booking_stands() {
    let service = Service::start(&[]);
    for (venue, status) in [
        ("ven_confirms", "confirmed"),
        ("ven_otp", "requires_action"),
        ("ven_processing", "processing"),
        ("ven_provider_fails", "failed"),
    ] {
        assert_eq!(service.book(venue).await["status"], status, "{venue}");
    }
}

#[tokio::test]
async fn booking_provider_is_the_one_that_handles_it() {
    let service = Service::start(&[]);
    for (venue, provider) in [
        ("ven_confirms", "provider_a"),
        ("ven_confirms_b", "provider_b"),
        ("ven_confirms_c", "provider_c"),
    ] {
        assert_eq!(service.book(venue).await["provider"], provider);
    }
}

#[tokio::test]
async fn booking_error_code_is_there_when_something_failed_and_else_not() {
    let service = Service::start(&[]);
    let failed = service.book("ven_provider_fails").await;
    assert!(failed["error_code"].is_string());
    let fine = service.book("ven_confirms").await;
    assert_eq!(fine.get("error_code"), None);
}

#[tokio::test]
async fn booking_error_message_is_for_people_and_there_when_it_applies() {
    let service = Service::start(&[]);
    let failed = service.book("ven_provider_fails").await;
    let message = failed["error_message"].as_str().unwrap();
    assert!(message.contains(' ') && message != failed["error_code"]);
    let fine = service.book("ven_confirms").await;
    assert_eq!(fine.get("error_message"), None);
}

#[tokio::test]
async fn booking_next_action_is_there_while_an_action_is_waited_for() {
    let service = Service::start(&[]);
    let booking = service.book("ven_otp").await;
    assert_eq!(booking["next_action"]["type"], "otp");
    let code = service.code().await;
    let confirmed = service
        .act(&booking, "continue", json!({"otp": code}))
        .await;
    assert_eq!(confirmed.is(200).get("next_action"), None);

    let booking = service.book_paid("ven_payment").await;
    assert_eq!(booking["next_action"]["type"], "payment_approval");
    let confirmed = service.act(&booking, "continue", approval(&booking)).await;
    assert_eq!(confirmed.is(200).get("next_action"), None);
}

#[tokio::test]
async fn booking_last_modification_is_there_after_a_modify() {
    let service = Service::start(&[]);
    let booking = service.book("ven_confirms").await;
    assert_eq!(booking.get("last_modification"), None);
    let modified = service
        .act(&booking, "modify", json!({"party_size": 3}))
        .await;
    assert!(modified.is(200)["last_modification"].is_object());
    assert_eq!(service.read(&booking).await, modified.body);
}

#[tokio::test]
async fn booking_expires_at_is_the_deadline_of_a_payment_approval() {
    let service = Service::start(&[]);
    let booking = service.book_paid("ven_payment").await;
    let deadline = instant(&booking["expires_at"]);
    assert!(deadline > instant(&booking["created_at"]));
    let left = deadline.duration_since(service.now().await).as_secs();
    service.advance(&format!("{}s", left - 5)).await;
    assert_eq!(service.read(&booking).await["status"], "requires_action");
    service.advance("6s").await;
    assert_eq!(service.read(&booking).await["status"], "failed");
    let unpaid = service.book("ven_confirms").await;
    assert_eq!(unpaid.get("expires_at"), None);
}

#[tokio::test]
async fn create_venue_id_is_known_once_a_search_returned_it() {
    let service = Service::start(&[]);
    // Another organization's search makes nothing known to this one.
    let search = json!({
        "vertical": "dining", "location": "London", "datetime": service.evening(1).await,
    });
    let found = service.with(OTHER).post("/v1/venues/search", search).await;
    let venues = list(found.is(200), "venues");
    let venue = venues.iter().find(|it| it["provider"] == "provider_b");
    let venue_id = venue.unwrap()["venue_id"].as_str().unwrap();
    service.create(venue_id).await.refused_plainly(404);

    service.venues("dining", "London").await;
    let slot = service.new_slot(venue_id).await;
    let booked = service
        .create_with(venue_id, json!({"datetime": slot["datetime"]}))
        .await;
    assert_eq!(booked.is(201)["venue_id"], venue_id);
}

#[tokio::test]
async fn create_provider_is_required_where_the_venue_has_no_mapping() {
    let service = Service::start(&[]);
    service.create("ven_multi_provider").await.is(400);
    for provider in ["provider_a", "provider_c"] {
        let named = service
            .create_with("ven_multi_provider", json!({"provider": provider}))
            .await;
        assert_eq!(named.is(201)["provider"], provider);
    }
    assert_eq!(
        service.book("ven_confirms_c").await["provider"],
        "provider_c"
    );
}

#[tokio::test]
async fn create_datetime_must_be_in_the_future_and_the_one_that_the_slot_was_offered_at() {
    let service = Service::start(&[]);
    let slot = service.new_slot("ven_confirms").await;
    let of_slot = |datetime: serde_json::Value| {
        let fields = json!({"availability_id": slot["availability_id"], "datetime": datetime});
        service.create_with("ven_confirms", fields)
    };
    let past = service.now().await - SignedDuration::from_mins(1);
    of_slot(json!(past.to_string())).await.invalid("datetime");
    let later = instant(&slot["datetime"]) + SignedDuration::from_mins(30);
    let answer = of_slot(json!(later.to_string())).await;
    answer.refused(400, "slot_not_offered");
    of_slot(slot["datetime"].clone()).await.is(201);
    // The same instant, written in another zone.
    let elsewhere = instant(&slot["datetime"])
        .to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(9)))
        .strftime("%Y-%m-%dT%H:%M:%S%:z")
        .to_string();
    of_slot(json!(elsewhere)).await.is(201);
}

#[tokio::test]
async fn create_availability_id_books_the_slot_that_was_offered() {
    let service = Service::start(&[]);
    let slot = service.new_slot("ven_last_table").await;
    let fields = json!({
        "availability_id": slot["availability_id"], "datetime": slot["datetime"],
    });
    let booked = service.create_with("ven_last_table", fields).await;
    assert_eq!(booked.is(201)["status"], "confirmed");
    let left = service.slots("ven_last_table").await;
    assert!(
        left.iter()
            .all(|it| it["availability_id"] != slot["availability_id"])
    );
}

#[tokio::test]
async fn create_party_size_is_a_whole_number() {
    let service = Service::start(&[]);
    let party_of =
        |size: serde_json::Value| service.create_with("ven_confirms", json!({"party_size": size}));
    assert_eq!(party_of(json!(5)).await.is(201)["party_size"], 5);
    for size in [json!(2.5), json!("2"), json!([2])] {
        let answer = party_of(size).await;
        let body = answer.refused_plainly(400);
        assert_eq!(body["error"], "invalid request body");
        assert_eq!(body["field"], "party_size");
    }
}

#[tokio::test]
async fn create_customer_is_a_real_guest_with_first_and_last_name_at_provider_a() {
    let service = Service::start(&[]);
    let guest = |venue: &'static str, customer: serde_json::Value| {
        service.create_with(venue, json!({"customer": customer}))
    };
    let answer = guest("ven_confirms", json!("Ada Lovelace")).await;
    assert_eq!(answer.refused_plainly(400)["field"], "customer");
    guest("ven_confirms", json!({}))
        .await
        .invalid("customer.name");
    let answer = guest("ven_confirms", json!({"name": "Test User"})).await;
    answer.refused(400, "placeholder_customer");
    let answer = guest("ven_confirms", json!({"name": "Ada"})).await;
    answer.refused(400, "missing_last_name");
    let ada = json!({"name": "Ada Lovelace", "email": "ada@example.com"});
    let booking = guest("ven_confirms", ada.clone()).await;
    assert_eq!(booking.is(201)["customer"], ada);
    guest("ven_confirms_b", json!({"name": "Ada"}))
        .await
        .is(201);
}

#[tokio::test]
async fn create_end_user_books_as_the_person_of_a_connected_session() {
    let service = Service::start(&[]);
    let as_grace = json!({"end_user": "grace"});
    service.sign_in("ada", "+441632960001").await;
    let answer = service
        .create_with("ven_confirms_b", as_grace.clone())
        .await;
    answer.refused(409, "reconnect_required");
    service.sign_in("grace", "+441632960002").await;
    let answer = service.create_with("ven_confirms_b", as_grace).await;
    assert_eq!(answer.is(201)["end_user"], "grace");
}

#[tokio::test]
async fn create_webhook_url_is_accepted_and_never_delivered_to() {
    let service = Service::start(&[]);
    let (own, named) = (Receiver::start().await, Receiver::start().await);
    service.settings(json!({"webhook_url": own.url})).await;
    let booking = service
        .create_with("ven_confirms", json!({"webhook_url": named.url}))
        .await;
    own.event("booking.confirmed", booking.is(201)).await;
    assert_eq!(named.attempts().len(), 0);
    let answer = service
        .create_with("ven_confirms", json!({"webhook_url": 7}))
        .await;
    assert_eq!(answer.refused_plainly(400)["field"], "webhook_url");
}

#[tokio::test]
async fn create_payment_collection_by_vendor_waits_for_the_payments_approval() {
    let service = Service::start(&[]);
    let unpaid = service.book("ven_payment").await;
    assert_eq!(unpaid["status"], "confirmed");
    let paid = service.book_paid("ven_payment").await;
    assert_eq!(paid["status"], "requires_action");
    assert_eq!(paid["payment_collection"], "vendor_external");
    let other = json!({"payment_collection": "cash"});
    let answer = service.create_with("ven_payment", other).await;
    answer.invalid("payment_collection");
}

#[tokio::test]
async fn session_fields_tell_whose_session_it_is_and_where_it_stands() {
    let service = Service::start(&[]);
    let session = service.connect("ada", "+441632960001").await;
    let read = service.get(&session_path(&session, "")).await;
    assert_eq!(read.is(200)["id"], session["id"]);
    assert_eq!(read.body["provider"], "provider_b");
    assert_eq!(read.body["end_user"], "ada");
    assert!(read.body["state"].is_string());
}

#[tokio::test]
async fn card_has_card_is_the_one_field_of_a_card_check() {
    let service = Service::start(&[]);
    for (phone, has_card) in [("+441632960001", true), ("+441632960010", false)] {
        let session = service.sign_in(phone, phone).await;
        let answer = service.get(&session_path(&session, "/card")).await;
        assert_eq!(*answer.is(200), json!({"has_card": has_card}));
    }
}

#[tokio::test]
async fn venue_id_identifies_a_venue() {
    let service = Service::start(&[]);
    let mut ids: Vec<String> = Vec::new();
    for city in ["London", "Sandbox"] {
        let venues = service.venues("dining", city).await;
        let id = |it: &serde_json::Value| it["venue_id"].as_str().unwrap().to_owned();
        ids.extend(venues.iter().map(id));
    }
    let number = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), number);
}

#[tokio::test]
async fn slot_1_a_slot_has_its_id_and_its_time() {
    let service = Service::start(&[]);
    let slots = service.slots("ven_confirms").await;
    assert!(!slots.is_empty());
    for slot in slots {
        assert!(slot["availability_id"].is_string());
        assert!(instant(&slot["datetime"]) > Timestamp::now());
    }
}

#[tokio::test]
async fn slot_2_only_restaurant_slots_carry_terms() {
    let service = Service::start(&[]);
    for (vertical, terms) in [
        ("dining", true),
        ("fitness", false),
        ("entertainment", false),
        ("travel", false),
    ] {
        let venue = service.search_then(vertical, "Sydney", "provider_b").await;
        let slot = service.new_slot(venue["venue_id"].as_str().unwrap()).await;
        for name in ["card_terms", "cancellation_terms"] {
            assert_eq!(names(&slot).contains(&name), terms, "{vertical}: {slot}");
        }
    }
}

#[tokio::test]
async fn webhook_event_has_an_id_and_the_bookings_summary() {
    let service = Service::start(&[]);
    let receiver = Receiver::start().await;
    service.settings(json!({"webhook_url": receiver.url})).await;
    let booking = service.book("ven_confirms").await;
    let attempt = receiver.event("booking.created", &booking).await;
    assert!(attempt.event["id"].is_string());
    let object = attempt.object();
    assert_eq!(names(object), ["id", "object", "provider", "status"]);
}

#[tokio::test]
async fn organization_settings_hold_one_webhook_url_and_one_signing_secret() {
    let service = Service::start(&[]);
    let (first, second) = (Receiver::start().await, Receiver::start().await);
    service.settings(json!({"webhook_url": first.url})).await;
    let settings = json!({"webhook_url": second.url, "webhook_secret": "whsec_mine"});
    service.settings(settings).await;
    let booking = service.book("ven_confirms").await;
    let attempt = second.event("booking.confirmed", &booking).await;
    assert!(attempt.is_signed_with("whsec_mine"));
    assert_eq!(first.attempts().len(), 0);
    // The dashboard is not part of /v1.
    let answer = service.with(LIVE).get(&path_of(&booking, "webhooks")).await;
    answer.is(404);
}
