//! A served sandbox, and the little that tests need to talk to it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::described;

pub(crate) const LIVE: &str = "sk_live_sandbox";
pub(crate) const TEST: &str = "sk_test_sandbox";
pub(crate) const READ_ONLY: &str = "sk_live_readonly";
pub(crate) const WITHOUT_BILLING: &str = "sk_live_nobilling";
pub(crate) const BETA: &str = "sk_v3_sandbox";
pub(crate) const SUSPENDED: &str = "sk_live_suspended";
pub(crate) const OTHER: &str = "sk_live_other";

/// A sandbox of one's own, in a process of its own, which ends with it.
pub(crate) struct Service {
    child: Child,
    errors: Option<JoinHandle<String>>,
    pub(crate) base: String,
    /// What the server printed when it was ready.
    pub(crate) ready: Value,
    pub(crate) client: Client,
    /// A fault may answer with what no document describes.
    has_faults: AtomicBool,
    _home: TempDir,
}

impl Service {
    /// A fresh one that keeps nothing. Its webhooks go out at once, unless an interval is given.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let at_once = ["--ephemeral", "--delivery-interval", "50ms"];
        if arguments.contains(&"--delivery-interval") {
            return Self::serve(&[&at_once[..1], arguments].concat());
        }
        Self::serve(&[&at_once, arguments].concat())
    }

    /// A fresh one that keeps nothing, whose webhooks go out at the pace that it has by itself.
    pub(crate) fn at_its_own_pace() -> Self {
        Self::serve(&["--ephemeral"])
    }

    /// One with the state of a database file.
    pub(crate) fn on_file(file: &str, arguments: &[&str]) -> Self {
        Self::serve(&[&["--database", file], arguments].concat())
    }

    fn serve(arguments: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_bookctl"))
            .args(["sandbox", "serve", "--port", "0", "--json"])
            .args(arguments)
            .env("BOOKCTL_HOME", home.path())
            .env_remove("BOOKCTL_PROFILE")
            .env_remove("BOOKCTL_BASE_URL")
            .env_remove("BOOKCTL_API_KEY")
            .env_remove("BOOKCTL_NO_SANDBOX")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        if line.is_empty() {
            let _ = child.kill();
            panic!("the server did not start: {}", errors.join().unwrap());
        }
        let ready: Value = serde_json::from_str(&line).unwrap();
        // Fails if another test was first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Loopback alone: the system's certificates would be read for nothing.
        let client = Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .timeout(Duration::from_secs(30))
            .build()
            .unwrap();
        Self {
            child,
            errors: Some(errors),
            base: ready["base_url"].as_str().unwrap().to_owned(),
            ready,
            client,
            has_faults: AtomicBool::new(false),
            _home: home,
        }
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// A caller with another key than the live one.
    pub(crate) fn with<'a>(&'a self, key: &'a str) -> Caller<'a> {
        Caller {
            service: self,
            key,
            headers: HeaderMap::new(),
        }
    }

    /// A caller with the live key.
    pub(crate) fn live(&self) -> Caller<'_> {
        self.with(LIVE)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.live().get(path).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.live().post(path, body).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.live().delete(path).await
    }

    /// Moves the sandbox's clock.
    pub(crate) async fn advance(&self, by: &str) {
        self.post("/sandbox/clock", json!({"advance": by}))
            .await
            .is(200);
    }

    /// The sandbox's clock.
    pub(crate) async fn now(&self) -> Timestamp {
        instant(&self.get("/sandbox/clock").await.is(200)["now"])
    }

    /// 19:30 of a day so many days ahead, at a venue in UTC.
    pub(crate) async fn evening(&self, days: i64) -> String {
        let day = self.now().await + SignedDuration::from_hours(24 * days);
        format!("{}T19:30:00+00:00", day.strftime("%Y-%m-%d"))
    }

    /// The messages that were texted, newest first.
    pub(crate) async fn inbox(&self) -> Vec<Value> {
        list(self.get("/sandbox/inbox").await.is(200), "messages")
    }

    /// The code that was texted last.
    pub(crate) async fn code(&self) -> String {
        self.inbox().await[0]["code"].as_str().unwrap().to_owned()
    }

    /// Changes what the dashboard sets for the organization.
    pub(crate) async fn settings(&self, settings: Value) {
        self.live()
            .call("PUT", "/sandbox/organization", Some(settings))
            .await
            .is(200);
    }

    /// What a search for a vertical near a place returns.
    pub(crate) async fn venues(&self, vertical: &str, near: &str) -> Vec<Value> {
        let body = json!({
            "vertical": vertical, "location": near, "datetime": self.evening(1).await,
        });
        let answer = self.post("/v1/venues/search", body).await;
        list(answer.is(200), "venues")
    }

    /// A seeded venue that the provider alone serves, found by a search, so that it is known.
    pub(crate) async fn search_then(&self, vertical: &str, near: &str, provider: &str) -> Value {
        self.venues(vertical, near)
            .await
            .into_iter()
            .find(|it| it["provider"] == provider)
            .unwrap_or_else(|| panic!("no {vertical} venue of {provider} near {near}"))
    }

    /// The slots of a venue tomorrow.
    pub(crate) async fn slots(&self, venue: &str) -> Vec<Value> {
        let body = json!({
            "venue_id": venue, "datetime": self.evening(1).await, "party_size": 2,
        });
        let answer = self.post("/v1/availability/search", body).await;
        list(answer.is(200), "slots")
    }

    /// A slot of a venue, as the availability offers it.
    pub(crate) async fn new_slot(&self, venue: &str) -> Value {
        let slots = self.slots(venue).await;
        slots.into_iter().next().expect("a slot tomorrow")
    }

    /// What asks for a table of two tomorrow evening.
    pub(crate) async fn order(&self, venue: &str) -> Value {
        json!({
            "venue_id": venue,
            "datetime": self.evening(1).await,
            "party_size": 2,
            "customer": {
                "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+441632960001",
            },
        })
    }

    /// Asks for such a table.
    pub(crate) async fn create(&self, venue: &str) -> Answer {
        let order = self.order(venue).await;
        self.post("/v1/bookings", order).await
    }

    /// Asks for such a table with further fields.
    pub(crate) async fn create_with(&self, venue: &str, fields: Value) -> Answer {
        let order = with(self.order(venue).await, &fields);
        self.post("/v1/bookings", order).await
    }

    /// Such a booking, created.
    pub(crate) async fn book(&self, venue: &str) -> Value {
        self.create(venue).await.is(201).clone()
    }

    /// Such a booking, paid through the vendor.
    pub(crate) async fn book_paid(&self, venue: &str) -> Value {
        let fields = json!({"payment_collection": "vendor_external"});
        self.create_with(venue, fields).await.is(201).clone()
    }

    /// A booking as it stands now.
    pub(crate) async fn read(&self, booking: &Value) -> Value {
        self.get(&path_of(booking, "")).await.is(200).clone()
    }

    /// Calls continue, modify or cancel of a booking.
    pub(crate) async fn act(&self, booking: &Value, what: &str, body: Value) -> Answer {
        self.post(&path_of(booking, what), body).await
    }

    /// A person's session that waits for its code.
    pub(crate) async fn connect(&self, person: &str, phone: &str) -> Value {
        let body = json!({"end_user": person, "provider": "provider_b", "phone": phone});
        self.post("/v1/sessions", body).await.is(201).clone()
    }

    /// A person's active session.
    pub(crate) async fn sign_in(&self, person: &str, phone: &str) -> Value {
        let session = self.connect(person, phone).await;
        let code = self.code().await;
        self.post(&session_path(&session, "/verify"), json!({"code": code}))
            .await
            .is(200)
            .clone()
    }

    /// Holds an answer against the OpenAPI documents. A request that is not valid HTTP gets none of theirs.
    fn compare(&self, method: &str, path: &str, answer: &Answer) {
        if (method, path) == ("POST", "/sandbox/faults") {
            self.has_faults.store(true, Ordering::Relaxed);
        }
        let is_control = !path.starts_with("/v1");
        let is_described = is_control || !self.has_faults.load(Ordering::Relaxed);
        if let Some(call) = described::find(method, path)
            && is_described
            && !answer.text.is_empty()
        {
            let wrong = call.differences(answer.status, &answer.body);
            assert!(wrong.is_empty(), "{wrong:#?}: {answer:#?}");
        }
    }

    /// The history of deliveries.
    pub(crate) async fn deliveries(&self) -> Vec<Value> {
        list(self.get("/sandbox/deliveries").await.is(200), "deliveries")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.kill();
        let errors = self.errors.take().map(|it| it.join().unwrap_or_default());
        let errors = errors.unwrap_or_default();
        if !std::thread::panicking() {
            assert!(!errors.contains("panicked"), "{errors}");
        }
    }
}

