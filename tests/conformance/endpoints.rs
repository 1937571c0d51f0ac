//! "Endpoints": what each of them does, and what the preamble, "Resources" and "Versioning" say
//! besides.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::service::{
    Service, approval, details, instant, list, names, of_slot, path_of, session_path, with,
};

#[test]
fn endpoints_1_every_path_is_under_the_base_url() {
    let service = Service::start(&[]);
    let index = service.get("/v1/");
    let endpoints = list(index.is(200), "endpoints");
    assert_eq!(endpoints.len(), 15, "{}", index.text);
    for endpoint in endpoints {
        let path = endpoint["path"].as_str().unwrap();
        let path = path.replace("{booking_id}", "x").replace("{id}", "x");
        let method = endpoint["method"].as_str().unwrap();
        // It is served: whatever it answers, it is not what an unknown path or method gets.
        let answer = service.live().call(method, &path, Some(json!({})));
        let unknown = service.get("/v1/nowhere");
        assert_ne!(answer.status, 405, "{method} {path}");
        assert_ne!(answer.body["error"], unknown.is(404)["error"]);
    }
}

#[test]
fn endpoints_2_bodies_are_json() {
    let service = Service::start(&[]);
    let booking = service.create("ven_confirms");
    for answer in [
        service.get("/v1/"),
        service.get(&path_of(&booking.body, "")),
        service.get("/v1/nowhere"),
        service.with("").get("/v1/"),
        booking,
    ] {
        assert!(answer.body.is_object(), "{}", answer.text);
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
    let form = Some(b"venue_id=ven_confirms".to_vec());
    let answer = service.live().raw("POST", "/v1/bookings", form);
    assert_eq!(answer.refused_plainly(400)["error"], "invalid request body");
}

#[test]
fn index_1_tells_name_version_time_and_endpoints() {
    let service = Service::start(&[]);
    let answer = service.get("/v1/");
    let index = answer.is(200);
    assert!(!index["name"].as_str().unwrap().is_empty());
    assert_eq!(index["version"], "v1");
    let drift = instant(&index["server_time"]).duration_since(Timestamp::now());
    assert!(drift.abs() < SignedDuration::from_secs(5), "{index}");
    let served: Vec<String> = list(index, "endpoints")
        .iter()
        .map(|it| format!("{} {}", it["method"].as_str().unwrap(), it["path"].as_str().unwrap()))
        .collect();
    for endpoint in [
        "GET /v1/",
        "POST /v1/venues/search",
        "POST /v1/availability/search",
        "POST /v1/bookings",
        "GET /v1/bookings/{booking_id}",
        "POST /v1/bookings/{booking_id}/continue",
        "POST /v1/bookings/{booking_id}/modify",
        "POST /v1/bookings/{booking_id}/cancel",
        "POST /v1/sessions",
        "POST /v1/sessions/{id}/verify",
        "GET /v1/sessions",
        "GET /v1/sessions/{id}",
        "DELETE /v1/sessions/{id}",
        "GET /v1/sessions/{id}/card",
        "GET /v1/sessions/card",
    ] {
        assert!(served.iter().any(|it| it == endpoint), "{endpoint}");
    }
}

#[test]
fn search_2_takes_vertical_datetime_place_or_point_providers() {
    let service = Service::start(&[]);
    let search = |fields: Value| {
        let body = json!({"vertical": "dining", "datetime": service.evening(1)});
        service.post("/v1/venues/search", with(body, &fields))
    };
    let by_name = search(json!({"location": "Paris"}));
    let by_point = search(json!({"latitude": 48.8566, "longitude": 2.3522}));
    let id = |it: &Value| it["venue_id"].as_str().unwrap().to_owned();
    let named: Vec<String> = list(by_name.is(200), "venues").iter().map(id).collect();
    let pointed = list(by_point.is(200), "venues");
    assert!(pointed.iter().map(id).any(|it| named.contains(&it)));
    let km = pointed.iter().map(|it| it["distance_km"].as_f64().unwrap());
    assert!(km.clone().is_sorted() && km.clone().all(|it| it <= 50.0));
    // 76 km from the venues of London.
    let in_brighton = search(json!({"latitude": 50.8225, "longitude": -0.1372}));
    assert!(list(in_brighton.is(200), "venues").is_empty());

    let of_b = search(json!({"location": "Paris", "providers": ["provider_b"]}));
    let venues = list(of_b.is(200), "venues");
    assert!(!venues.is_empty());
    for venue in venues {
        let served = venue["provider"] == "provider_b"
            || venue["providers"].as_array().is_some_and(|it| it.contains(&json!("provider_b")));
        assert!(served, "{venue}");
    }
    search(json!({"location": "Paris", "vertical": "gardens"})).invalid("vertical");
    search(json!({"location": "Paris", "datetime": "tomorrow"})).invalid("datetime");
    let typed = search(json!({"location": "Paris", "providers": "provider_b"}));
    assert_eq!(typed.refused_plainly(400)["field"], "providers");
}

#[test]
fn search_5_what_is_missing_is_listed() {
    let service = Service::start(&[]);
    let answer = service.post("/v1/venues/search", json!({}));
    let missing = list(answer.refused_plainly(400), "missing");
    for name in ["vertical", "datetime", "location"] {
        assert!(missing.contains(&json!(name)), "{missing:?}");
    }
    let body = json!({"vertical": "dining", "location": "Paris"});
    let answer = service.post("/v1/venues/search", body);
    let body = answer.refused_plainly(400);
    assert_eq!(body["missing"], json!(["datetime"]));
}

#[test]
fn availability_1_lists_slots_of_one_venue_with_their_terms() {
    let service = Service::start(&[]);
    let slots = service.slots("ven_confirms");
    // Every half hour from 17:00 to 22:00.
    assert_eq!(slots.len(), 11);
    for slot in &slots {
        assert!(slot["card_terms"]["text"].is_string());
        assert!(slot["cancellation_terms"]["text"].is_string());
    }
    // Each of them can be booked.
    for slot in [&slots[0], &slots[10]] {
        let booked = service.create_with("ven_confirms", of_slot(slot));
        assert_eq!(booked.is(201)["status"], "confirmed");
    }
}

#[test]
fn bookings_create_1_creates_a_booking() {
    let (service, mut booking) = Service::with_booking("ven_otp");
    assert_eq!(service.read(&booking), booking);
    booking["organization"] = "org_sandbox".into();
    assert_eq!(service.bookings(), [booking]);
}

#[test]
fn bookings_create_2_the_idempotency_key_is_optional() {
    let service = Service::start(&[]);
    let without = service.create("ven_confirms");
    let again = service.create("ven_confirms");
    assert_ne!(without.is(201)["id"], again.is(201)["id"]);
    let order = service.order("ven_confirms");
    let caller = service.live().keyed("one");
    let first = caller.post("/v1/bookings", order.clone());
    let second = caller.post("/v1/bookings", order);
    assert_eq!(first.is(201)["id"], second.is(200)["id"]);
}

#[test]
fn bookings_create_3_takes_every_field_of_the_resource() {
    let service = Service::start(&[]);
    service.sign_in("ada", "+441632960001");
    let slot = service.new_slot("ven_confirms_b");
    let body = json!({
        "venue_id": "ven_confirms_b",
        "provider": "provider_b",
        "datetime": slot["datetime"],
        "availability_id": slot["availability_id"],
        "party_size": 3,
        "customer": {"name": "Ada Lovelace"},
        "end_user": "ada",
        "webhook_url": "https://example.com/hook",
    });
    let answer = service.post("/v1/bookings", body.clone());
    let booking = answer.is(201);
    for field in "venue_id provider datetime party_size customer end_user".split(' ') {
        assert_eq!(booking[field], body[field], "{field}");
    }
    let paid = service.book_paid("ven_payment");
    assert_eq!(paid["payment_collection"], "vendor_external");
}

#[test]
fn bookings_read_2_an_unknown_id_gives_404() {
    let service = Service::start(&[]);
    for id in ["bk_1", "nothing", "bk_", "ven_confirms"] {
        let answer = service.get(&format!("/v1/bookings/{id}"));
        answer.refused_plainly(404);
    }
}

#[test]
fn bookings_continue_1_otp_or_other_action_advances_booking() {
    let service = Service::start(&[]);
    for venue in ["ven_otp", "ven_otp_b", "ven_otp_c"] {
        let booking = service.book(venue);
        let answer = service.act(&booking, "continue", json!({"otp": service.code()}));
        assert_eq!(answer.is(200)["status"], "confirmed");
        assert_eq!(answer.body["id"], booking["id"]);
    }
    let booking = service.book("ven_confirm_details");
    let some = json!({"arrival_time": "19:40", "dietary_requirements": " "});
    let answer = service.act(&booking, "continue", some);
    answer.invalid("dietary_requirements");
    service.act(&booking, "continue", json!({"psp_abort": true})).invalid("arrival_time");
    assert_eq!(service.read(&booking), booking);
    let body = details(&booking);
    let answer = service.act(&booking, "continue", body);
    assert_eq!(answer.is(200)["status"], "confirmed");
}

#[test]
fn bookings_continue_2_payment_takes_psp_response() {
    let (service, booking) = Service::with_paid("ven_payment");
    let answer = service.act(&booking, "continue", json!({"otp": "123456"}));
    answer.refused_plainly(400);
    assert_eq!(service.read(&booking), booking);
    let answer = service.act(&booking, "continue", approval(&booking));
    assert_eq!(answer.is(200)["status"], "confirmed");
}

#[test]
fn bookings_modify_2_only_what_is_sent_is_changed() {
    let service = Service::start(&[]);
    let mut booking = service.book("ven_confirms");
    for (field, value) in [
        ("datetime", json!(service.evening(2))),
        ("party_size", json!(4)),
        ("seating_preference", json!("window")),
    ] {
        let answer = service.act(&booking, "modify", json!({field: value}));
        let modified = answer.is(200);
        assert_eq!(modified[field], value);
        let changes = modified["last_modification"]["changes"].as_object();
        assert_eq!(changes.unwrap().keys().collect::<Vec<_>>(), [field]);
        for other in "datetime party_size seating_preference customer status".split(' ') {
            if other != field {
                assert_eq!(modified[other], booking[other], "{other} with {field}");
            }
        }
        booking = modified.clone();
    }
}

#[test]
fn bookings_cancel_1_cancels_a_booking() {
    let (service, booking) = Service::with_booking("ven_confirms");
    let answer = service.act(&booking, "cancel", json!({"reason": "illness"}));
    assert_eq!(answer.is(200)["status"], "cancelled");
    assert_eq!(answer.body["id"], booking["id"]);
    // No body is needed.
    let booking = service.book("ven_confirms");
    let answer = service.live().raw("POST", &path_of(&booking, "cancel"), None);
    assert_eq!(answer.is(200)["status"], "cancelled");
}

#[test]
fn sessions_create_1_texts_the_person_a_code() {
    let service = Service::start(&[]);
    let session = service.connect("ada", "+441632960007");
    let inbox = service.inbox();
    assert_eq!(inbox.len(), 1);
    assert_eq!(inbox[0]["to"], "+441632960007");
    assert_eq!(inbox[0]["session_id"], session["id"]);
    let (text, code) = (inbox[0]["text"].as_str(), inbox[0]["code"].as_str());
    assert!(text.unwrap().contains(code.unwrap()));
    assert!(!session.to_string().contains(code.unwrap()));
}

#[test]
fn sessions_verify_1_the_received_code_activates_the_session() {
    let service = Service::start(&[]);
    let session = service.connect("ada", "+441632960001");
    let path = session_path(&session, "/verify");
    let answer = service.post(&path, json!({"code": "000000"}));
    answer.refused(400, "invalid_code");
    assert_eq!(service.post(&path, json!({"code": service.code()})).is(200)["state"], "active");
}

#[test]
fn sessions_list_1_filters_by_person_provider_and_state() {
    let service = Service::start(&[]);
    let ada = service.sign_in("ada", "+441632960001");
    let grace = service.connect("grace", "+441632960002");
    let ids = |query| {
        let answer = service.get(&format!("/v1/sessions{query}"));
        let sessions = list(answer.is(200), "sessions");
        let mut ids: Vec<Value> = sessions.iter().map(|it| it["id"].clone()).collect();
        ids.sort_by_key(Value::to_string);
        ids
    };
    let (ada, grace) = (ada["id"].clone(), grace["id"].clone());
    let both = vec![ada.clone(), grace.clone()];
    assert_eq!(ids(""), both);
    assert_eq!(ids("?end_user=ada"), std::slice::from_ref(&ada));
    assert_eq!(ids("?provider=provider_b"), both);
    assert!(ids("?provider=provider_a").is_empty());
    assert_eq!(ids("?state=active"), [ada]);
    assert_eq!(ids("?state=pending"), std::slice::from_ref(&grace));
    assert_eq!(ids("?end_user=grace&state=pending"), [grace]);
    assert!(ids("?end_user=ada&state=pending").is_empty());
    assert!(ids("?end_user=nobody").is_empty());
}

#[test]
fn sessions_read_1_reads_one_session() {
    let service = Service::start(&[]);
    let ada = service.connect("ada", "+441632960001");
    service.connect("grace", "+441632960002");
    let answer = service.get(&session_path(&ada, ""));
    assert_eq!(*answer.is(200), ada);
}

#[test]
fn sessions_delete_1_the_session_and_its_sign_in_are_gone() {
    let service = Service::start(&[]);
    let session = service.sign_in("ada", "+441632960001");
    let path = session_path(&session, "");
    service.delete(&path).is(200);
    service.get(&path).refused_plainly(404);
    service.delete(&path).refused_plainly(404);
    let answer = service.get(&session_path(&session, "/card"));
    answer.refused_plainly(404);
    let answer = service.create_with("ven_confirms_b", json!({"end_user": "ada"}));
    answer.refused(409, "reconnect_required");
}

#[test]
fn sessions_card_2_asks_provider_b_for_a_person_by_default() {
    let service = Service::start(&[]);
    service.sign_in("ada", "+441632960001");
    for query in ["end_user=ada", "end_user=ada&provider=provider_b"] {
        let answer = service.get(&format!("/v1/sessions/card?{query}"));
        assert_eq!(*answer.is(200), json!({"has_card": true}), "{query}");
    }
    let elsewhere = "/v1/sessions/card?end_user=ada&provider=provider_a";
    service.get(elsewhere).refused_plainly(404);
}

#[test]
fn preamble_5_only_provider_b_connects_persons() {
    let service = Service::start(&[]);
    let connect = |provider: &'static str| {
        let body = json!({"end_user": "ada", "provider": provider, "phone": "+441632960001"});
        service.post("/v1/sessions", body)
    };
    assert_eq!(connect("provider_b").is(201)["provider"], "provider_b");
    connect("provider_a").invalid("provider");
    connect("provider_c").invalid("provider");
}

