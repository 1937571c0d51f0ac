//! The sandbox's own surface: `/sandbox/…`, its keys and its guards.

use std::time::Duration;

use serde_json::{Value, json};

use crate::receiver::{Receiver, Reply};
use crate::service::{
    BETA, LIVE, OTHER, READ_ONLY, SUSPENDED, Service, TEST, WITHOUT_BILLING, instant, list, names,
    path_of,
};

#[test]
fn keys_1_every_key_of_a_fresh_sandbox_has_its_effect() {
    let service = Service::start(&[]);
    for (key, status) in [
        (LIVE, 201),
        (TEST, 201),
        (READ_ONLY, 403),
        (WITHOUT_BILLING, 402),
        (BETA, 403),
        (SUSPENDED, 403),
        (OTHER, 201),
    ] {
        let order = service.order("ven_confirms");
        service.with(key).post("/v1/bookings", order).is(status);
    }
}

#[test]
fn keys_2_other_organization_sees_no_bookings_and_sessions() {
    let (service, booking) = Service::with_booking("ven_otp");
    service.sign_in("ada", "+441632960001");
    let other = service.with(OTHER);
    let answer = other.get(&path_of(&booking, ""));
    let open = list(answer.refused_plainly(404), "open_bookings");
    assert!(open.is_empty());
    for what in ["continue", "modify", "cancel"] {
        let answer = other.post(&path_of(&booking, what), json!({"party_size": 3}));
        answer.refused_plainly(404);
    }
    let sessions = other.get("/v1/sessions");
    assert!(list(sessions.is(200), "sessions").is_empty());
    let card = other.get("/v1/sessions/card?end_user=ada");
    card.refused_plainly(404);
    assert_eq!(service.read(&booking), booking);
}

#[test]
fn control_1_the_controls_need_no_key() {
    let service = Service::start(&[]);
    let nobody = service.with("");
    for path in [
        "/sandbox/clock",
        "/sandbox/organization",
        "/sandbox/bookings",
        "/sandbox/inbox",
        "/sandbox/deliveries",
        "/sandbox/faults",
        "/openapi.json",
    ] {
        nobody.get(path).is(200);
    }
    let settings = Some(json!({"billing": true}));
    let answer = nobody.call("PUT", "/sandbox/organization", settings);
    answer.is(200);
    let answer = nobody.post("/sandbox/clock", json!({"advance": "1s"}));
    answer.is(200);
    nobody.delete("/sandbox/faults");
    nobody.post("/sandbox/reset", json!({})).is(200);
}

#[test]
fn control_2_a_foreign_host_is_refused() {
    let service = Service::start(&[]);
    for path in ["/v1/", "/sandbox/clock", "/openapi.json"] {
        for host in "evil.example evil.example:80 127.0.0.1:1 localhost".split(' ') {
            let answer = service.live().header("host", host).get(path);
            assert!((400..500).contains(&answer.status), "{host}: {answer:?}");
        }
        let port = service.base.rsplit_once(':').unwrap().1;
        for name in ["localhost", "127.0.0.1"] {
            let host = format!("{name}:{port}");
            service.live().header("host", &host).get(path).is(200);
        }
    }
}

#[test]
fn control_3_a_write_of_another_origin_is_refused() {
    let service = Service::start(&[]);
    service.book("ven_confirms");
    for origin in ["https://evil.example", "null", "http://localhost:1"] {
        let page = service.with("").header("origin", origin);
        let reset = page.post("/sandbox/reset", json!({}));
        assert!((400..500).contains(&reset.status), "{origin}: {reset:?}");
        let advance = page.post("/sandbox/clock", json!({"advance": "1d"}));
        assert!((400..500).contains(&advance.status));
    }
    assert_eq!(service.bookings().len(), 1);
    service.with("").header("origin", &service.base).post("/sandbox/reset", json!({})).is(200);
}

#[test]
fn control_4_reset_makes_it_fresh() {
    let (service, booking) = Service::with_booking("ven_otp");
    service.sign_in("ada", "+441632960001");
    service.settings(json!({"billing": false}));
    service.advance("3d");
    let fault = json!({"on": "GET /v1/", "kind": "garbage", "times": 9});
    service.post("/sandbox/faults", fault).is(201);
    service.post("/sandbox/reset", json!({"x": 1})).is(400);
    service.post("/sandbox/reset", json!({})).is(200);
    for (path, field) in [
        ("/sandbox/bookings", "bookings"),
        ("/sandbox/inbox", "messages"),
        ("/sandbox/deliveries", "deliveries"),
        ("/sandbox/faults", "faults"),
        ("/v1/sessions", "sessions"),
    ] {
        let answer = service.get(path);
        assert!(list(answer.is(200), field).is_empty(), "{path}");
    }
    let clock = service.get("/sandbox/clock");
    assert_eq!(clock.is(200)["offset_seconds"], 0);
    service.get(&path_of(&booking, "")).is(404);
    let answer = service.create("ven_confirms");
    answer.is(201);
    assert_eq!(answer.number("ratelimit-remaining"), 9);
}

