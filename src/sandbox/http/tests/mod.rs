//! The endpoints, tested with raw HTTP.

mod access;
mod bookings;
mod deliveries;
mod faults;
mod oddities;
mod sessions;
mod state;

use std::time::Duration;

use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::platform::http_client::{self, Authorities};
use crate::sandbox::rules::delivery::sign;
use crate::sandbox::{Database, LIVE_KEY, Options, Sandbox};

/// A sandbox served on its own port, for as long as the runtime lives.
struct Served {
    base: String,
    client: Client,
}

impl Served {
    async fn fresh() -> Self {
        Self::limited(false).await
    }

    async fn limited(limits: bool) -> Self {
        Self::with(Options {
            limits,
            ..Options::new(Database::Memory)
        })
        .await
    }

    async fn with(mut options: Options) -> Self {
        options.delivery_interval = Duration::from_millis(5);
        let sandbox = Sandbox::open(options).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(sandbox.serve(listener, None, std::future::pending()));
        let client = http_client::builder(true, Authorities::None)
            .build()
            .unwrap();
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

    async fn answer(&self, booking: &Value, body: Value) -> (u16, Value) {
        let id = booking["id"].as_str().unwrap();
        self.post(&format!("/v1/bookings/{id}/continue"), body)
            .await
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

fn names(document: &Value) -> Vec<&str> {
    document
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}
