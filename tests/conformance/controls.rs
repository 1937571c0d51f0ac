//! The sandbox's own surface: `/sandbox/…`, its keys and its guards.

use serde_json::{Value, json};

use crate::receiver::Receiver;
use crate::service::{
    BETA, LIVE, OTHER, READ_ONLY, SUSPENDED, Service, TEST, WITHOUT_BILLING, instant, list, names,
};

#[tokio::test]
async fn keys_1_every_key_of_a_fresh_sandbox_does_what_it_is_there_for() {
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
        let order = service.order("ven_confirms").await;
        let answer = service.with(key).post("/v1/bookings", order).await;
        answer.is(status);
    }
}

#[tokio::test]
async fn keys_2_another_organization_sees_neither_bookings_nor_sessions() {
    let service = Service::start(&[]);
    let booking = service.book("ven_otp").await;
    service.sign_in("ada", "+441632960001").await;
    let other = service.with(OTHER);
    let path = format!("/v1/bookings/{}", booking["id"].as_str().unwrap());
    let answer = other.get(&path).await;
    let open = list(answer.refused_plainly(404), "open_bookings");
    assert!(open.is_empty());
    for what in ["continue", "modify", "cancel"] {
        let path = format!("{path}/{what}");
        let answer = other.post(&path, json!({"party_size": 3})).await;
        answer.refused_plainly(404);
    }
    let sessions = other.get("/v1/sessions").await;
    assert!(list(sessions.is(200), "sessions").is_empty());
    let card = other.get("/v1/sessions/card?end_user=ada").await;
    card.refused_plainly(404);
    assert_eq!(service.read(&booking).await, booking);
}

#[tokio::test]
async fn control_1_the_controls_need_no_key() {
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
        nobody.get(path).await.is(200);
    }
    let settings = Some(json!({"billing": true}));
    nobody
        .call("PUT", "/sandbox/organization", settings)
        .await
        .is(200);
    nobody
        .post("/sandbox/clock", json!({"advance": "1s"}))
        .await
        .is(200);
    nobody.delete("/sandbox/faults").await;
    nobody.post("/sandbox/reset", json!({})).await.is(200);
}

#[tokio::test]
async fn control_2_a_foreign_host_is_refused() {
    let service = Service::start(&[]);
    for path in ["/v1/", "/sandbox/clock", "/openapi.json"] {
        for host in [
            "evil.example",
            "evil.example:80",
            "127.0.0.1:1",
            "localhost",
        ] {
            let answer = service.live().header("host", host).get(path).await;
            assert!((400..500).contains(&answer.status), "{host}: {answer:?}");
        }
        let port = service.base.rsplit_once(':').unwrap().1;
        for name in ["localhost", "127.0.0.1"] {
            let host = format!("{name}:{port}");
            service.live().header("host", &host).get(path).await.is(200);
        }
    }
}

#[tokio::test]
async fn control_3_a_write_of_another_origin_is_refused() {
    let service = Service::start(&[]);
    service.book("ven_confirms").await;
    for origin in ["https://evil.example", "null", "http://localhost:1"] {
        let page = service.with("").header("origin", origin);
        let reset = page.post("/sandbox/reset", json!({})).await;
        assert!((400..500).contains(&reset.status), "{origin}: {reset:?}");
        let advance = page.post("/sandbox/clock", json!({"advance": "1d"})).await;
        assert!((400..500).contains(&advance.status));
    }
    let all = service.get("/sandbox/bookings").await;
    assert_eq!(list(all.is(200), "bookings").len(), 1);
    let own = service.with("").header("origin", &service.base);
    own.post("/sandbox/reset", json!({})).await.is(200);
}

#[tokio::test]
async fn control_4_reset_makes_it_fresh() {
    let service = Service::start(&[]);
    let booking = service.book("ven_otp").await;
    service.sign_in("ada", "+441632960001").await;
    service.settings(json!({"billing": false})).await;
    service.advance("3d").await;
    let fault = json!({"on": "GET /v1/", "kind": "garbage", "times": 9});
    service.post("/sandbox/faults", fault).await.is(201);
    let reset = service.post("/sandbox/reset", json!({})).await;
    reset.is(200);
    for (path, field) in [
        ("/sandbox/bookings", "bookings"),
        ("/sandbox/inbox", "messages"),
        ("/sandbox/deliveries", "deliveries"),
        ("/sandbox/faults", "faults"),
        ("/v1/sessions", "sessions"),
    ] {
        let answer = service.get(path).await;
        assert!(list(answer.is(200), field).is_empty(), "{path}");
    }
    let clock = service.get("/sandbox/clock").await;
    assert_eq!(clock.is(200)["offset_seconds"], 0);
    let path = format!("/v1/bookings/{}", booking["id"].as_str().unwrap());
    service.get(&path).await.is(404);
    let answer = service.create("ven_confirms").await;
    answer.is(201);
    assert_eq!(answer.number("ratelimit-remaining"), 9);
}