/// Who asks: a key, and headers.
#[derive(Clone)]
pub(crate) struct Caller<'a> {
    service: &'a Service,
    key: &'a str,
    headers: HeaderMap,
}

impl Caller<'_> {
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            HeaderValue::from_str(value).unwrap(),
        );
        self
    }

    /// With an `Idempotency-Key`.
    pub(crate) fn keyed(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.call("POST", path, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.call("DELETE", path, None).await
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        self.raw(method, path, body.map(|it| it.to_string().into_bytes()))
            .await
    }

    /// Sends a body as it is.
    pub(crate) async fn raw(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Answer {
        let answer = self.attempt(method, path, body).await;
        answer.unwrap_or_else(|error| panic!("{method} {path} got no answer: {error:?}"))
    }

    /// Sends a body as it is; there may be no answer, or half of one.
    pub(crate) async fn attempt(
        &self,
        method: &str,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> reqwest::Result<Answer> {
        let verb = Method::from_bytes(method.as_bytes()).unwrap();
        let url = format!("{}{path}", self.service.base);
        let mut request = self.service.client.request(verb, url);
        if !self.key.is_empty() && !self.headers.contains_key("authorization") {
            request = request.bearer_auth(self.key);
        }
        request = request.headers(self.headers.clone());
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body);
        }
        let response = request.send().await?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = response.text().await?;
        let answer = Answer {
            asked: format!("{method} {path}"),
            status,
            headers,
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
            text,
        };
        self.service.compare(method, path, &answer);
        Ok(answer)
    }
}

