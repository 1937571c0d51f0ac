//! The organization's own webhook endpoint: a real HTTP server that keeps what it is sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::IntoResponse;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

use crate::service::Service;

/// A fresh sandbox, and a receiver of its webhooks.
pub(crate) async fn subscribed() -> (Service, Receiver) {
    let service = Service::start(&[]);
    let receiver = Receiver::start().await;
    service.settings(json!({"webhook_url": receiver.url})).await;
    (service, receiver)
}

/// What the endpoint says to an attempt: a status, after a while.
#[derive(Clone, Copy)]
pub(crate) struct Reply(pub(crate) u16, pub(crate) Duration);

/// An attempt as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) method: String,
    pub(crate) headers: HeaderMap,
    pub(crate) raw: Vec<u8>,
    pub(crate) event: Value,
    pub(crate) at: Timestamp,
}

impl Attempt {
    pub(crate) fn kind(&self) -> &str {
        self.event["type"].as_str().unwrap()
    }

    pub(crate) fn object(&self) -> &Value {
        &self.event["data"]["object"]
    }

    /// `t` and `v1` of the signature header.
    pub(crate) fn signature(&self) -> (String, String) {
        let header = self.headers["booking-signature"].to_str().unwrap();
        let (t, v1) = header.split_once(",v1=").expect("t=…,v1=…");
        let t = t.strip_prefix("t=").expect("t first");
        (t.to_owned(), v1.to_owned())
    }

    /// Whether the signature is the secret's, over the raw bytes.
    pub(crate) fn is_signed_with(&self, secret: &str) -> bool {
        let (t, v1) = self.signature();
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(t.as_bytes());
        mac.update(b".");
        mac.update(&self.raw);
        let own: String = mac
            .finalize()
            .into_bytes()
            .iter()
            .map(|it| format!("{it:02x}"))
            .collect();
        own == v1
    }
}

type Says = Arc<dyn Fn(&Attempt, usize) -> Reply + Send + Sync>;

#[derive(Clone)]
struct Desk {
    attempts: Arc<Mutex<Vec<Attempt>>>,
    says: Says,
}

/// A receiver on a port of its own, for as long as the test's runtime lives.
pub(crate) struct Receiver {
    pub(crate) url: String,
    attempts: Arc<Mutex<Vec<Attempt>>>,
}

impl Receiver {
    /// One that takes everything.
    pub(crate) async fn start() -> Self {
        Self::saying(|_, _| Reply(200, Duration::ZERO)).await
    }

    /// One that decides what it says by the attempt and by how many came before.
    pub(crate) async fn saying(
        says: impl Fn(&Attempt, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let attempts = Arc::default();
        let desk = Desk {
            attempts: Arc::clone(&attempts),
            says: Arc::new(says),
        };
        let router = Router::new().fallback(take).with_state(desk);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, attempts }
    }

    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        self.attempts.lock().unwrap().clone()
    }

    /// The kinds of the events that came about a booking, in the order in which they happened.
    pub(crate) fn kinds(&self, booking: &Value) -> Vec<String> {
        let mut attempts = self.attempts();
        attempts.retain(|it| it.object()["id"] == booking["id"]);
        attempts.sort_by_key(|it| it.event["id"].as_str().unwrap().to_owned());
        attempts.dedup_by_key(|it| it.event["id"].as_str().unwrap().to_owned());
        attempts.iter().map(|it| it.kind().to_owned()).collect()
    }

    /// The attempts, once so many of them satisfy the condition.
    pub(crate) async fn wait(
        &self,
        number: usize,
        condition: impl Fn(&Attempt) -> bool,
    ) -> Vec<Attempt> {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let mut attempts = self.attempts();
            attempts.retain(&condition);
            if attempts.len() >= number {
                return attempts;
            }
            assert!(
                Instant::now() < deadline,
                "only {} of {number} attempts came: {:?}",
                attempts.len(),
                self.attempts()
                    .iter()
                    .map(|it| it.event.to_string())
                    .collect::<Vec<_>>()
            );
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// The first attempt at an event of this kind about the booking.
    pub(crate) async fn event(&self, kind: &str, booking: &Value) -> Attempt {
        let id = booking["id"].clone();
        let found = self
            .wait(1, |it| it.kind() == kind && it.object()["id"] == id)
            .await;
        found[0].clone()
    }
}

async fn take(
    State(desk): State<Desk>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> impl IntoResponse {
    let attempt = Attempt {
        method: method.to_string(),
        headers,
        event: serde_json::from_slice(&body).unwrap_or(Value::Null),
        raw: body.to_vec(),
        at: Timestamp::now(),
    };
    let before = {
        let mut attempts = desk.attempts.lock().unwrap();
        attempts.push(attempt.clone());
        attempts.len() - 1
    };
    let Reply(status, after) = (desk.says)(&attempt, before);
    sleep(after).await;
    let status = StatusCode::from_u16(status).unwrap();
    // Of no meaning but in a redirect, which would lead here again.
    (status, [("location", "/hook")])
}