#[test]
fn booking_error_message_stands_beside_each_error_code() {
    let service = Service::start(&[]);
    let failed = service.book("ven_provider_fails");
    let message = failed["error_message"].as_str().unwrap();
    assert!(message.contains(' ') && message != failed["error_code"]);
    let fine = service.book("ven_confirms");
    assert_eq!(fine.get("error_message"), None);
}

#[test]
fn slot_2_only_restaurant_slots_carry_terms() {
    let service = Service::start(&[]);
    for (vertical, terms) in
        [("dining", true), ("fitness", false), ("entertainment", false), ("travel", false)]
    {
        let venue = service.search_then(vertical, "Sydney", "provider_b");
        let slot = service.new_slot(venue["venue_id"].as_str().unwrap());
        for name in ["card_terms", "cancellation_terms"] {
            assert_eq!(names(&slot).contains(&name), terms, "{vertical}: {slot}");
        }
    }
}

#[test]
fn versioning_1_the_path_says_v1_and_so_does_the_index() {
    let service = Service::start(&[]);
    assert_eq!(service.get("/v1/").is(200)["version"], "v1");
    for path in ["/v2/", "/v3/", "/bookings/bk_1", "/v2/bookings/bk_1"] {
        service.get(path).refused_plainly(404);
    }
}
