//! Requests that no well-behaved client sends.

use std::io::{Read, Write};
use std::net::TcpStream;

use reqwest::header::HeaderValue;
use serde_json::{Value, json};

use super::*;

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
        (
            404,
            json!({"error": "booking not found", "open_bookings": []})
        )
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
