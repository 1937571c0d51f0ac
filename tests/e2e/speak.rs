//! `sandbox serve --speak`: the whole service in other names and shapes, looked at on the wire.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::harness::http::{Message, exchange};
use crate::harness::listening::until;
use crate::harness::{Home, Reply, Scripted, Served, text};

/// A sandbox that speaks otherwise, with the header that carries its key.
struct Speaking {
    served: Served,
    key: (&'static str, &'static str),
    _home: Home,
}

/// What the built-in services call the key's header, and how they want the key.
const KEYS: [(&str, (&str, &str)); 3] = [
    ("enveloped", ("X-Api-Key", "sk_live_sandbox")),
    ("camel", ("Authorization", "Token sk_live_sandbox")),
    ("plain", ("Api-Key", "Key sk_live_sandbox")),
];

impl Speaking {
    fn built_in(name: &str) -> Self {
        let key = KEYS.iter().find(|(known, _)| *known == name).unwrap().1;
        let home = Home::new();
        let served = Served::with(&home, &["--ephemeral", "--no-limits", "--speak", name]);
        assert_eq!(served.ready()["speak"], name);
        Speaking {
            served,
            key,
            _home: home,
        }
    }

    /// One that speaks as this file says.
    fn as_in(file: &str) -> Self {
        let home = Home::new();
        std::fs::write(home.folder().join("speak.toml"), file).unwrap();
        let arguments = ["--ephemeral", "--no-limits", "--speak", "speak.toml"];
        Speaking {
            served: Served::with(&home, &arguments),
            key: ("Authorization", "Bearer sk_live_sandbox"),
            _home: home,
        }
    }

    fn exchange(&self, method: &str, path: &str, body: &Value) -> Message {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        exchange(self.served.base_url(), method, path, &[self.key], &body)
    }

    /// The document of an answer with this status.
    #[track_caller]
    fn call(&self, status: u16, method: &str, path: &str, body: Value) -> Value {
        let answer = self.exchange(method, path, &body);
        let document = answer.json();
        assert_eq!(
            answer.status(),
            status,
            "{method} {path} {body}: {document}"
        );
        document
    }

    #[track_caller]
    fn get(&self, status: u16, path: &str) -> Value {
        self.call(status, "GET", path, Value::Null)
    }

    #[track_caller]
    fn post(&self, status: u16, path: &str, body: Value) -> Value {
        self.call(status, "POST", path, body)
    }

    /// The code of the latest text message.
    fn code(&self) -> String {
        text(&self.get(200, "/sandbox/inbox")["messages"][0], "code")
    }
}

/// Half past seven in ten days, as a clock without a zone shows it.
fn evening() -> String {
    let day = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(240);
    format!("{}T19:30:00", day.strftime("%Y-%m-%d"))
}

/// The same in UTC, in milliseconds.
fn evening_ms() -> i64 {
    let evening: jiff::Timestamp = format!("{}Z", evening()).parse().unwrap();
    evening.as_millisecond()
}

