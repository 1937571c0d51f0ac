//! The endpoints, tested with raw HTTP, where the statements of the specification say nothing:
//! requests that no well-behaved client sends, and several processes at one file.

use std::io::{Read, Write};
use std::net::TcpStream;

use reqwest::header::HeaderValue;
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::platform::http_client;
use crate::sandbox::{LIVE_KEY, Options, Sandbox};

/// A sandbox served on its own port, for as long as the runtime lives.
struct Served {
    base: String,
    client: Client,
}

impl Served {
    async fn fresh() -> Self {
        Self::with(Options::new(None)).await
    }

    async fn with(options: Options) -> Self {
        let sandbox = Sandbox::open(options).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(sandbox.serve(listener, None, std::future::pending()));
        let client = http_client::builder(true, None).build().unwrap();
        Self { base, client }
    }

    fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.client.request(method, format!("{}{path}", self.base))
    }

    async fn ask(&self, key: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
        let mut request = self.request(method, path).bearer_auth(key);
        if !body.is_null() {
            request = request.json(&body);
        }
        answer(request.send().await.unwrap()).await
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.ask(LIVE_KEY, "GET", path, Value::Null).await
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.ask(LIVE_KEY, "POST", path, body).await
    }

    /// Books a table at 19:00 in three days.
    async fn book(&self, venue: &str, more: Value) -> (u16, Value) {
        self.post("/v1/bookings", order(venue, more)).await
    }

    async fn advance(&self, by: &str) {
        let (status, _) = self.post("/sandbox/clock", json!({"advance": by})).await;
        assert_eq!(status, 200);
    }

    async fn reread(&self, booking: &Value) -> Value {
        let id = booking["id"].as_str().unwrap();
        let (status, booking) = self.get(&format!("/v1/bookings/{id}")).await;
        assert_eq!(status, 200);
        booking
    }
}

async fn answer(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    (status, response.json().await.unwrap())
}

fn dinner_time() -> String {
    let day = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(72);
    format!("{}T19:00:00Z", day.strftime("%Y-%m-%d"))
}

fn order(venue: &str, more: Value) -> Value {
    let mut order = json!({
        "venue_id": venue,
        "datetime": dinner_time(),
        "party_size": 2,
        "customer": {"name": "Ada Lovelace", "phone": "+441632960001"},
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        order[field] = value.clone();
    }
    order
}

/// The response to these bytes, until the connection closes.
async fn raw(sandbox: &Served, bytes: String) -> String {
    let address = sandbox.base.replace("http://", "");
    let exchange = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    tokio::task::spawn_blocking(exchange).await.unwrap()
}

#[tokio::test]
async fn a_body_that_breaks_off_does_nothing() {
    let sandbox = Served::fresh().await;
    let (_, booking) = sandbox.book("ven_confirms", Value::Null).await;
    let id = booking["id"].as_str().unwrap();
    let host = sandbox.base.replace("http://", "");
    let answer = raw(
        &sandbox,
        format!(
            "POST /v1/bookings/{id}/cancel HTTP/1.1\r\nhost: {host}\r\n\
             authorization: Bearer {LIVE_KEY}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"
        ),
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert_eq!(sandbox.reread(&booking).await["status"], "confirmed");
}

#[tokio::test]
async fn an_id_that_is_no_text_is_the_id_of_nothing() {
    let sandbox = Served::fresh().await;
    assert_eq!(
        sandbox.get("/v1/bookings/%ff").await,
        (404, json!({"error": "booking not found", "open_bookings": []}))
    );
}

#[tokio::test]
async fn idempotency_keys_that_differ_in_any_byte_are_two() {
    let sandbox = Served::fresh().await;
    let mut ids = Vec::new();
    for key in [b"k-\xe8", b"k-\xe9"] {
        let request = sandbox
            .request("POST", "/v1/bookings")
            .bearer_auth(LIVE_KEY)
            .header("idempotency-key", HeaderValue::from_bytes(key).unwrap())
            .json(&order("ven_confirms", Value::Null));
        let (status, booking) = answer(request.send().await.unwrap()).await;
        assert_eq!(status, 201);
        ids.push(booking["id"].clone());
    }
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn what_another_process_changes_holds_for_the_next_request() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("sandbox.db");
    let shared = || Served::with(Options::new(Some(path.clone())));
    let (one, other) = (shared().await, shared().await);
    let (_, booking) = one.book("ven_processing", Value::Null).await;
    let read = format!("/v1/bookings/{}", booking["id"].as_str().unwrap());
    assert_eq!(one.get(&read).await.1["status"], "processing");

    other.advance("2d").await;
    assert_eq!(one.get(&read).await.1["status"], "confirmed");
    assert_eq!(one.get("/sandbox/clock").await.1["offset_seconds"], 172_800);

    let fault = json!({"on": "any", "kind": "status", "status": 503, "times": 1});
    assert_eq!(other.post("/sandbox/faults", fault).await.0, 201);
    assert_eq!(one.get(&read).await.0, 503);
    assert_eq!(one.get(&read).await.0, 200);

    let suspended = json!({"suspended": true});
    let (status, _) = other.ask(LIVE_KEY, "PUT", "/sandbox/organization", suspended).await;
    assert_eq!(status, 200);
    assert_eq!(one.get(&read).await.0, 403);
}
