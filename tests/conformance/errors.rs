//! "Errors": the shapes of bodies, and the codes by condition.

use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::service::{
    BETA, LIVE, OTHER, READ_ONLY, SUSPENDED, Service, TEST, WITHOUT_BILLING, list, names, path_of,
    with,
};

/// A refusal of every status that the service has for what is asked of it.
async fn refusals(service: &Service) -> Vec<crate::service::Answer> {
    let confirmed = service.book("ven_modify_refused").await;
    let failed = service.book("ven_provider_fails").await;
    let change = || json!({"party_size": 3});
    vec![
        service.with("").get("/v1/").await,
        service.with(BETA).get("/v1/").await,
        service.with(SUSPENDED).get("/v1/").await,
        service
            .with(READ_ONLY)
            .post("/v1/bookings", json!({}))
            .await,
        service.with(WITHOUT_BILLING).get("/v1/bookings/bk_1").await,
        service.post("/v1/venues/search", json!({})).await,
        service.post("/v1/bookings", json!({})).await,
        service.post("/v1/bookings", json!([])).await,
        service.get("/v1/bookings/bk_1").await,
        service.get("/v1/nowhere").await,
        service.post("/v1/", json!({})).await,
        service.act(&failed, "modify", change()).await,
        service.act(&confirmed, "modify", change()).await,
        service
            .post(
                "/v1/venues/search",
                json!({
                    "vertical": "dining", "location": "Outage",
                    "datetime": service.evening(1).await,
                }),
            )
            .await,
    ]
}

