//! A served sandbox, and the little that tests need to talk to it.

use std::io::{BufRead, BufReader, read_to_string};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::answer::Answer;
use super::described;
use super::http::try_exchange;

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

    /// A fresh one, and a booking at this venue.
    pub(crate) fn with_booking(venue: &str) -> (Self, Value) {
        let service = Self::start(&[]);
        let booking = service.book(venue);
        (service, booking)
    }

    /// The same, paid through the vendor.
    pub(crate) fn with_paid(venue: &str) -> (Self, Value) {
        let service = Self::start(&[]);
        let booking = service.book_paid(venue);
        (service, booking)
    }

    /// A fresh one, and what asks for a table at this venue.
    pub(crate) fn with_order(venue: &str) -> (Self, Value) {
        let service = Self::start(&[]);
        let order = service.order(venue);
        (service, order)
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
        let stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || read_to_string(stderr).unwrap_or_default());
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.is_empty() {
            let _ = child.kill();
            panic!("the server did not start: {}", errors.join().unwrap());
        }
        let ready: Value = serde_json::from_str(&line).unwrap();
        Self {
            child,
            errors: Some(errors),
            base: ready["base_url"].as_str().unwrap().to_owned(),
            ready,
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
        Caller { service: self, key, headers: Vec::new() }
    }

    /// A caller with the live key.
    pub(crate) fn live(&self) -> Caller<'_> {
        self.with(LIVE)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.live().get(path)
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Answer {
        self.live().post(path, body)
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.live().delete(path)
    }

    /// Moves the sandbox's clock.
    pub(crate) fn advance(&self, by: &str) {
        self.post("/sandbox/clock", json!({"advance": by})).is(200);
    }

    /// The sandbox's clock.
    pub(crate) fn now(&self) -> Timestamp {
        instant(&self.get("/sandbox/clock").is(200)["now"])
    }

    /// 19:30 of a day so many days ahead, at a venue in UTC.
    pub(crate) fn evening(&self, days: i64) -> String {
        let day = self.now() + SignedDuration::from_hours(24 * days);
        format!("{}T19:30:00+00:00", day.strftime("%Y-%m-%d"))
    }

    /// The bookings of every organization, oldest first.
    pub(crate) fn bookings(&self) -> Vec<Value> {
        list(self.get("/sandbox/bookings").is(200), "bookings")
    }

    /// The messages that were texted, newest first.
    pub(crate) fn inbox(&self) -> Vec<Value> {
        list(self.get("/sandbox/inbox").is(200), "messages")
    }

    /// The code that was texted last.
    pub(crate) fn code(&self) -> String {
        self.inbox()[0]["code"].as_str().unwrap().to_owned()
    }

    /// Makes the next create fail so.
    pub(crate) fn fault(&self, how: Value) {
        let on = json!({"on": "POST /v1/bookings", "times": 1});
        self.post("/sandbox/faults", with(on, &how)).is(201);
    }

    /// Changes what the dashboard sets for the organization.
    pub(crate) fn settings(&self, settings: Value) {
        self.live().call("PUT", "/sandbox/organization", Some(settings)).is(200);
    }

    /// What a search for a vertical near a place returns.
    pub(crate) fn venues(&self, vertical: &str, near: &str) -> Vec<Value> {
        let answer = self.post("/v1/venues/search", self.search(vertical, near));
        list(answer.is(200), "venues")
    }

    /// What searches for a vertical near a place, tomorrow evening.
    pub(crate) fn search(&self, vertical: &str, near: &str) -> Value {
        json!({"vertical": vertical, "location": near, "datetime": self.evening(1)})
    }

    /// A seeded venue that the provider alone serves, found by a search, so that it is known.
    pub(crate) fn search_then(&self, vertical: &str, near: &str, provider: &str) -> Value {
        self.venues(vertical, near)
            .into_iter()
            .find(|it| it["provider"] == provider)
            .unwrap_or_else(|| panic!("no {vertical} venue of {provider} near {near}"))
    }

    /// The slots of a venue tomorrow.
    pub(crate) fn slots(&self, venue: &str) -> Vec<Value> {
        self.slots_on(venue, &self.evening(1))
    }

    /// The slots of a venue on the day of this time.
    pub(crate) fn slots_on(&self, venue: &str, time: &str) -> Vec<Value> {
        let answer = self.post("/v1/availability/search", day(venue, time));
        list(answer.is(200), "slots")
    }

    /// A slot of a venue, as the availability offers it.
    pub(crate) fn new_slot(&self, venue: &str) -> Value {
        let slots = self.slots(venue);
        slots.into_iter().next().expect("a slot tomorrow")
    }

    /// What asks for a table of two tomorrow evening.
    pub(crate) fn order(&self, venue: &str) -> Value {
        json!({
            "venue_id": venue,
            "datetime": self.evening(1),
            "party_size": 2,
            "customer": {
                "name": "Ada Lovelace", "email": "ada@example.com", "phone": "+441632960001",
            },
        })
    }

    /// Asks for such a table.
    pub(crate) fn create(&self, venue: &str) -> Answer {
        let order = self.order(venue);
        self.post("/v1/bookings", order)
    }

    /// Asks for such a table with further fields.
    pub(crate) fn create_with(&self, venue: &str, fields: Value) -> Answer {
        let order = with(self.order(venue), &fields);
        self.post("/v1/bookings", order)
    }

    /// Such a booking, created.
    pub(crate) fn book(&self, venue: &str) -> Value {
        self.create(venue).is(201).clone()
    }

    /// Such a booking, paid through the vendor.
    pub(crate) fn book_paid(&self, venue: &str) -> Value {
        let fields = json!({"payment_collection": "vendor_external"});
        self.create_with(venue, fields).is(201).clone()
    }

    /// A booking as it stands now.
    pub(crate) fn read(&self, booking: &Value) -> Value {
        self.get(&path_of(booking, "")).is(200).clone()
    }

    /// Calls continue, modify or cancel of a booking.
    pub(crate) fn act(&self, booking: &Value, what: &str, body: Value) -> Answer {
        self.post(&path_of(booking, what), body)
    }

    /// A person's session that waits for its code.
    pub(crate) fn connect(&self, person: &str, phone: &str) -> Value {
        let body = json!({"end_user": person, "provider": "provider_b", "phone": phone});
        self.post("/v1/sessions", body).is(201).clone()
    }

    /// A person's active session.
    pub(crate) fn sign_in(&self, person: &str, phone: &str) -> Value {
        let session = self.connect(person, phone);
        let code = self.code();
        self.post(&session_path(&session, "/verify"), json!({"code": code})).is(200).clone()
    }

    /// Holds an answer against the OpenAPI documents. A request that is not valid HTTP gets none of
    /// theirs.
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
    pub(crate) fn deliveries(&self) -> Vec<Value> {
        list(self.get("/sandbox/deliveries").is(200), "deliveries")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.kill();
        let errors = self.errors.take().and_then(|it| it.join().ok());
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
    headers: Vec<(String, String)>,
}

