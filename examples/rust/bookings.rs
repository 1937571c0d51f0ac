//! tests/bookings.rs: cargo test
//!
//! The crates are `axum`, `hmac`, `jiff`, `reqwest` with `json`, `rustls` with `ring`, `serde_json`,
//! `sha2`, and `tokio` with `macros` and `rt`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

struct Sandbox {
    process: Child,
    url: String,
    client: reqwest::Client,
}

impl Sandbox {
    /// Starts a sandbox of its own, so that tests can run in parallel.
    fn start() -> Self {
        let bookctl = option_env!("CARGO_BIN_EXE_bookctl").unwrap_or("bookctl");
        let mut process = Command::new(bookctl)
            .args(["sandbox", "serve", "--port", "0", "--ephemeral", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = process.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        // Needed only where reqwest is built with `rustls-no-provider`.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            process,
            url: ready["base_url"].as_str().unwrap().to_owned(),
            client: reqwest::Client::new(),
        }
    }

    async fn call(&self, method: &str, path: &str, body: Value) -> Value {
        let url = format!("{}{path}", self.url);
        let request = self.client.request(method.parse().unwrap(), url);
        let request = request.bearer_auth("sk_live_sandbox").json(&body);
        request.send().await.unwrap().json().await.unwrap()
    }

    /// Books for tomorrow, by the sandbox's clock.
    async fn book(&self, venue: &str) -> Value {
        let clock = self.call("GET", "/sandbox/clock", Value::Null).await;
        let now: jiff::Timestamp = clock["now"].as_str().unwrap().parse().unwrap();
        let tomorrow = (now + jiff::SignedDuration::from_hours(24)).strftime("%Y-%m-%d");
        let booking = json!({
            "venue_id": venue,
            "datetime": format!("{tomorrow}T19:30:00Z"),
            "party_size": 2,
            "customer": {"name": "Ada Lovelace"},
        });
        self.call("POST", "/v1/bookings", booking).await
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn a_one_time_code_confirms_the_booking() {
    let sandbox = Sandbox::start();
    let booking = sandbox.book("ven_otp").await;
    assert_eq!(booking["next_action"]["type"], "otp");
    let inbox = sandbox.call("GET", "/sandbox/inbox", Value::Null).await;
    let path = format!("/v1/bookings/{}/continue", booking["id"].as_str().unwrap());
    let code = json!({"otp": inbox["messages"][0]["code"]});
    let booking = sandbox.call("POST", &path, code).await;
    assert_eq!(booking["status"], "confirmed");
}

#[tokio::test]
async fn a_code_that_is_not_given_expires() {
    let sandbox = Sandbox::start();
    // The clock stands still: only this test moves it.
    let freeze = json!({"freeze": true});
    sandbox.call("POST", "/sandbox/clock", freeze).await;
    let booking = sandbox.book("ven_otp").await;
    let advance = json!({"advance": "21m"});
    sandbox.call("POST", "/sandbox/clock", advance).await;
    let path = format!("/v1/bookings/{}", booking["id"].as_str().unwrap());
    let booking = sandbox.call("GET", &path, Value::Null).await;
    assert_eq!(booking["status"], "expired");
}

#[tokio::test]
async fn a_webhook_is_signed() {
    let sandbox = Sandbox::start();
    let (sender, mut received) = mpsc::unbounded_channel();
    let hook = post(async move |headers: HeaderMap, body: String| {
        sender.send((headers, body)).unwrap();
        StatusCode::NO_CONTENT
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/webhooks", listener.local_addr().unwrap());
    let app = Router::new().route("/webhooks", hook);
    tokio::spawn(async move { axum::serve(listener, app).await });

    let settings = json!({"webhook_url": url});
    let organization = sandbox.call("PUT", "/sandbox/organization", settings).await;
    sandbox.book("ven_confirms").await;
    let (headers, body) = received.recv().await.unwrap();

    let signature = headers["Booking-Signature"].to_str().unwrap();
    let (time, signature) = signature.split_once(",v1=").unwrap();
    let secret = organization["webhook_secret"].as_str().unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(time.trim_start_matches("t=").as_bytes());
    mac.update(b".");
    mac.update(body.as_bytes());
    let expected: String =
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(signature, expected);
    let event: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(event["type"], "booking.created");
}