#[tokio::test]
async fn control_5_the_clock_moves_ahead_and_says_how_far() {
    let service = Service::start(&[]);
    let before = service.get("/sandbox/clock").await;
    assert_eq!(names(before.is(200)), ["now", "offset_seconds"]);
    assert_eq!(before.body["offset_seconds"], 0);
    let after = service
        .post("/sandbox/clock", json!({"advance": "21m"}))
        .await;
    assert_eq!(after.is(200)["offset_seconds"], 21 * 60);
    let moved = instant(&after.body["now"]).duration_since(instant(&before.body["now"]));
    assert!((21 * 60..21 * 60 + 10).contains(&moved.as_secs()));
    for wrong in [
        json!("-5m"),
        json!("soon"),
        json!("0s"),
        json!(5),
        Value::Null,
    ] {
        let body = json!({"advance": wrong});
        let answer = service.post("/sandbox/clock", body).await;
        answer.refused_plainly(400);
    }
    let now = service.get("/sandbox/clock").await;
    assert_eq!(now.body["offset_seconds"], 21 * 60);
}

const ORGANIZATION: [&str; 9] = [
    "billing",
    "billing_check",
    "entitlement_check",
    "id",
    "search_providers",
    "suspended",
    "vendor_payments",
    "webhook_secret",
    "webhook_url",
];

#[tokio::test]
async fn control_6_the_organization_is_shown_and_merged() {
    let service = Service::start(&[]);
    let path = "/sandbox/organization";
    let fresh = service.get(path).await;
    let shown: Vec<&str> = names(fresh.is(200));
    for name in ORGANIZATION {
        assert!(shown.contains(&name), "no {name} in {}", fresh.body);
    }
    let merged = service
        .live()
        .call("PUT", path, Some(json!({"billing": false})))
        .await;
    let mut expected = fresh.body.clone();
    expected["billing"] = json!(false);
    assert_eq!(*merged.is(200), expected);
    assert_eq!(service.get(path).await.body, expected);
    for wrong in [
        json!({"webhook_url": "no address"}),
        json!({"billing": "yes"}),
        json!({"billing_check": "maybe"}),
        json!({"search_providers": ["provider_z"]}),
    ] {
        let answer = service.live().call("PUT", path, Some(wrong)).await;
        answer.refused_plainly(400);
    }
    assert_eq!(service.get(path).await.body, expected);
}

#[tokio::test]
async fn control_7_another_organization_is_named_in_the_query() {
    let service = Service::start(&[]);
    let path = "/sandbox/organization?organization=other";
    let other = service.get(path).await;
    assert!(other.is(200)["id"].as_str().unwrap().contains("other"));
    let settings = Some(json!({"billing": false}));
    service.live().call("PUT", path, settings).await.is(200);
    let answer = service.with(OTHER).get("/v1/sessions").await;
    answer.is(402);
    service.get("/v1/sessions").await.is(200);
    let unknown = "/sandbox/organization?organization=nobody";
    service.get(unknown).await.refused_plainly(404);
}

#[tokio::test]
async fn control_8_the_bookings_of_every_organization_are_listed_oldest_first() {
    let service = Service::start(&[]);
    let ours = service.book("ven_confirms").await;
    let order = service.order("ven_otp").await;
    let theirs = service.with(OTHER).post("/v1/bookings", order).await;
    let last = service.book("ven_confirms").await;
    let all = service.get("/sandbox/bookings").await;
    let mut expected = [ours, theirs.is(201).clone(), last];
    // Each says beside the service's document whose it is.
    let owners = ["org_sandbox", "org_other", "org_sandbox"];
    for (booking, owner) in expected.iter_mut().zip(owners) {
        booking["organization"] = json!(owner);
    }
    assert_eq!(list(all.is(200), "bookings"), expected);
}

#[tokio::test]
async fn control_9_the_inbox_holds_the_texts_newest_first() {
    let service = Service::start(&[]);
    let booking = service.book("ven_otp").await;
    let session = service.connect("ada", "+441632960007").await;
    let inbox = service.inbox().await;
    assert_eq!(inbox.len(), 2);
    assert_eq!(inbox[0]["session_id"], session["id"]);
    assert_eq!(inbox[1]["booking_id"], booking["id"]);
    let fields = ["code", "created_at", "id", "session_id", "text", "to"];
    assert_eq!(names(&inbox[0]), fields);
    let fields = ["booking_id", "code", "created_at", "id", "text", "to"];
    assert_eq!(names(&inbox[1]), fields);
    for message in inbox {
        assert_ne!(message["code"], "000000", "it is always wrong");
    }
}

