//! "Limits", 1 to 7, every row of the table, and idempotency.

use serde_json::json;

use crate::answer::Answer;
use crate::receiver::subscribed;
use crate::service::{LIVE, OTHER, Service, TEST, path_of, with};

#[test]
fn limits_1_window_is_fixed_5_minutes_for_each_organization() {
    let (service, order) = Service::with_order("ven_confirms");
    let create = |key| service.with(key).post("/v1/bookings", order.clone());
    create(LIVE).is(201);
    let reset = create(TEST).number("ratelimit-reset");
    assert!((1..=300).contains(&reset), "{reset}");
    service.advance("4m");
    for _ in 0..4 {
        create(LIVE).is(201);
        create(TEST);
    }
    // Shared by the organization's keys, not by another's.
    create(LIVE).is(429);
    create(TEST).is(429);
    create(OTHER).is(201);
    // Fixed: it ends 5 minutes after it began, whenever its calls came.
    let left = create(LIVE).number("retry-after");
    assert!(left <= 60, "{left}");
    service.advance(&format!("{}s", left + 1));
    let answer = create(LIVE);
    answer.is(201);
    assert_eq!(answer.number("ratelimit-remaining"), 9);
}

#[test]
fn limits_2a_metered_answers_tell_limit_remaining_and_reset() {
    let service = Service::start(&[]);
    let booking = service.create("ven_confirms");
    let metered = |answer: &Answer, limit: i64| {
        assert_eq!(answer.number("ratelimit-limit"), limit, "{answer:?}");
        let remaining = answer.number("ratelimit-remaining");
        assert!((0..limit).contains(&remaining));
        assert!((1..=300).contains(&answer.number("ratelimit-reset")));
    };
    metered(&booking, 10);
    let path = |what| path_of(&booking.body, what);
    metered(&service.get(&path("")), 300);
    metered(&service.post(&path("continue"), json!({})), 20);
    metered(&service.post(&path("cancel"), json!({})), 30);
    // Refusals of a metered endpoint too.
    metered(&service.post("/v1/venues/search", json!({})), 25);
    metered(&service.post("/v1/availability/search", json!({})), 60);
    metered(&service.get("/v1/bookings/bk_1"), 300);
    metered(&service.post("/v1/sessions", json!({})), 20);
    metered(&service.get("/v1/sessions/card"), 30);
}

#[test]
fn limits_2b_over_the_limit_it_is_429_with_retry_after() {
    let service = Service::start(&[]);
    for _ in 0..25 {
        service.post("/v1/venues/search", json!({})).is(400);
    }
    let answer = service.post("/v1/venues/search", json!({}));
    assert_eq!(answer.is(429)["error"], "rate_limited");
    let after = answer.number("retry-after");
    assert_eq!(after, answer.number("ratelimit-reset"));
    // It is long enough.
    service.advance(&format!("{after}s"));
    service.post("/v1/venues/search", json!({})).is(400);
}

/// As often as the limit allows, and once more with each of the calls that share it.
#[test]
fn limit_1_every_row_of_the_table_is_enforced() {
    let service = Service::start(&[]);
    for (limit, calls) in [
        (25, &["POST /v1/venues/search"][..]),
        (60, &["POST /v1/availability/search"]),
        (10, &["POST /v1/bookings"]),
        (20, &["POST /v1/bookings/bk_1/continue", "POST /v1/bookings/bk_2/continue"]),
        (300, &["GET /v1/bookings/bk_1", "GET /v1/bookings/bk_2"]),
        (30, &["POST /v1/bookings/bk_1/cancel"]),
        (20, &["POST /v1/sessions", "POST /v1/sessions/ses_1/verify"]),
        (30, &["GET /v1/sessions/ses_1/card", "GET /v1/sessions/card?end_user=ada"]),
    ] {
        let ask = |number: i64| {
            let call = calls[usize::try_from(number).unwrap() % calls.len()];
            let (method, path) = call.split_once(' ').unwrap();
            let body = (method == "POST").then(|| json!({"code": "000000", "otp": "000000"}));
            service.live().call(method, path, body)
        };
        for number in 0..limit {
            let answer = ask(number);
            assert_ne!(answer.status, 429, "{number} of {limit}: {answer:?}");
            assert_eq!(answer.number("ratelimit-limit"), limit);
            assert_eq!(answer.number("ratelimit-remaining"), limit - number - 1);
        }
        for number in limit..limit + calls.len() as i64 {
            let answer = ask(number);
            assert_eq!(answer.is(429)["error"], "rate_limited");
            assert_eq!(answer.body["limit"], limit);
            assert_eq!(answer.number("ratelimit-remaining"), 0);
        }
        service.advance("5m");
        assert_ne!(ask(0).status, 429);
    }
}