impl Caller<'_> {
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With an `Idempotency-Key`.
    pub(crate) fn keyed(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.call("GET", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Answer {
        self.call("POST", path, Some(body))
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.call("DELETE", path, None)
    }

    pub(crate) fn call(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        self.raw(method, path, body.map(|it| it.to_string().into_bytes()))
    }

    /// Sends a body as it is.
    pub(crate) fn raw(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Answer {
        let answer = self.attempt(method, path, body);
        answer.unwrap_or_else(|| panic!("{method} {path} got no answer"))
    }

    /// Sends a body as it is; there may be no answer, or half of one, which is none.
    pub(crate) fn attempt(
        &self,
        method: &str,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Option<Answer> {
        let mut headers = self.headers.clone();
        if !self.key.is_empty() {
            headers.push(("authorization".to_owned(), format!("Bearer {}", self.key)));
        }
        let headers: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let body = body.unwrap_or_default();
        let message = try_exchange(&self.service.base, method, path, &headers, &body)?;
        let answer = Answer {
            asked: format!("{method} {path}"),
            status: message.status(),
            body: message.json(),
            text: String::from_utf8_lossy(&message.body).into_owned(),
            message,
        };
        self.service.compare(method, path, &answer);
        Some(answer)
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

/// What asks for the slots of a venue for two, on the day of this time.
pub(crate) fn day(venue: &str, time: &str) -> Value {
    json!({"venue_id": venue, "datetime": time, "party_size": 2})
}

/// What asks for this slot.
pub(crate) fn of_slot(slot: &Value) -> Value {
    json!({"availability_id": slot["availability_id"], "datetime": slot["datetime"]})
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
    list.unwrap_or_else(|| panic!("no {field} in {document}")).clone()
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