#[tokio::test]
async fn errors_1_an_error_is_no_2xx_and_has_a_json_body() {
    let service = Service::start(&[]);
    for answer in refusals(&service).await {
        assert!((400..600).contains(&answer.status), "{answer:?}");
        assert!(answer.body.is_object(), "{answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn errors_3_a_code_is_a_stable_name_apart_from_the_wording() {
    let service = Service::start(&[]);
    let mut codes = Vec::new();
    for answer in refusals(&service).await {
        if let Some(code) = answer.body.get("error_code") {
            let code = code.as_str().unwrap().to_owned();
            assert!(code.bytes().all(|it| it.is_ascii_lowercase() || it == b'_'));
            assert_ne!(answer.body["error"], code);
            codes.push(code);
        }
    }
    assert!(codes.contains(&"wrong_key_environment".to_owned()));
    assert!(codes.contains(&"search_failed".to_owned()));
}

#[tokio::test]
async fn body_2_a_body_that_is_no_json_or_has_a_wrong_type_names_field_and_detail() {
    let service = Service::start(&[]);
    let live = service.live();
    for path in [
        "/v1/venues/search",
        "/v1/availability/search",
        "/v1/bookings",
        "/v1/sessions",
    ] {
        for raw in [
            "{",
            "nonsense",
            "[1]",
            "{\"venue_id\": \"ven_confirms\"",
            "\u{feff}{}",
        ] {
            let answer = live.raw("POST", path, Some(raw.into())).await;
            let body = answer.refused_plainly(400);
            assert_eq!(body["error"], "invalid request body", "{path} {raw}");
            assert_eq!(names(body), ["detail", "error", "field"]);
        }
    }
    let order = service.order("ven_confirms").await;
    for (field, value) in [
        ("venue_id", json!(7)),
        ("provider", json!(true)),
        ("datetime", json!(1_800_000_000)),
        ("availability_id", json!({})),
        ("party_size", json!("2")),
        ("customer", json!([])),
        ("end_user", json!(1)),
        ("webhook_url", json!(1)),
        ("payment_collection", json!(false)),
    ] {
        let body = with(order.clone(), &json!({field: value}));
        let answer = service.with(OTHER).post("/v1/bookings", body).await;
        let body = answer.refused_plainly(400);
        assert_eq!(body["error"], "invalid request body", "{field}");
        assert_eq!(body["field"], field);
        assert!(body["detail"].is_string());
        service.advance("1m").await;
    }
    let all = service.get("/sandbox/bookings").await;
    assert!(list(all.is(200), "bookings").is_empty());
}

/// The number of all bookings there are.
async fn bookings(service: &Service) -> usize {
    let all = service.get("/sandbox/bookings").await;
    list(all.is(200), "bookings").len()
}

#[tokio::test]
async fn code_1_provider_a_needs_first_and_last_name() {
    let service = Service::start(&[]);
    for name in ["Ada", " Ada ", "Plato"] {
        let fields = json!({"customer": {"name": name}});
        let answer = service.create_with("ven_confirms", fields).await;
        answer.refused(400, "missing_last_name");
    }
    assert_eq!(bookings(&service).await, 0);
    for venue in ["ven_confirms_b", "ven_confirms_c"] {
        let fields = json!({"customer": {"name": "Ada"}});
        service.create_with(venue, fields).await.is(201);
    }
}

#[tokio::test]
async fn code_2_a_slot_is_booked_at_the_time_it_was_offered_at() {
    let service = Service::start(&[]);
    let slots = service.slots("ven_confirms").await;
    let fields = json!({
        "availability_id": slots[0]["availability_id"], "datetime": slots[1]["datetime"],
    });
    let answer = service.create_with("ven_confirms", fields).await;
    answer.refused(400, "slot_not_offered");
    assert_eq!(bookings(&service).await, 0);
}

#[tokio::test]
async fn code_3_a_failed_validation_names_each_field() {
    let service = Service::start(&[]);
    let past = (service.now().await - SignedDuration::from_secs(1)).to_string();
    let fields = json!({"datetime": past, "party_size": 0, "customer": {"name": " "}});
    let answer = service.create_with("ven_confirms", fields).await;
    for field in ["datetime", "party_size", "customer.name"] {
        answer.invalid(field);
    }
    let complaint = answer.body["fields"]["datetime"].as_str().unwrap();
    assert!(complaint.contains("future"), "{complaint}");
    let answer = service.post("/v1/bookings", json!({})).await;
    for field in ["venue_id", "datetime", "party_size", "customer.name"] {
        answer.invalid(field);
    }
    assert_eq!(bookings(&service).await, 0);
}

#[tokio::test]
async fn code_4_a_place_that_nobody_knows() {
    let service = Service::start(&[]);
    let search = json!({
        "vertical": "dining", "location": "Atlantis", "datetime": service.evening(1).await,
    });
    let answer = service.post("/v1/venues/search", search.clone()).await;
    let body = answer.refused_plainly(400);
    assert_eq!(body.get("missing"), None);
    assert_ne!(body["error"], "validation failed");
    // Latitude and longitude help.
    let point = json!({"location": null, "latitude": 51.5074, "longitude": -0.1278});
    let answer = service
        .post("/v1/venues/search", with(search, &point))
        .await;
    assert!(!list(answer.is(200), "venues").is_empty());
}

#[tokio::test]
async fn code_6_a_suspended_organization_stays_refused() {
    let service = Service::start(&[]);
    for _ in 0..3 {
        let answer = service.with(SUSPENDED).get("/v1/").await;
        answer.refused(403, "org_suspended");
        service.advance("1h").await;
    }
}

#[tokio::test]
async fn code_7_an_unknown_booking_is_answered_with_the_unfinished_ones_of_the_last_day() {
    let service = Service::start(&[]);
    service.create_with("ven_otp", json!({})).await.is(201);
    service.advance("25h").await;
    // Of an unfinished booking of more than a day ago, one finished, and one of another organization.
    service.book("ven_confirms").await;
    service.book("ven_provider_fails").await;
    let order = service.order("ven_otp").await;
    service
        .with(OTHER)
        .post("/v1/bookings", order)
        .await
        .is(201);
    let paused = service.book("ven_otp").await;
    let processing = service.book("ven_processing").await;

    let answer = service.get("/v1/bookings/bk_unknown").await;
    let open = list(answer.refused_plainly(404), "open_bookings");
    let mut ids: Vec<Value> = open.iter().map(|it| it["id"].clone()).collect();
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [paused["id"].clone(), processing["id"].clone()]);
    // The calls about a booking answer alike.
    for what in ["continue", "modify", "cancel"] {
        let path = format!("/v1/bookings/bk_unknown/{what}");
        let body = json!({"party_size": 3});
        let answer = service.post(&path, body).await;
        assert_eq!(list(answer.refused_plainly(404), "open_bookings").len(), 2);
    }
}

#[tokio::test]
async fn code_10_a_body_of_more_than_1_mb() {
    let service = Service::start(&[]);
    let huge = Some(vec![b' '; 1_200_000]);
    for path in ["/v1/bookings", "/v1/venues/search", "/v1/sessions"] {
        let answer = service.live().raw("POST", path, huge.clone()).await;
        answer.refused_plainly(413);
    }
}

#[tokio::test]
async fn code_10_a_body_whose_length_is_not_said_is_measured_too() {
    let service = Service::start(&[]);
    let authority = service.base.trim_start_matches("http://");
    let mut line = TcpStream::connect(authority).await.unwrap();
    let head = format!(
        "POST /v1/bookings HTTP/1.1\r\nHost: {authority}\r\n\
         Authorization: Bearer {LIVE}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    line.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("{:x}\r\n{}\r\n", 100_000, " ".repeat(100_000));
    for _ in 0..12 {
        // The server may have said no, and hung up, before all of it was sent.
        if line.write_all(chunk.as_bytes()).await.is_err() {
            break;
        }
    }
    let _ = line.write_all(b"0\r\n\r\n").await;
    let mut answer = [0; 12];
    line.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[tokio::test]
async fn code_14_a_provider_that_failed_to_read_the_availability() {
    let service = Service::start(&[]);
    let body = json!({
        "venue_id": "ven_availability_fails",
        "datetime": service.evening(1).await,
        "party_size": 2,
    });
    let answer = service.post("/v1/availability/search", body).await;
    let body = answer.refused(502, "availability_failed");
    assert_eq!(body["provider"], "provider_a");
}

#[tokio::test]
async fn code_15_no_provider_that_can_search() {
    let service = Service::start(&[]);
    service.settings(json!({"search_providers": []})).await;
    let search = json!({
        "vertical": "dining", "location": "London", "datetime": service.evening(1).await,
    });
    let answer = service.post("/v1/venues/search", search.clone()).await;
    answer.refused(503, "no_search_provider");
    let naming = |provider: &str| with(search.clone(), &json!({"providers": [provider]}));
    let answer = service
        .post("/v1/venues/search", naming("provider_a"))
        .await;
    answer.refused(400, "no_search_provider");
    service
        .settings(json!({"search_providers": ["provider_b"]}))
        .await;
    for (provider, able) in [
        ("provider_b", true),
        ("provider_a", false),
        ("provider_z", false),
    ] {
        let answer = service.post("/v1/venues/search", naming(provider)).await;
        if able {
            answer.is(200);
        } else {
            answer.refused(400, "no_search_provider");
        }
    }
}

#[tokio::test]
async fn code_16_billing_that_could_not_be_checked() {
    let service = Service::start(&[]);
    let booking = service.book("ven_confirms").await;
    service
        .settings(json!({"billing_check": "unavailable"}))
        .await;
    let answer = service.create("ven_confirms").await;
    answer.refused(503, "billing_check_unavailable");
    let answer = service.get(&path_of(&booking, "")).await;
    answer.refused(503, "billing_check_unavailable");
    let settings = json!({"billing_check": "ok", "entitlement_check": "unavailable"});
    service.settings(settings).await;
    let order = service.order("ven_confirms").await;
    for key in [LIVE, TEST] {
        let answer = service.with(key).post("/v1/bookings", order.clone()).await;
        if answer.status == 503 {
            answer.refused(503, "entitlement_check_unavailable");
        } else {
            // An entitlement is what one kind of key at least is checked for.
            answer.is(201);
            assert_eq!(key, LIVE);
        }
    }
    service.settings(json!({"entitlement_check": "ok"})).await;
    service.book("ven_confirms").await;
}
