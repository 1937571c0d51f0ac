//! "Errors": the shapes of bodies, and the codes by condition.

use std::io::{Read, Write};
use std::net::TcpStream;

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::service::{
    BETA, LIVE, OTHER, READ_ONLY, SUSPENDED, Service, TEST, WITHOUT_BILLING, day, list, names,
    path_of, with,
};

/// A refusal of every status that the service has for what is asked of it.
fn refusals(service: &Service) -> Vec<crate::answer::Answer> {
    let confirmed = service.book("ven_modify_refused");
    let failed = service.book("ven_provider_fails");
    let change = || json!({"party_size": 3});
    vec![
        service.with("").get("/v1/"),
        service.with(BETA).get("/v1/"),
        service.with(SUSPENDED).get("/v1/"),
        service.with(READ_ONLY).post("/v1/bookings", json!({})),
        service.with(WITHOUT_BILLING).get("/v1/bookings/bk_1"),
        service.post("/v1/venues/search", json!({})),
        service.post("/v1/bookings", json!({})),
        service.post("/v1/bookings", json!([])),
        service.get("/v1/bookings/bk_1"),
        service.get("/v1/nowhere"),
        service.post("/v1/", json!({})),
        service.act(&failed, "modify", change()),
        service.act(&confirmed, "modify", change()),
        service.post("/v1/venues/search", service.search("dining", "Outage")),
    ]
}