#[tokio::test]
async fn control_11_a_delivery_is_sent_again_on_demand() {
    let receiver = Receiver::start().await;
    let service = Service::start(&[]);
    service.settings(json!({"webhook_url": receiver.url})).await;
    let booking = service.book("ven_confirms").await;
    let event = receiver.event("booking.confirmed", &booking).await.event["id"].clone();
    let id = event.as_str().unwrap();
    while service
        .deliveries()
        .await
        .iter()
        .any(|it| it["state"] != "delivered")
    {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let path = format!("/sandbox/deliveries/{id}/resend");
    let answer = service.post(&path, json!({})).await;
    assert_eq!(answer.is(200)["event_id"], event);
    let copies = receiver.wait(2, |it| it.event["id"] == event).await;
    assert_eq!(copies[0].raw, copies[1].raw);
    assert_eq!(copies[1].headers["booking-delivery-attempt"], "2");
    let unknown = "/sandbox/deliveries/evt_unknown/resend";
    service.post(unknown, json!({})).await.refused_plainly(404);
}

#[tokio::test]
async fn control_12_faults_are_asked_for_listed_used_up_and_taken_back() {
    let service = Service::start(&[]);
    let fault = json!({"on": "GET /v1/", "kind": "status", "times": 2, "status": 503,
        "body": {"error": "out of order"}});
    let added = service.post("/sandbox/faults", fault).await;
    let body = added.is(201);
    assert_eq!(names(body), ["body", "id", "kind", "on", "status", "times"]);
    for _ in 0..2 {
        let answer = service.get("/v1/").await;
        assert_eq!(answer.is(503)["error"], "out of order");
    }
    service.get("/v1/").await.is(200);
    let left = service.get("/sandbox/faults").await;
    assert!(list(left.is(200), "faults").is_empty());

    let fault = json!({"on": "GET /v1/", "kind": "garbage", "times": 9});
    service.post("/sandbox/faults", fault).await.is(201);
    let listed = service.get("/sandbox/faults").await;
    assert_eq!(list(listed.is(200), "faults").len(), 1);
    service.delete("/sandbox/faults").await;
    service.get("/v1/").await.is(200);
    for wrong in [
        json!({"on": "GET /nowhere", "kind": "garbage", "times": 1}),
        json!({"on": "GET /v1/", "kind": "explode", "times": 1}),
        json!({"kind": "garbage", "times": 1}),
    ] {
        let answer = service.post("/sandbox/faults", wrong).await;
        answer.refused_plainly(400);
    }
}

#[tokio::test]
async fn control_13_every_kind_of_fault_does_what_it_says() {
    let service = Service::start(&[]);
    let order = service.order("ven_confirms").await.to_string().into_bytes();
    let create = async || {
        let live = service.live();
        live.attempt("POST", "/v1/bookings", Some(order.clone()))
            .await
    };
    let count = async || {
        let all = service.get("/sandbox/bookings").await;
        list(all.is(200), "bookings").len()
    };
    let arm = async |kind: &str, more: Value| {
        let mut fault = json!({"on": "POST /v1/bookings", "kind": kind, "times": 1});
        for (name, value) in more.as_object().unwrap() {
            fault[name] = value.clone();
        }
        service.post("/sandbox/faults", fault).await.is(201);
    };

    arm("delay", json!({"delay_ms": 300})).await;
    let started = std::time::Instant::now();
    create().await.unwrap().is(201);
    assert!(started.elapsed().as_millis() >= 300);
    assert_eq!(count().await, 1);

    arm("status", json!({"status": 500})).await;
    assert_eq!(create().await.unwrap().status, 500);
    arm("drop_before", json!({})).await;
    assert!(create().await.is_err());
    assert_eq!(count().await, 1, "nothing was done");

    arm("drop_after", json!({})).await;
    assert!(create().await.is_err());
    assert_eq!(count().await, 2, "it was done");
    arm("truncate", json!({"after_bytes": 10})).await;
    assert!(create().await.is_err());
    arm("garbage", json!({})).await;
    assert_eq!(create().await.unwrap().body, Value::Null);
    assert_eq!(count().await, 4);
}

#[tokio::test]
async fn control_14_the_interface_describes_itself() {
    let service = Service::start(&[]);
    assert_eq!(
        service.ready["openapi_url"],
        format!("{}/openapi.json", service.base)
    );
    let answer = service.get("/openapi.json").await;
    let document = answer.is(200);
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    let index = service.get("/v1/").await;
    for endpoint in list(&index.body, "endpoints") {
        let path = endpoint["path"].as_str().unwrap();
        let method = endpoint["method"].as_str().unwrap().to_lowercase();
        assert!(
            document["paths"][path][&method].is_object(),
            "{method} {path}"
        );
    }
}
