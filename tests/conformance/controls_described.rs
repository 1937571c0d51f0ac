//! The controls are what `GET /sandbox/openapi.json` says of them. Every answer is held against its
//! schema where the tests get it; here are the fields, the parameters and the calls that no answer
//! may leave out.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::described::{self, Fields};
use crate::receiver::{Receiver, subscribed};
use crate::service::{Service, list};

/// What was called, and which fields were seen.
struct Seen<'a> {
    service: &'a Service,
    calls: BTreeSet<String>,
    fields: Fields,
}

impl Seen<'_> {
    fn call(&mut self, method: &str, path: &str, body: Option<Value>) -> Value {
        let answer = self.service.with("").call(method, path, body);
        assert!(answer.status < 300, "{answer:?}");
        let described = described::find(method, path).unwrap();
        self.fields.see(&described, &answer.body);
        self.calls.insert(described.name);
        answer.body
    }

    fn get(&mut self, path: &str) -> Value {
        self.call("GET", path, None)
    }

    /// Everything that a request can leave in the log.
    fn requests(&mut self) {
        let service = self.service;
        service.live().keyed("a key").post("/v1/bookings", json!({}));
        service.get("/v1/sessions?state=active");
        let broken = json!({"on": "POST /v1/bookings", "kind": "status", "status": 503});
        self.call("POST", "/sandbox/faults", Some(broken));
        service.live().keyed("lost").post("/v1/bookings", json!({}));
        self.get("/sandbox/report");
        let bytes = Some(vec![0xff, 0xfe]);
        service.live().raw("POST", "/v1/bookings", bytes);
        service.connect("ada", "+441632960001");
        let fault = json!({"on": "GET /v1/", "kind": "status", "body": {"error": "no"}});
        self.call("POST", "/sandbox/faults", Some(fault));
        service.get("/v1/");
        for request in list(&self.get("/sandbox/requests"), "requests") {
            let path = format!("/sandbox/requests/{}", request["id"].as_str().unwrap());
            self.get(&path);
        }
    }

    /// A delivery that fails, and is then taken.
    fn deliveries(&mut self) {
        let closed = json!({"webhook_url": "http://127.0.0.1:1/"});
        self.call("PUT", "/sandbox/organization", Some(closed));
        self.service.book("ven_otp");
        let event = self.delivery(|it| it["attempts"][0]["error"].is_string());
        let path = format!("/sandbox/deliveries/{event}");
        self.get(&path);
        let receiver = Receiver::start();
        self.call("PUT", "/sandbox/organization", Some(json!({"webhook_url": receiver.url})));
        let unsigned = json!({"on": "webhook", "kind": "unsigned"});
        self.call("POST", "/sandbox/faults", Some(unsigned));
        self.call("POST", &format!("{path}/resend"), None);
        self.delivery(|it| it["event_id"] == *event && it["state"] == "delivered");
        self.get(&path);
    }

    /// Faults with every field, removed one by one and together.
    fn faults(&mut self) {
        for kind in [
            json!({"kind": "delay"}),
            json!({"kind": "status", "body": {"error": "no"}}),
            json!({"kind": "truncate", "after_bytes": 3}),
            json!({"kind": "status", "after": true, "from": 2, "match": {"a": 1}, "headers": {"x-a": "1"}}),
            json!({"kind": "garbage", "times": "always", "rate": 0.2, "organization": "other"}),
        ] {
            let mut fault = kind;
            fault["on"] = json!("GET /v1/");
            self.call("POST", "/sandbox/faults", Some(fault));
        }
        let faults = list(&self.get("/sandbox/faults"), "faults");
        let first = format!("/sandbox/faults/{}", faults[0]["id"].as_str().unwrap());
        self.call("DELETE", &first, None);
        self.call("DELETE", "/sandbox/faults", None);
    }

    /// An organization that comes and goes.
    fn organizations(&mut self) {
        let name = json!({"name": "test 17"});
        let added = self.call("POST", "/sandbox/organizations", Some(name));
        self.get("/sandbox/organizations");
        let id = added["id"].as_str().unwrap();
        let path = format!("/sandbox/organization?organization={id}");
        self.call("PUT", &path, Some(json!({"webhook_url": "http://127.0.0.1:8/"})));
        let staying = json!({"webhook_url": "http://127.0.0.1:9/", "webhook_url_stays": true});
        self.call("PUT", &path, Some(staying));
        self.get(&path);
        self.call("DELETE", &format!("/sandbox/organizations/{id}"), None);
    }

    /// Venues and bookings of one's own.
    fn fixtures(&mut self) {
        let guest = json!({"name": "Ada Lovelace"});
        let booking = json!({"venue_id": "ven_otp", "datetime": "+1d 19:30", "party_size": 2, "customer": guest});
        let mut without_a_slot = booking.clone();
        without_a_slot["datetime"] = json!("+1d 07:17");
        let fixtures = json!({"bookings": [booking, without_a_slot]});
        self.call("POST", "/sandbox/fixtures", Some(fixtures));
    }

    /// A state that is saved, restored and deleted, and one that is a document.
    fn clock(&mut self) {
        self.service.book("ven_otp");
        for change in [
            json!({"freeze": true}),
            json!({"next": true}),
            json!({"resume": true}),
            json!({"set": "2100-01-01T00:00:00Z"}),
            json!({"advance": "1s"}),
        ] {
            self.call("POST", "/sandbox/clock", Some(change));
            self.get("/sandbox/clock");
        }
    }

    /// The first event of the stream, which does not end.
    fn stream(&mut self) {
        let address = self.service.base.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).unwrap();
        let request =
            format!("GET /sandbox/stream HTTP/1.1\r\nHost: {address}\r\nLast-Event-ID: -1\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let lines = BufReader::new(stream).lines().map(Result::unwrap);
        let head: Vec<String> = lines.take_while(|it| !it.starts_with("event: ")).collect();
        let described = described::find("GET", "/sandbox/stream").unwrap();
        let kind = format!("content-type: {}", described.media_type(200));
        assert!(head[0].ends_with(" 200 OK"), "{head:?}");
        assert!(head.contains(&kind), "{head:?}");
        self.calls.insert(described.name);
    }

    /// The event of the first delivery that is so.
    fn delivery(&mut self, condition: impl Fn(&Value) -> bool) -> String {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let deliveries = list(&self.get("/sandbox/deliveries"), "deliveries");
            if let Some(found) = deliveries.iter().find(|it| condition(it)) {
                return found["event_id"].as_str().unwrap().to_owned();
            }
            assert!(Instant::now() < deadline, "{deliveries:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn control_15_responses_have_every_field_that_is_described() {
    let service = Service::start(&[]);
    let mut seen = Seen { service: &service, calls: BTreeSet::new(), fields: Fields::default() };
    let index = seen.get("/");
    assert_eq!(index["openapi_url"], format!("{}/openapi.json", service.base));
    for document in ["openapi_url", "controls_openapi_url"] {
        let url = index[document].as_str().unwrap();
        seen.get(url.strip_prefix(&service.base).unwrap());
    }
    seen.deliveries();
    seen.requests();
    seen.faults();
    let bookings = list(&seen.get("/sandbox/bookings"), "bookings");
    let first = bookings[0]["id"].as_str().unwrap();
    seen.get(&format!("/sandbox/bookings/{first}/events"));
    let report =
        json!({"status": "no_show", "error_code": "late", "error_message": "Nobody came."});
    seen.call("PUT", &format!("/sandbox/bookings/{first}"), Some(report));
    let name = json!({"name": "suite 3"});
    let added = service.post("/sandbox/organizations", name);
    let key = added.is(201)["keys"]["live"].as_str().unwrap().to_owned();
    let hook = json!({"webhook_url": "http://127.0.0.1:1/"});
    let path = format!("/sandbox/organization?organization={}", added.body["id"].as_str().unwrap());
    service.live().call("PUT", &path, Some(hook));
    service.with(&key).post("/v1/bookings", service.order("ven_otp"));
    for list in ["bookings", "inbox", "deliveries", "requests"] {
        seen.get(&format!("/sandbox/{list}"));
    }
    let named = |it: &Value| it["organization_name"].is_string();
    let event = seen.delivery(named);
    seen.get(&format!("/sandbox/deliveries/{event}"));
    for path in "keys inbox scenarios organization?organization=suspended".split(' ') {
        seen.get(&format!("/sandbox/{path}"));
    }
    seen.organizations();
    seen.clock();
    seen.fixtures();
    seen.stream();
    seen.call("POST", "/sandbox/reset", None);

    let missing: Vec<_> = described::controls().difference(&seen.calls).cloned().collect();
    assert!(missing.is_empty(), "never called: {missing:?}");
    let unseen = seen.fields.unseen();
    assert!(unseen.is_empty(), "described, but never answered: {unseen:?}");
}

#[test]
fn control_15_every_field_of_a_request_does_something() {
    let service = Service::start(&[]);
    every_change_of_the_clock(&service);
    let settings = described::schema("UpdateOrganizationRequest")["properties"].as_object();
    for (name, field) in settings.unwrap() {
        // A check refers to the schema of all checks, which has its examples.
        let value = match &field["examples"][0] {
            Value::Null => json!("unavailable"),
            example => example.clone(),
        };
        let body = json!({name: value});
        let answer = service.live().call("PUT", "/sandbox/organization", Some(body));
        assert_eq!(answer.is(200)[name], value, "{name}");
    }
    let name = described::schema("AddOrganizationRequest")["examples"][0].clone();
    let added = service.post("/sandbox/organizations", name.clone());
    assert_eq!(added.is(201)["name"], name["name"]);
    let fault = described::schema("AddFaultRequest")["properties"].as_object();
    for (name, field) in fault.unwrap() {
        let mut body = match name.as_str() {
            "preset" => json!({"preset": "flaky"}),
            "delay_ms" => json!({"on": "GET /v1/", "kind": "delay"}),
            "after_bytes" => json!({"on": "GET /v1/", "kind": "truncate"}),
            "seed" => json!({"on": "GET /v1/", "kind": "status", "rate": 0.5}),
            _ => json!({"on": "GET /v1/", "kind": "status"}),
        };
        if !field["examples"][0].is_null() {
            body[name] = field["examples"][0].clone();
        }
        let answer = service.post("/sandbox/faults", body.clone());
        match name.as_str() {
            "preset" => assert_eq!(answer.is(201)["rate"], 0.2),
            _ => assert_eq!(answer.is(201)[name], body[name], "{name}"),
        }
    }
    for (name, of) in [("FaultPreset", "preset"), ("FaultKind", "kind")] {
        for value in described::schema(name)["enum"].as_array().unwrap() {
            let of_webhook = ["drop", "duplicate", "reorder", "unsigned", "old"]
                .contains(&value.as_str().unwrap());
            let on = if of_webhook { "webhook" } else { "any" };
            service.post("/sandbox/faults", json!({"on": on, of: value})).is(201);
        }
    }
    for times in described::schema("FaultTimes")["examples"].as_array().unwrap() {
        let fault = json!({"on": "any", "kind": "delay", "times": times});
        let answer = service.post("/sandbox/faults", fault);
        assert_eq!(&answer.is(201)["times"], times);
    }
}

/// Every change of the clock that is described is made, and nothing else is in the examples.
fn every_change_of_the_clock(service: &Service) {
    service.book("ven_otp");
    let changes = described::schema("ChangeClockRequest");
    for change in changes["examples"].as_array().unwrap() {
        let answer = service.post("/sandbox/clock", change.clone());
        let frozen = change.get("freeze");
        assert_eq!(answer.is(200).get("frozen"), frozen, "{change}");
        // The next change finds something that is due.
        service.book("ven_otp");
    }
    let described = changes["properties"].as_object().unwrap().keys();
    let exemplified = changes["examples"].as_array().unwrap().iter();
    let exemplified: BTreeSet<_> =
        exemplified.flat_map(|it| it.as_object().unwrap().keys()).collect();
    assert_eq!(exemplified, described.collect());
}

#[test]
fn control_15_every_parameter_selects() {
    let (service, _receiver) = subscribed();
    service.book("ven_otp");
    service.get("/v1/");
    let all = list(service.get("/sandbox/requests").is(200), "requests");
    let newest = all[0]["id"].as_str().unwrap();
    let parameters = described::parameters("GET", "/sandbox/requests");
    assert!(parameters.len() > 6, "{parameters:?}");
    for name in parameters {
        let value = match name.as_str() {
            "limit" => "1",
            "status" => "5xx",
            "after" => newest,
            "organization" => "other",
            _ => "another",
        };
        let path = format!("/sandbox/requests?{name}={value}");
        let some = list(service.get(&path).is(200), "requests");
        assert!(some.len() < all.len(), "{name} selects nothing");
    }
    for method in ["GET", "PUT"] {
        for name in described::parameters(method, "/sandbox/organization") {
            let path = format!("/sandbox/organization?{name}=other");
            let answer = service.live().call(method, &path, Some(json!({})));
            assert_eq!(answer.is(200)["id"], "org_other");
        }
    }
    for (path, name) in [
        ("/sandbox/bookings", "bookings"),
        ("/sandbox/inbox", "messages"),
        ("/sandbox/deliveries", "deliveries"),
    ] {
        let parameters = described::parameters("GET", path);
        assert_eq!(parameters, ["organization"], "{path}");
        for (organization, some) in [("sandbox", true), ("org_other", false)] {
            let path = format!("{path}?organization={organization}");
            let found = list(service.get(&path).is(200), name);
            assert_eq!(!found.is_empty(), some, "{path} of {organization}");
        }
        service.get(&format!("{path}?organization=nobody")).refused_plainly(404);
    }
}
