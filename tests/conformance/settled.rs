//! What the sandbox settles where the specification is silent, 1 to 5: what is refused, in which
//! order, and by which rule.

use serde_json::json;

use crate::answer::Answer;
use crate::service::{
    BETA, LIVE, OTHER, READ_ONLY, SUSPENDED, Service, TEST, WITHOUT_BILLING, day, instant, list,
    with,
};

/// Sends a booking request that would fail at the later of two checks, and has to fail at the
/// earlier one.
fn send(service: &Service, key: &str, body: impl Into<Vec<u8>>) -> Answer {
    service.with(key).raw("POST", "/v1/bookings", Some(body.into()))
}

#[test]
fn settled_1_size_key_suspension_scope_limit_in_this_order() {
    let service = Service::start(&[]);
    let huge = vec![b'{'; 1_200_000];
    for key in ["", BETA, SUSPENDED, READ_ONLY, LIVE] {
        send(&service, key, huge.clone()).is(413);
    }
    send(&service, "", "{").is(401);
    service.settings(json!({"suspended": true}));
    send(&service, BETA, "{").refused(403, "wrong_key_environment");
    send(&service, READ_ONLY, "{").refused(403, "org_suspended");
    service.settings(json!({"suspended": false}));
    let keyed = service.live().keyed("known");
    let order = service.order("ven_confirms");
    keyed.post("/v1/bookings", order.clone()).is(201);
    for _ in 0..9 {
        send(&service, LIVE, "{").is(400);
    }
    let answer = send(&service, READ_ONLY, "{");
    assert_eq!(answer.is(403)["error"], "insufficient_scope");
    // The limit comes before idempotency.
    keyed.post("/v1/bookings", order).is(429);
}

#[test]
fn settled_1_idempotency_billing_allowance_json_in_this_order() {
    let (service, order) = Service::with_order("ven_confirms");
    let keyed = service.live().keyed("known");
    keyed.post("/v1/bookings", order.clone()).is(201);
    service.settings(json!({"billing": false}));
    let answer = keyed.raw("POST", "/v1/bookings", Some(b"{".to_vec()));
    answer.is(200);
    let answer = send(&service, LIVE, "{");
    assert_eq!(answer.is(402)["error"], "billing_required");
    service.settings(json!({"billing": true}));
    for _ in 0..3 {
        let answer = service.with(TEST).post("/v1/bookings", order.clone());
        answer.is(201);
    }
    let answer = send(&service, TEST, "{");
    assert_eq!(answer.is(402)["error"], "free_tier_exhausted");
    service.advance("5m");
    // Types before values.
    let wrong = json!({"venue_id": "ven_nowhere", "party_size": "two"}).to_string();
    let answer = send(&service, LIVE, wrong);
    assert_eq!(answer.is(400)["error"], "invalid request body");
}

#[test]
fn settled_1_values_venue_provider_guest_slot_in_this_order() {
    let service = Service::start(&[]);
    let test_user = json!({"name": "Test User"});
    // Values before the venue.
    let fields = json!({"party_size": 0, "customer": test_user});
    let answer = service.create_with("ven_nowhere", fields);
    answer.invalid("party_size");
    // The venue before provider and guest.
    let fields = json!({"customer": test_user});
    let answer = service.create_with("ven_nowhere", fields.clone());
    answer.refused_plainly(404);
    // The provider before the guest.
    let answer = service.create_with("ven_multi_provider", fields);
    answer.refused_plainly(400);
    // The guest before the slot.
    let slots = service.slots("ven_confirms");
    let other_time = json!({
        "availability_id": slots[0]["availability_id"], "datetime": slots[1]["datetime"],
    });
    let guest = with(other_time.clone(), &json!({"customer": {"name": "Test User"}}));
    let answer = service.create_with("ven_confirms", guest);
    answer.refused(400, "placeholder_customer");
    let answer = service.create_with("ven_confirms", other_time);
    answer.refused(400, "slot_not_offered");
}