#[test]
fn limits_3_a_body_holds_at_most_1_mb() {
    let (service, order) = Service::with_order("ven_confirms");
    let sized = |bytes: usize| {
        let empty = with(order.clone(), &json!({"note": ""})).to_string().len();
        let body = with(order.clone(), &json!({"note": "x".repeat(bytes - empty)})).to_string();
        assert_eq!(body.len(), bytes);
        let body = Some(body.into_bytes());
        service.live().raw("POST", "/v1/bookings", body)
    };
    // 1 MB, whether it is counted in thousands or in 1,024s.
    sized(1_000_000).is(201);
    sized(1_048_577).refused_plainly(413);
    for path in ["/v1/venues/search", "/v1/sessions"] {
        let huge = Some(vec![b' '; 1_200_000]);
        service.live().raw("POST", path, huge).refused_plainly(413);
    }
}

#[test]
fn idempotency_1_same_key_returns_the_booking_and_books_nothing() {
    let (service, receiver) = subscribed();
    let order = service.order("ven_otp");
    let keyed = service.live().keyed("key-1");
    let first = keyed.post("/v1/bookings", order.clone());
    let again = keyed.post("/v1/bookings", order.clone());
    assert_eq!(first.is(201), again.is(200));
    assert_eq!(service.inbox().len(), 1, "no second text");
    // It is the booking as it is now.
    service.act(&first.body, "continue", json!({"otp": service.code()})).is(200);
    let later = keyed.post("/v1/bookings", order.clone());
    assert_eq!(later.is(200)["status"], "confirmed");
    assert_eq!(service.bookings().len(), 1);
    receiver.event("booking.confirmed", &first.body);
    assert_eq!(
        receiver.kinds(&first.body),
        ["booking.created", "booking.requires_action", "booking.confirmed"]
    );
    // Another key of the organization is answered alike; another idempotency key is not.
    let same = service.with(TEST).keyed("key-1");
    let same = same.post("/v1/bookings", order.clone());
    assert_eq!(same.is(200)["id"], first.body["id"]);
    let other = service.live().keyed("key-2");
    let other = other.post("/v1/bookings", order);
    assert_ne!(other.is(201)["id"], first.body["id"]);
}

#[test]
fn idempotency_1_a_key_is_known_to_its_own_organization_alone() {
    let (service, order) = Service::with_order("ven_confirms");
    let ours = service.live().keyed("shared");
    let ours = ours.post("/v1/bookings", order.clone());
    let theirs = service.with(OTHER).keyed("shared");
    let theirs = theirs.post("/v1/bookings", order);
    assert_ne!(ours.is(201)["id"], theirs.is(201)["id"]);
}

#[test]
fn idempotency_1_key_of_a_rejected_create_stays_free() {
    let (service, order) = Service::with_order("ven_confirms");
    let keyed = service.live().keyed("key-1");
    let wrong = with(order.clone(), &json!({"party_size": 0}));
    keyed.post("/v1/bookings", wrong).is(400);
    keyed.post("/v1/bookings", order).is(201);
}

#[test]
fn idempotency_2_key_never_expires_and_body_is_not_compared() {
    let (service, order) = Service::with_order("ven_confirms");
    let keyed = service.live().keyed("key-1");
    let first = keyed.post("/v1/bookings", order.clone());
    service.advance("400d");
    // The time that it asks for is long past by now.
    let again = keyed.post("/v1/bookings", order);
    assert_eq!(again.is(200)["id"], first.is(201)["id"]);
    let otherwise = json!({"venue_id": "ven_otp", "party_size": 9});
    for body in [otherwise, json!({})] {
        let again = keyed.post("/v1/bookings", body);
        assert_eq!(*again.is(200), first.body);
    }
    let garbage = keyed.raw("POST", "/v1/bookings", Some(b"{".to_vec()));
    assert_eq!(*garbage.is(200), first.body);
}

#[test]
fn idempotency_3_same_key_resolves_create_without_response() {
    let (service, order) = Service::with_order("ven_confirms");
    let raw = Some(order.to_string().into_bytes());
    for kind in ["drop_after", "truncate", "garbage"] {
        service.fault(json!({"kind": kind}));
        let keyed = service.live().keyed(kind);
        let first = keyed.attempt("POST", "/v1/bookings", raw.clone());
        assert!(first.is_none_or(|it| it.body.is_null()), "{kind}");
        let settled = keyed.post("/v1/bookings", order.clone());
        assert_eq!(settled.is(200)["status"], "confirmed", "{kind}");
    }
    // A 5xx, or a connection lost before anything was done, left nothing: now it is created.
    for fault in [json!({"kind": "status", "status": 503}), json!({"kind": "drop_before"})] {
        let kind = fault["kind"].as_str().unwrap();
        service.fault(fault.clone());
        let keyed = service.live().keyed(kind);
        let first = keyed.attempt("POST", "/v1/bookings", raw.clone());
        assert!(first.is_none_or(|it| it.status == 503), "{kind}");
        keyed.post("/v1/bookings", order.clone()).is(201);
    }
    assert_eq!(service.bookings().len(), 5);
}