fn keys(document: &Value) -> Vec<&str> {
    let object = document.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

#[test]
fn enveloped_a_booking_goes_through_its_whole_life() {
    let service = Speaking::built_in("enveloped");
    let when = format!("{}Z", evening());
    let search = json!({"vertical": "dining", "location": "Sandbox", "datetime": when});
    let mut found = Vec::new();
    let mut page = service.post(200, "/v1/venues/search", search.clone());
    while let Some(cursor) = page["meta"]["next_cursor"].as_str() {
        let items = page["data"]["items"].as_array().unwrap();
        assert_eq!(items.len(), 10);
        found.extend(items.iter().map(|it| text(it, "venue_id")));
        let mut next = search.clone();
        next["cursor"] = json!(cursor);
        page = service.post(200, "/v1/venues/search", next);
    }
    found.extend(
        page["data"]["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| text(it, "venue_id")),
    );
    found.sort();
    found.dedup();
    assert_eq!(page["meta"]["total"], found.len());
    assert!(found.len() > 20 && found.contains(&"ven_otp".to_owned()));

    let query = json!({"query": {"venue_id": "ven_otp", "starts_at": when, "guests": 2}});
    let slots = service.post(200, "/v1/availability/search", query);
    assert_eq!(keys(&slots), ["data", "meta"]);
    let slot = &slots["data"]["openings"][5];
    assert_eq!(slot["card_terms"]["summary"], "No card is needed.");

    let order = json!({
        "venue_id": "ven_otp", "provider": "direct", "availability_id": slot["availability_id"],
        "datetime": slot["datetime"], "party_size": 2, "customer": {"name": "Ada Lovelace"},
    });
    let booking = service.post(201, "/v1/bookings", order)["data"]["booking"].clone();
    assert_eq!(
        booking["next_action"]["challenge"]["kind"],
        "verification_code"
    );
    assert_eq!(
        (&booking["provider"], &booking["guests"]),
        (&json!("direct"), &json!(2))
    );
    let path = format!("/v1/bookings/{}", text(&booking, "id"));
    let answer = |code: &str| json!({"challenge": {"code": code}});
    let wrong = service.post(400, &format!("{path}/continue"), answer("000000"));
    assert_eq!(wrong["error_code"], "invalid_otp");
    assert_eq!(wrong["challenge"]["remaining"], 4);
    let confirmed = service.post(200, &format!("{path}/continue"), answer(&service.code()));
    assert_eq!(confirmed["data"]["booking"]["status"], "confirmed");

    // The contract's names are not this service's.
    let unchanged = service.post(
        200,
        &format!("{path}/modify"),
        json!({"changes": {"guests": 3}}),
    );
    assert_eq!(unchanged["data"]["booking"]["guests"], 3);
    let invalid = service.post(
        400,
        &format!("{path}/modify"),
        json!({"changes": {"guests": 99}}),
    );
    assert_eq!(invalid["violations"][0]["field"], "changes.guests");
    let reason = json!({"cancellation": {"reason": "ill"}});
    let cancelled = service.post(200, &format!("{path}/cancel"), reason);
    assert_eq!(cancelled["data"]["booking"]["status"], "cancelled");
    assert_eq!(
        service.get(200, &path)["data"]["booking"]["status"],
        "cancelled"
    );
    let missing = service.get(404, "/v1/bookings/bk_nothing");
    assert_eq!(keys(&missing), ["error", "open_bookings"]);
}

#[test]
fn enveloped_what_a_venue_asks_is_answered_and_a_session_connected() {
    let service = Speaking::built_in("enveloped");
    let order = json!({
        "venue_id": "ven_confirm_details", "datetime": format!("{}Z", evening()), "party_size": 2,
        "customer": {"name": "Ada Lovelace"},
    });
    let booking = service.post(201, "/v1/bookings", order)["data"]["booking"].clone();
    let asked = &booking["next_action"]["fields"];
    assert_eq!(asked, &json!(["arrival_time", "dietary_requirements"]));
    let path = format!("/v1/bookings/{}/continue", text(&booking, "id"));
    let details = json!({"arrival_time": "19:30", "dietary_requirements": "none"});
    let confirmed = service.post(200, &path, details);
    assert_eq!(confirmed["data"]["booking"]["status"], "confirmed");

    let account = json!({"end_user": "user_7", "provider": "linked", "contact": {"phone_number": "+441632960001"}});
    let session = service.post(201, "/v1/sessions", account)["data"]["session"].clone();
    let path = format!("/v1/sessions/{}", text(&session, "id"));
    let code = json!({"challenge": {"code": service.code()}});
    let active = service.post(200, &format!("{path}/verify"), code);
    assert_eq!(active["data"]["session"]["state"], "active");
    let listed = service.get(200, "/v1/sessions?provider=linked");
    assert_eq!(listed["data"]["items"][0]["id"], session["id"]);
    service.get(400, "/v1/sessions?cursor=nonsense");
    assert_eq!(
        service.get(200, &format!("{path}/card"))["data"]["has_card"],
        true
    );
    service.call(200, "DELETE", &path, Value::Null);
    service.get(404, &path);
}

#[test]
fn camel_a_booking_goes_through_its_whole_life_with_numbers_for_ids_and_times() {
    let service = Speaking::built_in("camel");
    assert!(service.served.base_url().ends_with("/partner-api"));
    let search = json!({"vertical": "dining", "location": "Sandbox", "datetime": evening_ms(), "partySize": 2});
    let found = service.post(200, "/v1/venues/search", search);
    let venue = |name: &str| {
        let venues = found["results"].as_array().unwrap().iter();
        let mut called = venues.filter(|it| text(it, "displayName").contains(name));
        called.next().unwrap()["venue_id"].clone()
    };
    let otp = venue("(otp)");
    assert!(otp.is_i64());
    let query = json!({"venue_id": otp, "window": {"from": evening_ms()}, "partySize": 2});
    let slots = service.post(200, "/v1/availability/search", query);
    let slot = &slots["timeSlots"][5];
    assert_eq!(slot["datetime"], evening_ms());
    assert!(slot["availability_id"].is_i64());
    assert_eq!(slot["cardTerms"]["description"], "No card is needed.");

    let order = json!({
        "venue_id": otp, "provider": "ALPHA", "availability_id": slot["availability_id"],
        "datetime": slot["datetime"], "party_size": 2,
        "customer": {"name": "Ada Lovelace", "phoneNumber": "+441632960001"},
    });
    let booking = service.post(201, "/v1/bookings", order);
    assert_eq!(booking["status"], "REQUIRES_ACTION");
    assert_eq!(booking["venue_id"], otp);
    let action = &booking["next_action"];
    assert_eq!(
        (&action["kind"], &action["sentTo"]),
        (&json!("ONE_TIME_CODE"), &json!("+441632960001"))
    );
    assert!(action["expiresAt"].is_i64());
    let path = format!("/v1/bookings/{}", booking["id"]);
    let answer = |code: &str| json!({"verification": {"code": code}});
    assert_eq!(
        service.post(400, &format!("{path}/continue"), answer("000000"))["attemptsLeft"],
        4
    );
    let confirmed = service.post(200, &format!("{path}/continue"), answer(&service.code()));
    assert_eq!(
        (&confirmed["id"], &confirmed["status"]),
        (&booking["id"], &json!("CONFIRMED"))
    );
    let later = json!({"change": {"dateTime": evening_ms() + 1_800_000}});
    let modified = service.post(200, &format!("{path}/modify"), later);
    assert_eq!(
        modified["last_modification"]["changes"],
        json!([{"field": "datetime", "before": evening_ms(), "after": evening_ms() + 1_800_000}])
    );
    assert_eq!(
        service.post(200, &format!("{path}/cancel"), json!({}))["status"],
        "CANCELLED"
    );

    for (field, wrong) in [
        ("venue_id", json!({"venue_id": "ven_otp"})),
        (
            "datetime",
            json!({"venue_id": otp, "window": {"from": "2031-12-01T19:30:00Z"}}),
        ),
    ] {
        let refused = service.post(400, "/v1/availability/search", wrong);
        assert_eq!(refused["error"], "invalid request body");
        assert_eq!(refused["field"], field);
    }
    let unknown = json!({"venue_id": 7, "window": {"from": evening_ms()}, "partySize": 2});
    service.post(404, "/v1/availability/search", unknown);
}

#[test]
fn camel_a_payment_has_its_amount_as_an_object_and_a_pause_that_is_left_alone_expires() {
    let service = Speaking::built_in("camel");
    let search = json!({"vertical": "dining", "location": "Sandbox", "datetime": evening_ms()});
    let found = service.post(200, "/v1/venues/search", search);
    let create = |name: &str| {
        let venues = found["results"].as_array().unwrap().iter();
        let mut called = venues.filter(|it| text(it, "displayName").contains(name));
        let order = json!({
            "venue_id": called.next().unwrap()["venue_id"], "datetime": evening_ms(), "party_size": 2,
            "customer": {"name": "Ada Lovelace"}, "payment_collection": "vendor_external",
        });
        service.post(201, "/v1/bookings", order)
    };
    let booking = create("(payment)");
    let action = &booking["next_action"];
    let currency = &action["psp_request"]["currency"];
    let minor = action["psp_request"]["amount"].as_i64().unwrap();
    let amount = format!("{}.{:02}", minor / 100, minor % 100);
    assert_eq!(
        action["amount"],
        json!({"amount": amount, "currency": currency})
    );
    assert_eq!(action.get("currency"), None);
    let path = format!("/v1/bookings/{}/continue", booking["id"]);
    let response =
        json!({"approval_id": action["psp_request"]["approval_id"], "status": "approved"});
    let confirmed = service.post(200, &path, json!({"psp_response": response}));
    assert_eq!(confirmed["status"], "CONFIRMED");

    let left = create("(payment)");
    service.call(200, "POST", "/sandbox/clock", json!({"advance": "21m"}));
    let path = format!("/v1/bookings/{}", left["id"]);
    let failed = service.get(200, &path);
    assert_eq!(
        (&failed["status"], &failed["error_code"]),
        (&json!("FAILED"), &json!("payment_approval_expired"))
    );
}

#[test]
fn plain_a_booking_goes_through_its_whole_life_on_the_venues_clock() {
    let service = Speaking::built_in("plain");
    let search = json!({"vertical": "dining", "location": "Paris", "datetime": evening()});
    let venues = service.post(200, "/v1/venues/search", search);
    let paris = text(&venues[0], "venue_id");
    let query = json!({"venue": paris, "date_time": evening(), "covers": 2});
    let slots = service.post(200, "/v1/availability/search", query);
    let slot = slots.as_array().unwrap().last().unwrap();
    assert!(slot["card_terms"].is_string() && slot["cancellation_terms"].is_string());
    let when = text(slot, "datetime");
    assert_eq!(when.len(), "2031-12-01T19:30:00".len());
    let order = json!({
        "venue_id": paris, "provider": slot_provider(&venues[0]), "availability_id": slot["availability_id"],
        "datetime": when, "party_size": 2, "customer": {"name": "Ada Lovelace", "phone": "+441632960001"},
    });
    // The slot is offered at this instant alone: the time was read on the venue's clock.
    let booking = service.post(200, "/v1/bookings", order);
    assert_eq!(booking["datetime"], when);

    let order = |venue: &str| {
        json!({
            "venue_id": venue, "datetime": evening(), "party_size": 2, "customer": {"name": "Ada Lovelace"},
            "payment_collection": "vendor_external",
        })
    };
    let paying = service.post(200, "/v1/bookings", order("ven_payment"));
    assert_eq!(paying["next_action"], "payment_approval");
    assert!(paying["payment"]["due"].is_string());
    let path = format!("/v1/bookings/{}", text(&paying, "id"));
    let failed = service.post(200, &format!("{path}/continue"), json!({"psp_abort": true}));
    assert_eq!(failed["error_code"], "payment_declined");

    let booking = service.post(200, "/v1/bookings", order("ven_payment"));
    let path = format!("/v1/bookings/{}", text(&booking, "id"));
    let approval = &booking["payment"]["psp_request"]["approval_id"];
    let response = json!({"psp_response": {"approval_id": approval, "status": "approved"}});
    service.post(200, &format!("{path}/continue"), response);
    let later = evening().replace("19:30", "20:00");
    let modified = service.post(200, &format!("{path}/modify"), json!({"new_time": later}));
    assert_eq!(modified["datetime"], later);
    assert!(text(&modified, "last_modification").starts_with("changed "));
    let invalid = service.post(400, &format!("{path}/modify"), json!({"new_covers": 99}));
    assert_eq!(
        invalid["error"],
        "validation failed: new_covers must be 1 to 20"
    );
    let cancelled = service.post(200, &format!("{path}/cancel"), json!({"note": "ill"}));
    assert_eq!(cancelled["status"], "cancelled");
}

fn slot_provider(venue: &Value) -> Value {
    match &venue["source"] {
        Value::Null => venue["sources"][0].clone(),
        source => source.clone(),
    }
}

#[test]
fn plain_a_link_leads_from_page_to_page_and_the_same_request_is_sent_there() {
    let service = Speaking::built_in("plain");
    let search = json!({"vertical": "dining", "location": "Sandbox", "datetime": evening()});
    let (mut path, mut found) = ("/v1/venues/search".to_owned(), Vec::new());
    loop {
        let answer = service.exchange("POST", &path, &search);
        let page = answer.json();
        let page = page.as_array().unwrap();
        assert!(answer.status() == 200 && page.len() <= 10, "{page:?}");
        found.extend(page.iter().map(|it| text(it, "venue_id")));
        let Some(link) = answer.header("link") else {
            break;
        };
        let url = link.strip_prefix('<').unwrap().split_once('>').unwrap();
        assert_eq!(url.1, "; rel=\"next\"");
        url.0
            .strip_prefix(service.served.base_url())
            .unwrap()
            .clone_into(&mut path);
    }
    let count = found.len();
    found.sort();
    found.dedup();
    assert!(count > 20 && found.len() == count, "{found:?}");
    service.post(400, "/v1/venues/search?page=0", search);
}

#[test]
fn the_key_is_taken_as_the_service_wants_it_and_in_no_other_way() {
    for (name, (header, value)) in KEYS {
        let service = Speaking::built_in(name);
        service.get(200, "/v1/");
        let bearer = ("Authorization", "Bearer sk_live_sandbox");
        let bare = (header, value.rsplit(' ').next().unwrap());
        let mut others = vec![bearer];
        others.extend((bare.1 != value).then_some(bare));
        for other in others {
            let answer = exchange(service.served.base_url(), "GET", "/v1/", &[other], "");
            assert_eq!(answer.status(), 401, "{name} {other:?}");
            assert_eq!(answer.json()["error"], "unauthorized");
        }
        assert_eq!(service.get(404, "/v1/nothing")["error"], "no such path");
    }
}

#[test]
fn a_delivery_is_shaped_like_the_service_and_signed_over_the_bytes_that_are_sent() {
    for (name, signature, (id, kind)) in [
        (
            "enveloped",
            "reserve",
            ("/meta/event_id", "/meta/event_name"),
        ),
        ("camel", "dinely", ("/eventId", "/eventType")),
        ("plain", "tables", ("/event", "/topic")),
    ] {
        let app = Scripted::start(|_| Reply::json(200, &json!({})));
        let service = Speaking::built_in(name);
        let settings = json!({"webhook_url": format!("{}/hooks", app.base_url())});
        service.call(200, "PUT", "/sandbox/organization", settings);
        let when = match name {
            "camel" => json!(evening_ms()),
            "plain" => json!(evening()),
            _ => json!(format!("{}Z", evening())),
        };
        let search = json!({"vertical": "dining", "location": "Sandbox", "datetime": when});
        let venues = service.post(200, "/v1/venues/search", search);
        let venue = match name {
            "camel" => venues["results"][0]["venue_id"].clone(),
            _ => json!("ven_confirms"),
        };
        let order = json!({"venue_id": venue, "datetime": when, "party_size": 2, "customer": {"name": "Ada Lovelace"}});
        let status = if name == "plain" { 200 } else { 201 };
        service.post(status, "/v1/bookings", order);
        until("two deliveries", || app.requests().len() == 2);
        let mut ids = Vec::new();
        for delivery in app.requests() {
            let signature = delivery.header(&format!("{signature}-signature")).unwrap();
            let (at, mac) = signature
                .strip_prefix("t=")
                .unwrap()
                .split_once(",v1=")
                .unwrap();
            let mut expected = Hmac::<Sha256>::new_from_slice(b"whsec_sandbox").unwrap();
            expected.update(format!("{at}.{}", delivery.body).as_bytes());
            let expected: String = expected
                .finalize()
                .into_bytes()
                .iter()
                .map(|it| format!("{it:02x}"))
                .collect();
            assert_eq!(mac, expected, "{name}: {}", delivery.body);
            let event = delivery.json();
            let kind = event.pointer(kind).unwrap().as_str().unwrap().to_owned();
            assert!(kind.to_lowercase().starts_with("booking"), "{event}");
            ids.push(event.pointer(id).unwrap().to_string());
            let status = text(&event["data"]["object"], "status");
            assert_eq!(status.to_uppercase() == status, name == "camel", "{event}");
        }
        ids.dedup();
        assert_eq!(ids.len(), 2);
    }
}

#[test]
fn a_restart_and_a_reset_keep_the_number_of_each_id() {
    let home = Home::new();
    let database = home.folder().join("kept.db");
    let arguments = ["--database", database.to_str().unwrap(), "--speak", "camel"];
    let key = ("Authorization", "Token sk_live_sandbox");
    let ask = |served: &Served, method: &str, path: &str, body: Value| {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        exchange(served.base_url(), method, path, &[key], &body).json()
    };
    let search = json!({"vertical": "dining", "location": "Sandbox", "datetime": evening_ms()});
    let mut served = Served::with(&home, &arguments);
    let before = ask(&served, "POST", "/v1/venues/search", search.clone());
    let order = json!({
        "venue_id": before["results"][0]["venue_id"], "datetime": evening_ms(), "party_size": 2,
        "customer": {"name": "Ada Lovelace"},
    });
    let booking = ask(&served, "POST", "/v1/bookings", order);
    assert!(booking["id"].is_i64(), "{booking}");
    assert_eq!(served.terminate(), Some(0));

    let served = Served::with(&home, &arguments);
    let path = format!("/v1/bookings/{}", booking["id"]);
    assert_eq!(ask(&served, "GET", &path, Value::Null), booking);
    assert_eq!(
        ask(&served, "POST", "/v1/venues/search", search.clone()),
        before
    );
    served.reset();
    assert_eq!(ask(&served, "POST", "/v1/venues/search", search), before);
    let gone = ask(&served, "GET", &path, Value::Null);
    assert_eq!(gone["error"], "booking not found");
}

#[test]
fn a_file_that_says_nothing_changes_no_byte_of_an_answer() {
    let plain = Served::unlimited();
    let spoken = Speaking::as_in("# nothing\n");
    let search =
        json!({"vertical": "dining", "location": "Sandbox", "datetime": format!("{}Z", evening())});
    let slots =
        json!({"venue_id": "ven_otp", "datetime": format!("{}Z", evening()), "party_size": 2});
    for (method, path, body) in [
        ("POST", "/v1/venues/search", search.to_string()),
        ("POST", "/v1/availability/search", slots.to_string()),
        ("POST", "/v1/availability/search", "{}".to_owned()),
        ("POST", "/v1/bookings", "[1]".to_owned()),
        ("POST", "/v1/bookings", "{\"venue_id\": 3}".to_owned()),
        ("POST", "/v1/bookings", "no JSON".to_owned()),
        ("POST", "/v1/bookings/bk_1/cancel", String::new()),
        ("GET", "/v1/sessions?state=nonsense", String::new()),
        ("GET", "/v1/sessions/card", String::new()),
        ("PUT", "/v1/sessions", String::new()),
    ] {
        let ask = |base| exchange(base, method, path, &[spoken.key], &body);
        let (before, after) = (ask(plain.base_url()), ask(spoken.served.base_url()));
        assert_eq!(before.status(), after.status(), "{method} {path}");
        assert_eq!(
            before.json().to_string(),
            after.json().to_string(),
            "{method} {path}"
        );
    }
}

#[test]
fn an_expression_that_fails_or_never_ends_is_a_clear_error_and_the_sandbox_goes_on() {
    let service = Speaking::as_in(
        "[read]\nslots = '.window.from | {datetime: .}'\n\
         [write]\nvenues = '.venues | .name'\ncard = 'last(repeat(1))'\n",
    );
    let search =
        json!({"vertical": "dining", "location": "Sandbox", "datetime": format!("{}Z", evening())});
    let failed = service.post(500, "/v1/venues/search", search);
    let said = text(&failed, "error");
    assert!(
        said.contains("the expression write.venues failed: "),
        "{said}"
    );
    let refused = service.post(400, "/v1/availability/search", json!({"window": "today"}));
    assert_eq!(
        (&refused["error"], &refused["field"]),
        (&json!("invalid request body"), &json!("body"))
    );
    assert!(text(&refused, "detail").contains("the expression read.slots failed: "));

    let account = json!({"end_user": "user_7", "provider": "provider_b", "phone": "+441632960001"});
    let session = service.post(201, "/v1/sessions", account);
    let path = format!("/v1/sessions/{}", text(&session, "id"));
    service.post(
        200,
        &format!("{path}/verify"),
        json!({"code": service.code()}),
    );
    for _ in 0..3 {
        let endless = service.get(500, &format!("{path}/card"));
        assert!(
            text(&endless, "error").contains("the expression write.card did not end within 2 s")
        );
        service.get(200, &path);
    }
    let log = service.served.log();
    let lines = log
        .lines()
        .filter(|line| line.contains("the expression write."));
    assert_eq!(lines.count(), 4, "{log}");
}

#[test]
fn faults_hit_below_a_base_path_and_an_event_that_cannot_be_written_is_a_failed_attempt() {
    let file = "base_path = '/a/b/'\n[write]\nevent = '.data | error(\"no event\")'\n";
    let service = Speaking::as_in(file);
    assert!(service.served.base_url().ends_with("/a/b"));
    let fault =
        json!({"on": "POST /v1/bookings/{id}/cancel", "kind": "status", "status": 503, "times": 1});
    service.post(201, "/sandbox/faults", fault);
    let settings = json!({"webhook_url": "http://127.0.0.1:9/hooks"});
    service.call(200, "PUT", "/sandbox/organization", settings);
    let order = json!({
        "venue_id": "ven_confirms", "datetime": format!("{}Z", evening()), "party_size": 2,
        "customer": {"name": "Ada Lovelace"},
    });
    let booking = service.post(201, "/v1/bookings", order);
    let path = format!("/v1/bookings/{}/cancel", text(&booking, "id"));
    service.post(503, &path, json!({}));
    service.post(200, &path, json!({}));
    let error = || {
        let deliveries = service.get(200, "/sandbox/deliveries");
        let attempt = deliveries["deliveries"][0]["attempts"][0].clone();
        attempt["error"].as_str().map(str::to_owned)
    };
    until("an attempt", || error().is_some());
    let said = error().unwrap();
    assert!(
        said.starts_with("the expression write.event failed: "),
        "{said}"
    );
    // Outside of its base path there is no service.
    let root = service.served.base_url().strip_suffix("/a/b").unwrap();
    assert_eq!(
        exchange(root, "GET", "/v1/", &[service.key], "").status(),
        404
    );
    assert_eq!(
        exchange(root, "GET", "/sandbox/clock", &[], "").status(),
        200
    );
}

#[test]
fn a_file_that_cannot_be_used_is_refused_with_its_line_and_key() {
    let home = Home::new();
    for (file, said) in [
        (
            "times = 'epoch'\n[write]\nbooking = '.a |'\n",
            "speak.toml, line 3: write.booking is not a jq expression",
        ),
        (
            "\npage_size = 0\n",
            "speak.toml, line 2: page_size must be a whole number from 1 to 1000",
        ),
        ("pages = 3\n", "speak.toml, line 1: pages is not known"),
        (
            "[dialect]\nauth_header = 'X Key'\n",
            "speak.toml, line 2: dialect.auth_header is no header name",
        ),
    ] {
        std::fs::write(home.folder().join("speak.toml"), file).unwrap();
        for command in [
            &[
                "sandbox",
                "serve",
                "--ephemeral",
                "--port",
                "0",
                "--speak",
                "speak.toml",
                "--json",
            ][..],
            &[
                "sandbox",
                "run",
                "--speak",
                "speak.toml",
                "--json",
                "--",
                "true",
            ],
        ] {
            let error = home.run(command).refused(3, "config");
            assert!(text(&error, "message").contains(said), "{error}");
            assert!(
                text(&error, "hint").contains("enveloped, camel, plain"),
                "{error}"
            );
        }
    }
    let missing = ["sandbox", "serve", "--speak", "nothing.toml", "--json"];
    let error = home.run(missing).refused(1, "io");
    assert!(
        text(&error, "hint").contains("enveloped, camel, plain"),
        "{error}"
    );
}

#[test]
fn serve_and_run_say_what_they_speak_and_give_the_whole_base_url() {
    let home = Home::new();
    let plain = Served::with(&home, &["--ephemeral"]);
    assert_eq!(
        keys(plain.ready()),
        ["base_url", "openapi_url", "page", "database"]
    );
    let camel = Served::with(&home, &["--ephemeral", "--speak", "camel"]);
    assert_eq!(
        keys(camel.ready()),
        ["base_url", "openapi_url", "page", "database", "speak"]
    );
    assert!(!text(camel.ready(), "openapi_url").contains("partner-api"));

    let run = [
        "sandbox",
        "run",
        "--speak",
        "camel",
        "--",
        "sh",
        "-c",
        "echo $BOOKCTL_BASE_URL",
    ];
    let output = home.run(run).exits(0);
    assert!(output.stdout.ends_with("/partner-api\n"), "{output}");
    assert!(output.stderr.contains("speaks camel"), "{output}");

    // The controls are found by whoever has the base URL alone.
    let home = Home::pointing_to(camel.base_url(), "sk_live_sandbox");
    let clock = home.run(["sandbox", "clock", "--json"]).exits(0).json();
    assert_eq!(clock["offset_seconds"], 0);
}

/// A server that speaks otherwise prints the lines that make bookctl use it.
#[test]
fn the_lines_that_a_speaking_server_prints_work_as_they_stand() {
    for variant in ["plain", "enveloped", "camel"] {
        let home = Home::new();
        let script = format!(
            r#"bookctl() {{ "$BOOKCTL" "$@"; }}
            "$BOOKCTL" sandbox serve --port 0 --ephemeral --speak {variant} >ready 2>log & server=$!
            trap 'kill $server' EXIT
            until grep -q 'profile learn' ready; do sleep 0.05; done
            sed -n 's/^  //p' ready | sed 's/\(profile learn .*\)/\1 --yes/' >lines
            . ./lines && bookctl status && unset BOOKCTL_WEBHOOK_SECRET && printf '{{}}' | bookctl webhook sign"#
        );
        let mut shell = std::process::Command::new("sh");
        home.enter(&mut shell);
        let done = shell
            .env("BOOKCTL", env!("CARGO_BIN_EXE_bookctl"))
            .args(["-c", &script])
            .output()
            .unwrap();
        assert!(done.status.success(), "{variant}: {done:?}");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(
            said.contains("using the sandbox's webhook secret"),
            "{variant}: {said}"
        );
    }
}

/// bookctl reaches such a service through a profile alone, which says how the key is sent.
#[test]
fn env_and_run_give_the_profile_of_a_service_that_speaks_otherwise() {
    for variant in ["plain", "enveloped", "camel"] {
        let served = Served::with(&Home::new(), &["--ephemeral", "--speak", variant]);
        let home = Home::new();
        let page = text(served.ready(), "page");
        let script = format!(
            r#"bookctl() {{ "$BOOKCTL" "$@"; }}
            lines=$(bookctl sandbox env --url {page}) && eval "$lines" >/dev/null && bookctl status --quiet && bookctl sandbox env"#
        );
        let mut shell = std::process::Command::new("sh");
        home.enter(&mut shell);
        let done = shell
            .env("BOOKCTL", env!("CARGO_BIN_EXE_bookctl"))
            .args(["-c", &script])
            .output()
            .unwrap();
        assert!(done.status.success(), "{variant}: {done:?}");
        // The profile is there now, and is not added again.
        let shown = String::from_utf8_lossy(&done.stdout);
        assert!(
            shown.contains(&format!("export BOOKCTL_PROFILE={variant}\n")),
            "{shown}"
        );
        assert!(!shown.contains("profile add"), "{shown}");
        let env = ["sandbox", "env", "--json", "--url", &page];
        let variables = home.run(env).exits(0).json();
        assert_eq!(text(&variables, "BOOKCTL_BASE_URL"), served.base_url());
        let own = env!("CARGO_BIN_EXE_bookctl");
        let run = ["sandbox", "run", "--speak", variant, "--", own, "status"];
        home.run(run).exits(0);
    }
}