#[test]
fn settled_1_billing_is_asked_of_every_call_but_the_index() {
    let service = Service::start(&[]);
    let caller = service.with(WITHOUT_BILLING);
    caller.get("/v1/").is(200);
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
        let answer = caller.call(method, path, None);
        assert_eq!(answer.is(402)["error"], "billing_required", "{path}");
    }
}

#[test]
fn settled_2_seeded_venue_is_known_after_a_search() {
    let service = Service::start(&[]);
    let search = service.search("fitness", "Paris");
    let found = service.with(OTHER).post("/v1/venues/search", search);
    let venue = list(found.is(200), "venues")[0]["venue_id"].clone();
    let venue = venue.as_str().unwrap();
    let slots = day(venue, &service.evening(1));
    let answer = service.post("/v1/availability/search", slots);
    answer.refused_plainly(404);
    service.create(venue).refused_plainly(404);
    service.venues("fitness", "Paris");
    service.slots(venue);
    service.slots("ven_confirms");
}

#[test]
fn settled_2_venue_of_several_providers_needs_one_of_them() {
    let service = Service::start(&[]);
    service.create("ven_multi_provider").refused_plainly(400);
    let mut slots = day("ven_multi_provider", &service.evening(1));
    slots["provider"] = json!("provider_c");
    let answer = service.post("/v1/availability/search", slots);
    assert_eq!(answer.is(200)["provider"], "provider_c");
    for (venue, provider) in [
        ("ven_multi_provider", "provider_b"),
        ("ven_confirms", "provider_b"),
        ("ven_confirms", "provider_z"),
    ] {
        let answer = service.create_with(venue, json!({"provider": provider}));
        answer.refused_plainly(400);
    }
}

#[test]
fn settled_3_placeholders_are_rejected_in_any_case_and_spacing() {
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
            let answer = service.create_with(venue, json!({"customer": {"name": name}}));
            answer.refused(400, "placeholder_customer");
        }
    }
    for name in ["Testa Userman", "Guest Lee", "李 小龍", "Johnny Doe"] {
        service.create_with("ven_confirms", json!({"customer": {"name": name}})).is(201);
    }
}

#[test]
fn settled_4_slot_that_was_never_offered_fails_validation() {
    let service = Service::start(&[]);
    let elsewhere = service.new_slot("ven_otp");
    for id in [json!("slot_nothing"), elsewhere["availability_id"].clone()] {
        let answer = service.create_with("ven_confirms", json!({"availability_id": id}));
        answer.invalid("availability_id");
    }
}

#[test]
fn settled_4_time_selects_the_slot_without_availability_id() {
    let (service, booking) = Service::with_booking("ven_last_table");
    let left = service.slots("ven_last_table");
    let at = instant(&booking["datetime"]);
    assert!(left.iter().all(|it| instant(&it["datetime"]) != at), "taken");
    let day = service.evening(1);
    let odd = json!({"datetime": day.replace("19:30", "19:37")});
    let answer = service.create_with("ven_confirms", odd);
    assert_eq!(answer.is(201)["status"], "failed");
    assert_eq!(answer.body["error_code"], "no_availability");
}

#[test]
fn settled_5_party_is_1_to_20_and_time_is_in_the_future() {
    let service = Service::start(&["--no-limits"]);
    for (size, status) in [(0, 400), (-1, 400), (1, 201), (20, 201), (21, 400)] {
        service.create_with("ven_confirms", json!({"party_size": size})).is(status);
    }
    let booking = service.book("ven_confirms");
    let soon = service.evening(2);
    service.advance("3d");
    let fields = json!({"datetime": soon});
    let answer = service.create_with("ven_confirms", fields.clone());
    answer.invalid("datetime");
    service.act(&booking, "modify", fields).invalid("datetime");
    for size in [0, 21] {
        let answer = service.act(&booking, "modify", json!({"party_size": size}));
        answer.invalid("party_size");
    }
}