#[test]
fn control_5_the_clock_moves_ahead_and_says_how_far() {
    let service = Service::start(&[]);
    let before = service.get("/sandbox/clock");
    assert_eq!(names(before.is(200)), ["now", "offset_seconds", "organizations"]);
    assert_eq!(before.body["offset_seconds"], 0);
    let after = service.post("/sandbox/clock", json!({"advance": "21m"}));
    assert_eq!(after.is(200)["offset_seconds"], 21 * 60);
    let moved = instant(&after.body["now"]).duration_since(instant(&before.body["now"]));
    assert!((21 * 60..21 * 60 + 10).contains(&moved.as_secs()));
    for wrong in [json!("-5m"), json!("soon"), json!("0s"), json!(5), Value::Null] {
        let body = json!({"advance": wrong});
        service.post("/sandbox/clock", body).refused_plainly(400);
    }
    let now = service.get("/sandbox/clock");
    assert_eq!(now.body["offset_seconds"], 21 * 60);
}

const ORGANIZATION: &str = "billing billing_check entitlement_check id search_providers suspended vendor_payments \
    webhook_secret webhook_url";

#[test]
fn control_6_the_organization_is_shown_and_merged() {
    let service = Service::start(&[]);
    let path = "/sandbox/organization";
    let fresh = service.get(path);
    let shown: Vec<&str> = names(fresh.is(200));
    for name in ORGANIZATION.split(' ') {
        assert!(shown.contains(&name), "no {name} in {}", fresh.body);
    }
    let merged = service.live().call("PUT", path, Some(json!({"billing": false})));
    let mut expected = fresh.body.clone();
    expected["billing"] = json!(false);
    assert_eq!(*merged.is(200), expected);
    assert_eq!(service.get(path).body, expected);
    for wrong in [
        json!({"webhook_url": "no address"}),
        json!({"billing": "yes"}),
        json!({"billing_check": "maybe"}),
        json!({"search_providers": ["provider_z"]}),
    ] {
        let answer = service.live().call("PUT", path, Some(wrong));
        answer.refused_plainly(400);
    }
    assert_eq!(service.get(path).body, expected);
}

#[test]
fn control_7_another_organization_is_named_in_the_query() {
    let service = Service::start(&[]);
    let path = "/sandbox/organization?organization=other";
    let other = service.get(path);
    assert!(other.is(200)["id"].as_str().unwrap().contains("other"));
    let settings = Some(json!({"billing": false}));
    service.live().call("PUT", path, settings).is(200);
    service.with(OTHER).get("/v1/sessions").is(402);
    service.get("/v1/sessions").is(200);
    let unknown = "/sandbox/organization?organization=nobody";
    service.get(unknown).refused_plainly(404);
}

#[test]
fn control_8_bookings_of_all_organizations_are_listed_by_age() {
    let service = Service::start(&[]);
    let ours = service.book("ven_confirms");
    let order = service.order("ven_otp");
    let theirs = service.with(OTHER).post("/v1/bookings", order);
    let last = service.book("ven_confirms");
    let mut expected = [ours, theirs.is(201).clone(), last];
    // Each says beside the service's document whose it is.
    let owners = ["org_sandbox", "org_other", "org_sandbox"];
    for (booking, owner) in expected.iter_mut().zip(owners) {
        booking["organization"] = json!(owner);
    }
    assert_eq!(service.bookings(), expected);
}

#[test]
fn control_9_the_inbox_holds_the_texts_newest_first() {
    let (service, booking) = Service::with_booking("ven_otp");
    let session = service.connect("ada", "+441632960007");
    let inbox = service.inbox();
    assert_eq!(inbox.len(), 2);
    assert_eq!(inbox[0]["session_id"], session["id"]);
    assert_eq!(inbox[1]["booking_id"], booking["id"]);
    let fields = ["code", "created_at", "id", "organization", "session_id", "text", "to"];
    assert_eq!(names(&inbox[0]), fields);
    let fields = ["booking_id", "code", "created_at", "id", "organization", "text", "to"];
    assert_eq!(names(&inbox[1]), fields);
    for message in inbox {
        assert_ne!(message["code"], "000000", "it is always wrong");
    }
}

