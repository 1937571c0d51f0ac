//! The controls are what `GET /sandbox/openapi.json` says of them. Every answer is held against its schema where the
//! tests get it; here are the fields, the parameters and the calls that no answer may leave out.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::described::{self, Fields};
use crate::receiver::Receiver;
use crate::service::{Service, list};

/// What was called, and which fields were seen.
struct Seen<'a> {
    service: &'a Service,
    calls: BTreeSet<String>,
    fields: Fields,
}

impl Seen<'_> {
    async fn call(&mut self, method: &str, path: &str, body: Option<Value>) -> Value {
        let answer = self.service.with("").call(method, path, body).await;
        assert!(answer.status < 300, "{answer:?}");
        let described = described::find(method, path).unwrap();
        self.fields.see(&described, &answer.body);
        self.calls.insert(described.name);
        answer.body
    }

    async fn get(&mut self, path: &str) -> Value {
        self.call("GET", path, None).await
    }

    /// Everything that a request can leave in the log.
    async fn requests(&mut self) {
        let service = self.service;
        service
            .live()
            .keyed("a key")
            .post("/v1/bookings", json!({}))
            .await;
        service.get("/v1/sessions?state=active").await;
        let bytes = Some(vec![0xff, 0xfe]);
        service.live().raw("POST", "/v1/bookings", bytes).await;
        service.connect("ada", "+441632960001").await;
        let fault = json!({"on": "GET /v1/", "kind": "status", "body": {"error": "no"}});
        self.call("POST", "/sandbox/faults", Some(fault)).await;
        service.get("/v1/").await;
        for request in list(&self.get("/sandbox/requests").await, "requests") {
            let path = format!("/sandbox/requests/{}", request["id"].as_str().unwrap());
            self.get(&path).await;
        }
    }

    /// A delivery that fails, and is then taken.
    async fn deliveries(&mut self) {
        let closed = json!({"webhook_url": "http://127.0.0.1:1/"});
        self.call("PUT", "/sandbox/organization", Some(closed))
            .await;
        self.service.book("ven_otp").await;
        let event = self
            .delivery(|it| it["attempts"][0]["error"].is_string())
            .await;
        let path = format!("/sandbox/deliveries/{event}");
        self.get(&path).await;
        let receiver = Receiver::start().await;
        let open = json!({"webhook_url": receiver.url});
        self.call("PUT", "/sandbox/organization", Some(open)).await;
        self.call("POST", &format!("{path}/resend"), None).await;
        self.delivery(|it| it["event_id"] == *event && it["state"] == "delivered")
            .await;
        self.get(&path).await;
    }

    /// The event of the first delivery that is so.
    async fn delivery(&mut self, condition: impl Fn(&Value) -> bool) -> String {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let deliveries = list(&self.get("/sandbox/deliveries").await, "deliveries");
            if let Some(found) = deliveries.iter().find(|it| condition(it)) {
                return found["event_id"].as_str().unwrap().to_owned();
            }
            assert!(Instant::now() < deadline, "{deliveries:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test]
async fn control_15_every_control_answers_with_every_field_that_is_described() {
    let service = Service::start(&[]);
    let mut seen = Seen {
        service: &service,
        calls: BTreeSet::new(),
        fields: Fields::default(),
    };
    let index = seen.get("/").await;
    assert_eq!(
        index["openapi_url"],
        format!("{}/openapi.json", service.base)
    );
    for document in ["openapi_url", "controls_openapi_url"] {
        let url = index[document].as_str().unwrap();
        seen.get(url.strip_prefix(&service.base).unwrap()).await;
    }
    seen.deliveries().await;
    seen.requests().await;
    for kind in [
        json!({"kind": "delay"}),
        json!({"kind": "status", "body": {"error": "no"}}),
        json!({"kind": "truncate", "after_bytes": 3}),
    ] {
        let mut fault = kind;
        fault["on"] = json!("GET /v1/");
        seen.call("POST", "/sandbox/faults", Some(fault)).await;
    }
    for path in [
        "faults",
        "keys",
        "inbox",
        "bookings",
        "organization?organization=suspended",
    ] {
        seen.get(&format!("/sandbox/{path}")).await;
    }
    seen.call("DELETE", "/sandbox/faults", None).await;
    let advance = json!({"advance": "1s"});
    seen.call("POST", "/sandbox/clock", Some(advance)).await;
    seen.get("/sandbox/clock").await;
    seen.call("POST", "/sandbox/reset", None).await;

    let missing: Vec<_> = described::controls()
        .difference(&seen.calls)
        .cloned()
        .collect();
    assert!(missing.is_empty(), "never called: {missing:?}");
    let unseen = seen.fields.unseen();
    assert!(
        unseen.is_empty(),
        "described, but never answered: {unseen:?}"
    );
}

#[tokio::test]
async fn control_15_every_field_of_a_request_does_something() {
    let service = Service::start(&[]);
    let settings = described::schema("UpdateOrganizationRequest")["properties"].as_object();
    for (name, field) in settings.unwrap() {
        // A check refers to the schema of all checks, which has its examples.
        let value = match &field["examples"][0] {
            Value::Null => json!("unavailable"),
            example => example.clone(),
        };
        let body = json!({name: value});
        let answer = service
            .live()
            .call("PUT", "/sandbox/organization", Some(body))
            .await;
        assert_eq!(answer.is(200)[name], value, "{name}");
    }
    let fault = described::schema("AddFaultRequest")["properties"].as_object();
    for (name, field) in fault.unwrap() {
        let kind = match name.as_str() {
            "delay_ms" => "delay",
            "after_bytes" => "truncate",
            _ => "status",
        };
        let mut body = json!({"on": "GET /v1/", "kind": kind});
        if !field["examples"][0].is_null() {
            body[name] = field["examples"][0].clone();
        }
        let answer = service.post("/sandbox/faults", body.clone()).await;
        assert_eq!(answer.is(201)[name], body[name], "{name}");
    }
}

#[tokio::test]
async fn control_15_every_parameter_selects() {
    let service = Service::start(&[]);
    service.book("ven_confirms").await;
    service.get("/v1/").await;
    let all = list(service.get("/sandbox/requests").await.is(200), "requests");
    let newest = all[0]["id"].as_str().unwrap();
    let parameters = described::parameters("GET", "/sandbox/requests");
    assert!(parameters.len() > 6, "{parameters:?}");
    for name in parameters {
        let value = match name.as_str() {
            "limit" => "1",
            "status" => "5xx",
            "after" => newest,
            _ => "another",
        };
        let path = format!("/sandbox/requests?{name}={value}");
        let some = list(service.get(&path).await.is(200), "requests");
        assert!(some.len() < all.len(), "{name} selects nothing");
    }
    for method in ["GET", "PUT"] {
        for name in described::parameters(method, "/sandbox/organization") {
            let path = format!("/sandbox/organization?{name}=other");
            let answer = service.live().call(method, &path, Some(json!({}))).await;
            assert_eq!(answer.is(200)["id"], "org_other");
        }
    }
}