#[test]
fn errors_1_an_error_is_no_2xx_and_has_a_json_body() {
    let service = Service::start(&[]);
    for answer in refusals(&service) {
        assert!((400..600).contains(&answer.status), "{answer:?}");
        assert!(answer.body.is_object(), "{answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

#[test]
fn errors_3_a_code_is_a_stable_name_apart_from_the_wording() {
    let service = Service::start(&[]);
    let mut codes = Vec::new();
    for answer in refusals(&service) {
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

#[test]
fn body_2_unreadable_body_names_field_and_detail() {
    let service = Service::start(&[]);
    let live = service.live();
    for path in "/v1/venues/search /v1/availability/search /v1/bookings /v1/sessions".split(' ') {
        for raw in
            ["", " ", "{", "nonsense", "[1]", "{\"venue_id\": \"ven_confirms\"", "\u{feff}{}"]
        {
            let answer = live.raw("POST", path, Some(raw.into()));
            let body = answer.refused_plainly(400);
            assert_eq!(body["error"], "invalid request body", "{path} {raw}");
            assert_eq!(names(body), ["detail", "error", "field"]);
        }
    }
    let order = service.order("ven_confirms");
    for (field, value) in [
        ("venue_id", json!(7)),
        ("provider", json!(true)),
        ("datetime", json!(1_800_000_000)),
        ("availability_id", json!({})),
        ("party_size", json!("2")),
        ("customer", json!(["Ada Lovelace", "a", "b"])),
        ("end_user", json!(1)),
        ("webhook_url", json!(1)),
        ("payment_collection", json!(false)),
    ] {
        let body = with(order.clone(), &json!({field: value}));
        let answer = service.with(OTHER).post("/v1/bookings", body);
        let body = answer.refused_plainly(400);
        assert_eq!(body["error"], "invalid request body", "{field}");
        assert_eq!(body["field"], field);
        // In JSON's words, not in those of the program.
        let detail = body["detail"].as_str().unwrap();
        assert!(!detail.contains("struct ") && !detail.contains("f64"), "{detail}");
        service.advance("1m");
    }
    assert!(service.bookings().is_empty());
}

#[test]
fn code_1_provider_a_needs_first_and_last_name() {
    let service = Service::start(&[]);
    for name in ["Ada", " Ada ", "Plato"] {
        let answer = service.create_with("ven_confirms", json!({"customer": {"name": name}}));
        answer.refused(400, "missing_last_name");
    }
    assert!(service.bookings().is_empty());
    for venue in ["ven_confirms_b", "ven_confirms_c"] {
        service.create_with(venue, json!({"customer": {"name": "Ada"}})).is(201);
    }
}

#[test]
fn code_2_a_slot_is_booked_at_the_time_it_was_offered_at() {
    let service = Service::start(&[]);
    let slots = service.slots("ven_confirms");
    let fields = json!({
        "availability_id": slots[0]["availability_id"], "datetime": slots[1]["datetime"],
    });
    let answer = service.create_with("ven_confirms", fields);
    answer.refused(400, "slot_not_offered");
    assert!(service.bookings().is_empty());
}

#[test]
fn code_3_a_failed_validation_names_each_field() {
    let service = Service::start(&[]);
    let past = (service.now() - SignedDuration::from_secs(1)).to_string();
    let fields = json!({"datetime": past, "party_size": 0, "customer": {"name": " "}});
    let answer = service.create_with("ven_confirms", fields);
    for field in ["datetime", "party_size", "customer.name"] {
        answer.invalid(field);
    }
    let complaint = answer.body["fields"]["datetime"].as_str().unwrap();
    assert!(complaint.contains("future"), "{complaint}");
    let answer = service.post("/v1/bookings", json!({}));
    for field in ["venue_id", "datetime", "party_size", "customer.name"] {
        answer.invalid(field);
    }
    assert!(service.bookings().is_empty());
}

#[test]
fn code_4_unknown_place_is_rejected() {
    let service = Service::start(&[]);
    let search = service.search("dining", "Atlantis");
    let answer = service.post("/v1/venues/search", search.clone());
    let body = answer.refused_plainly(400);
    assert_eq!(body.get("missing"), None);
    assert_ne!(body["error"], "validation failed");
    // Latitude and longitude help.
    let point = json!({"location": null, "latitude": 51.5074, "longitude": -0.1278});
    let answer = service.post("/v1/venues/search", with(search, &point));
    assert!(!list(answer.is(200), "venues").is_empty());
}

#[test]
fn code_6_a_suspended_organization_stays_refused() {
    let service = Service::start(&[]);
    for _ in 0..3 {
        let answer = service.with(SUSPENDED).get("/v1/");
        answer.refused(403, "org_suspended");
        service.advance("1h");
    }
}

#[test]
fn code_7_unknown_booking_404_lists_unfinished_ones_of_a_day() {
    let service = Service::start(&[]);
    service.create_with("ven_otp", json!({})).is(201);
    service.advance("25h");
    // Of an unfinished booking of more than a day ago, one finished, and one of another
    // organization.
    service.book("ven_confirms");
    service.book("ven_provider_fails");
    let order = service.order("ven_otp");
    service.with(OTHER).post("/v1/bookings", order).is(201);
    let paused = service.book("ven_otp");
    let processing = service.book("ven_processing");

    let answer = service.get("/v1/bookings/bk_unknown");
    let open = list(answer.refused_plainly(404), "open_bookings");
    let mut ids: Vec<Value> = open.iter().map(|it| it["id"].clone()).collect();
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [paused["id"].clone(), processing["id"].clone()]);
    // The calls about a booking answer alike.
    for what in ["continue", "modify", "cancel"] {
        let path = format!("/v1/bookings/bk_unknown/{what}");
        let answer = service.post(&path, json!({"party_size": 3}));
        assert_eq!(list(answer.refused_plainly(404), "open_bookings").len(), 2);
    }
}

#[test]
fn code_10_body_without_stated_length_is_measured() {
    let service = Service::start(&[]);
    let authority = service.base.trim_start_matches("http://");
    let mut line = TcpStream::connect(authority).unwrap();
    let head = format!(
        "POST /v1/bookings HTTP/1.1\r\nHost: {authority}\r\n\
         Authorization: Bearer {LIVE}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    line.write_all(head.as_bytes()).unwrap();
    let chunk = format!("{:x}\r\n{}\r\n", 100_000, " ".repeat(100_000));
    for _ in 0..12 {
        // The server may have said no, and hung up, before all of it was sent.
        if line.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    let _ = line.write_all(b"0\r\n\r\n");
    let mut answer = [0; 12];
    line.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[test]
fn code_14_failed_read_of_availability_names_the_provider() {
    let service = Service::start(&[]);
    let body = day("ven_availability_fails", &service.evening(1));
    let answer = service.post("/v1/availability/search", body);
    let body = answer.refused(502, "availability_failed");
    assert_eq!(body["provider"], "provider_a");
}

#[test]
fn code_15_search_without_a_provider_is_rejected() {
    let service = Service::start(&[]);
    service.settings(json!({"search_providers": []}));
    let search = service.search("dining", "London");
    let answer = service.post("/v1/venues/search", search.clone());
    answer.refused(503, "no_search_provider");
    let naming = |provider: &str| with(search.clone(), &json!({"providers": [provider]}));
    let answer = service.post("/v1/venues/search", naming("provider_a"));
    answer.refused(400, "no_search_provider");
    service.settings(json!({"search_providers": ["provider_b"]}));
    for (provider, able) in [("provider_b", true), ("provider_a", false), ("provider_z", false)] {
        let answer = service.post("/v1/venues/search", naming(provider));
        if able {
            answer.is(200);
        } else {
            answer.refused(400, "no_search_provider");
        }
    }
}

#[test]
fn code_16_unchecked_billing_rejects_the_request() {
    let (service, booking) = Service::with_booking("ven_confirms");
    service.settings(json!({"billing_check": "unavailable"}));
    let answer = service.create("ven_confirms");
    answer.refused(503, "billing_check_unavailable");
    let answer = service.get(&path_of(&booking, ""));
    answer.refused(503, "billing_check_unavailable");
    let settings = json!({"billing_check": "ok", "entitlement_check": "unavailable"});
    service.settings(settings);
    let order = service.order("ven_confirms");
    for key in [LIVE, TEST] {
        let answer = service.with(key).post("/v1/bookings", order.clone());
        if answer.status == 503 {
            answer.refused(503, "entitlement_check_unavailable");
        } else {
            // An entitlement is what one kind of key at least is checked for.
            answer.is(201);
            assert_eq!(key, LIVE);
        }
    }
    service.settings(json!({"entitlement_check": "ok"}));
    service.book("ven_confirms");
}