#[test]
fn control_11_a_delivery_is_sent_again_on_demand() {
    let receiver = Receiver::saying(|_, _| Reply(200, Duration::from_millis(300)));
    let service = Service::start(&[]);
    service.settings(json!({"webhook_url": receiver.url}));
    let booking = service.book("ven_confirms");
    let event = receiver.event("booking.confirmed", &booking).event["id"].clone();
    // While an attempt is under way, too: the two have the same number if it is recorded later.
    let resend = |event: &Value| format!("/sandbox/deliveries/{}/resend", event.as_str().unwrap());
    let answer = service.post(&resend(&event), json!({}));
    assert_eq!(answer.is(200)["state"], "pending");
    receiver.wait(2, |it| it.event["id"] == event);
    while service.deliveries().iter().any(|it| it["state"] != "delivered") {
        std::thread::sleep(Duration::from_millis(20));
    }
    let answer = service.post(&resend(&event), json!({}));
    assert_eq!(answer.is(200)["event_id"], event);
    let copies = receiver.wait(3, |it| it.event["id"] == event);
    assert_eq!(copies[0].raw, copies[2].raw);
    assert_eq!(copies[2].headers["booking-delivery-attempt"], "3");
    let unknown = "/sandbox/deliveries/evt_unknown/resend";
    service.post(unknown, json!({})).refused_plainly(404);
}

#[test]
fn control_12_faults_are_added_listed_used_up_and_removed() {
    let service = Service::start(&[]);
    let fault = json!({"on": "GET /v1/", "kind": "status", "times": 2, "status": 503,
        "body": {"error": "out of order"}});
    let added = service.post("/sandbox/faults", fault);
    let body = added.is(201);
    assert_eq!(names(body), ["body", "id", "kind", "on", "status", "times"]);
    for _ in 0..2 {
        let answer = service.get("/v1/");
        assert_eq!(answer.is(503)["error"], "out of order");
    }
    service.get("/v1/").is(200);
    let left = service.get("/sandbox/faults");
    assert!(list(left.is(200), "faults").is_empty());

    let fault = json!({"on": "GET /v1/", "kind": "garbage", "times": 9});
    service.post("/sandbox/faults", fault).is(201);
    let listed = service.get("/sandbox/faults");
    assert_eq!(list(listed.is(200), "faults").len(), 1);
    service.delete("/sandbox/faults");
    service.get("/v1/").is(200);
    for wrong in [
        json!({"on": "GET /nowhere", "kind": "garbage", "times": 1}),
        json!({"on": "GET /v1/", "kind": "explode", "times": 1}),
        json!({"kind": "garbage", "times": 1}),
    ] {
        service.post("/sandbox/faults", wrong).refused_plainly(400);
    }
}

#[test]
fn control_13_every_kind_of_fault_does_what_it_says() {
    let service = Service::start(&[]);
    let order = service.order("ven_confirms").to_string().into_bytes();
    let create = || {
        let live = service.live();
        live.attempt("POST", "/v1/bookings", Some(order.clone()))
    };
    let count = || service.bookings().len();

    service.fault(json!({"kind": "delay", "delay_ms": 300}));
    let started = std::time::Instant::now();
    create().unwrap().is(201);
    assert!(started.elapsed().as_millis() >= 300);
    assert_eq!(count(), 1);

    service.fault(json!({"kind": "status", "status": 500}));
    assert_eq!(create().unwrap().status, 500);
    service.fault(json!({"kind": "drop_before"}));
    assert!(create().is_none());
    assert_eq!(count(), 1, "nothing was done");

    service.fault(json!({"kind": "drop_after"}));
    assert!(create().is_none());
    assert_eq!(count(), 2, "it was done");
    service.fault(json!({"kind": "truncate", "after_bytes": 10}));
    assert!(create().is_none());
    service.fault(json!({"kind": "garbage"}));
    assert_eq!(create().unwrap().body, Value::Null);
    assert_eq!(count(), 4);
}

#[test]
fn control_14_the_interface_describes_itself() {
    let service = Service::start(&[]);
    assert_eq!(service.ready["openapi_url"], format!("{}/openapi.json", service.base));
    let answer = service.get("/openapi.json");
    let document = answer.is(200);
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    let index = service.get("/v1/");
    for endpoint in list(&index.body, "endpoints") {
        let path = endpoint["path"].as_str().unwrap();
        let method = endpoint["method"].as_str().unwrap().to_lowercase();
        assert!(document["paths"][path][&method].is_object(), "{method} {path}");
    }
}