/// What the service answered.
#[derive(Debug)]
pub(crate) struct Answer {
    asked: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    /// The JSON of the text; null where it is none.
    pub(crate) body: Value,
}

impl Answer {
    /// The body, of an answer with this status.
    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> &Value {
        assert_eq!(self.status, status, "{}: {}", self.asked, self.text);
        &self.body
    }

    /// The body, of a refusal with this status and `error_code`.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> &Value {
        let body = self.is(status);
        assert!(body["error"].is_string(), "no error in {body}");
        assert_eq!(body["error_code"], code, "{}: {body}", self.asked);
        body
    }

    /// The body, of a refusal with this status and no code.
    #[track_caller]
    pub(crate) fn refused_plainly(&self, status: u16) -> &Value {
        let body = self.is(status);
        assert!(body["error"].is_string(), "no error in {body}");
        assert_eq!(body.get("error_code"), None, "{}: {body}", self.asked);
        body
    }

    /// The complaint of a "validation failed" about a field.
    #[track_caller]
    pub(crate) fn invalid(&self, field: &str) -> &Value {
        let body = self.refused_plainly(400);
        assert_eq!(body["error"], "validation failed", "{body}");
        assert!(body["fields"][field].is_string(), "no {field} in {body}");
        body
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> i64 {
        let value = self.header(name);
        let value = value.unwrap_or_else(|| panic!("{}: no header {name}", self.asked));
        value.parse().unwrap()
    }
}

/// The path of a booking, or of what can be done with it.
pub(crate) fn path_of(booking: &Value, what: &str) -> String {
    let id = booking["id"].as_str().expect("a booking's id");
    let slash = if what.is_empty() { "" } else { "/" };
    format!("/v1/bookings/{id}{slash}{what}")
}

pub(crate) fn session_path(session: &Value, what: &str) -> String {
    format!("/v1/sessions/{}{what}", session["id"].as_str().unwrap())
}

/// A body with further fields, or other ones; null takes one away.
pub(crate) fn with(mut body: Value, fields: &Value) -> Value {
    let object = body.as_object_mut().unwrap();
    for (name, value) in fields.as_object().unwrap() {
        if value.is_null() {
            object.shift_remove(name);
        } else {
            object.insert(name.clone(), value.clone());
        }
    }
    body
}

/// The answer that approves the payment that a booking waits for.
pub(crate) fn approval(booking: &Value) -> Value {
    let approval_id = &booking["next_action"]["psp_request"]["approval_id"];
    json!({"psp_response": {"approval_id": approval_id, "status": "approved"}})
}

#[track_caller]
pub(crate) fn list(document: &Value, field: &str) -> Vec<Value> {
    let list = document[field].as_array();
    list.unwrap_or_else(|| panic!("no {field} in {document}"))
        .clone()
}

#[track_caller]
pub(crate) fn instant(value: &Value) -> Timestamp {
    let text = value.as_str().unwrap_or_else(|| panic!("no time: {value}"));
    text.parse().unwrap()
}

/// The names of an object's fields, sorted.
#[track_caller]
pub(crate) fn names(object: &Value) -> Vec<&str> {
    let object = object.as_object();
    let mut names: Vec<&str> = object.unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// An answer to every field that the action asks for.
pub(crate) fn details(booking: &Value) -> Value {
    let mut answer = json!({});
    for field in list(&booking["next_action"], "fields") {
        let name = field.as_str().or_else(|| field["name"].as_str());
        answer[name.expect("a field's name")] = json!("yes");
    }
    answer
}
