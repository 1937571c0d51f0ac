//! "Authentication", 1 to 8.

use serde_json::json;

use crate::service::{
    BETA, LIVE, OTHER, READ_ONLY, SUSPENDED, Service, TEST, day, path_of, session_path,
};

#[test]
fn auth_1a_a_key_stands_for_its_organization() {
    let (service, booking) = Service::with_booking("ven_confirms");
    let path = path_of(&booking, "");
    for (key, status) in [(LIVE, 200), (TEST, 200), (READ_ONLY, 200), (OTHER, 404)] {
        service.with(key).get(&path).is(status);
    }
}

#[test]
fn auth_1c_a_beta_key_is_refused_everywhere_on_v1() {
    let service = Service::start(&[]);
    for (method, path) in [
        ("GET", "/v1/"),
        ("POST", "/v1/venues/search"),
        ("POST", "/v1/availability/search"),
        ("POST", "/v1/bookings"),
        ("GET", "/v1/bookings/bk_1"),
        ("POST", "/v1/bookings/bk_1/continue"),
        ("POST", "/v1/bookings/bk_1/modify"),
        ("POST", "/v1/bookings/bk_1/cancel"),
        ("POST", "/v1/sessions"),
        ("POST", "/v1/sessions/ses_1/verify"),
        ("GET", "/v1/sessions"),
        ("GET", "/v1/sessions/ses_1"),
        ("DELETE", "/v1/sessions/ses_1"),
        ("GET", "/v1/sessions/ses_1/card"),
        ("GET", "/v1/sessions/card"),
    ] {
        let answer = service.with(BETA).call(method, path, None);
        answer.refused(403, "wrong_key_environment");
    }
}

#[test]
fn auth_2_a_missing_or_bad_key_gives_401_unauthorized() {
    let service = Service::start(&[]);
    let headers = [
        "Bearer sk_live_nobody",
        "Bearer ",
        "Bearer",
        "Basic sk_live_sandbox",
        "sk_live_sandbox",
        "Bearer SK_LIVE_SANDBOX",
        "Bearer sk_live_sandbox2",
    ];
    for path in ["/v1/", "/v1/bookings/bk_1", "/v1/sessions"] {
        let missing = service.with("").get(path);
        assert_eq!(missing.is(401)["error"], "unauthorized", "{path}");
        for header in headers {
            let caller = service.with("").header("authorization", header);
            let answer = caller.get(path);
            assert_eq!(answer.is(401)["error"], "unauthorized", "{header}");
        }
    }
}

#[test]
fn auth_3_response_names_the_scope_that_a_key_lacks() {
    let (service, booking) = Service::with_booking("ven_confirms");
    for (path, scope) in [
        ("/v1/bookings".to_owned(), "bookings:create"),
        (path_of(&booking, "continue"), "bookings:write"),
        (path_of(&booking, "modify"), "bookings:write"),
        (path_of(&booking, "cancel"), "bookings:write"),
        ("/v1/sessions".to_owned(), "sessions:write"),
    ] {
        let answer = service.with(READ_ONLY).post(&path, json!({}));
        assert_eq!(answer.is(403)["error"], "insufficient_scope", "{path}");
        assert_eq!(answer.body["required_scope"], scope, "{path}");
    }
    service.with(READ_ONLY).get(&path_of(&booking, "")).is(200);
}

#[test]
fn auth_4_a_live_key_without_billing_gives_402() {
    let service = Service::start(&[]);
    // Test keys need none.
    service.settings(json!({"billing": false}));
    let order = service.order("ven_confirms");
    service.with(TEST).post("/v1/bookings", order).is(201);
    let answer = service.create("ven_confirms");
    assert_eq!(answer.is(402)["error"], "billing_required");
}

#[test]
fn auth_5a_only_confirmed_test_bookings_use_the_allowance() {
    let service = Service::start(&[]);
    let test = service.with(TEST);
    let create = |venue| test.post("/v1/bookings", service.order(venue));
    // Attempts that come to nothing, searches, and the live key's bookings count nothing.
    for venue in ["ven_provider_fails", "ven_otp", "ven_otp", "ven_no_slots"] {
        create(venue).is(201);
    }
    for _ in 0..4 {
        service.book("ven_confirms");
    }
    service.advance("5m");
    for _ in 0..4 {
        let search = service.search("dining", "Paris");
        test.post("/v1/venues/search", search).is(200);
    }
    for _ in 0..3 {
        assert_eq!(create("ven_confirms").is(201)["status"], "confirmed");
    }
    create("ven_confirms").is(402);
}

#[test]
fn auth_5a_a_test_booking_counts_once_it_is_confirmed() {
    let service = Service::start(&[]);
    let test = service.with(TEST);
    for confirmed in 0..3 {
        let order = service.order("ven_otp");
        let booking = test.post("/v1/bookings", order);
        assert_eq!(booking.is(201)["status"], "requires_action", "{confirmed}");
        let code = json!({"otp": service.code()});
        let path = path_of(&booking.body, "continue");
        assert_eq!(test.post(&path, code).is(200)["status"], "confirmed");
    }
    let order = service.order("ven_otp");
    test.post("/v1/bookings", order).is(402);
}

#[test]
fn auth_5b_used_up_allowance_stops_searches_and_test_bookings() {
    let service = Service::start(&[]);
    let test = service.with(TEST);
    let order = service.order("ven_confirms");
    let mut booking = json!(null);
    for _ in 0..3 {
        let answer = test.post("/v1/bookings", order.clone());
        booking = answer.is(201).clone();
    }
    let slots = day("ven_confirms", &service.evening(1));
    for (path, body) in [
        ("/v1/venues/search", service.search("dining", "Paris")),
        ("/v1/availability/search", slots),
        ("/v1/bookings", order.clone()),
    ] {
        let answer = test.post(path, body);
        assert_eq!(answer.is(402)["error"], "free_tier_exhausted", "{path}");
        assert_eq!(answer.body["limit"], 3);
    }
    // What was booked can still be read, and live keys go on.
    test.get(&path_of(&booking, "")).is(200);
    service.post("/v1/bookings", order).is(201);
}

#[test]
fn auth_6_a_suspended_organization_is_refused_with_the_reason() {
    let service = Service::start(&[]);
    let answer = service.with(SUSPENDED).get("/v1/bookings/bk_1");
    let body = answer.refused(403, "org_suspended");
    assert!(!body["reason"].as_str().unwrap().is_empty());

    service.settings(json!({"suspended": true}));
    let body = service.get("/v1/bookings/bk_1");
    let body = body.refused(403, "org_suspended");
    assert_eq!(body.get("reason"), None, "none was given");
    service.settings(json!({"suspension_reason": "unpaid"}));
    for key in [LIVE, TEST, READ_ONLY] {
        let answer = service.with(key).get("/v1/bookings/bk_1");
        assert_eq!(answer.refused(403, "org_suspended")["reason"], "unpaid");
    }
}

#[test]
fn auth_7_session_operations_need_a_live_key() {
    let service = Service::start(&[]);
    let session = service.connect("ada", "+441632960001");
    let body = json!({"end_user": "ada", "provider": "provider_b", "phone": "+441632960001"});
    let test = service.with(TEST);
    test.post("/v1/sessions", body).refused(403, "live_key_required");
    let answer = test.post(&session_path(&session, "/verify"), json!({"code": service.code()}));
    answer.refused(403, "live_key_required");
}
