//! Webhooks as a consumer sees them.

use serde_json::{Value, json};

use super::*;

/// A consumer that responds with the given statuses in turn and keeps what it was sent.
struct App {
    url: String,
    received: tokio::sync::mpsc::UnboundedReceiver<(axum::http::HeaderMap, String)>,
}

impl App {
    async fn answering(statuses: &'static [u16]) -> Self {
        let (sender, received) = tokio::sync::mpsc::unbounded_channel();
        let turn = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let hook = move |headers: axum::http::HeaderMap, body: String| async move {
            let _ = sender.send((headers, body));
            let turn = turn.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            axum::http::StatusCode::from_u16(statuses[turn % statuses.len()]).unwrap()
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let router = axum::Router::new().route("/hook", axum::routing::post(hook));
        tokio::spawn(async { axum::serve(listener, router).await });
        Self { url, received }
    }
}

#[tokio::test]
async fn an_event_is_delivered_signed_and_a_failed_one_retried_by_the_sandboxs_clock() {
    let sandbox = Served::fresh().await;
    sandbox.book("ven_confirms", Value::Null).await;
    let mut app = App::answering(&[200, 500, 500, 302, 404, 204]).await;
    let settings = json!({"webhook_url": app.url, "webhook_secret": "s"});
    sandbox
        .ask("", "PUT", "/sandbox/organization", settings)
        .await;
    let (_, booking) = sandbox.book("ven_confirms", Value::Null).await;

    let mut kinds = Vec::new();
    for _ in 0..2 {
        let (headers, body) = app.received.recv().await.unwrap();
        let header = |name: &str| headers[name].to_str().unwrap();
        assert_eq!(header("booking-delivery-attempt"), "1");
        let signature = header("booking-signature");
        let at = signature[2..signature.find(',').unwrap()].parse().unwrap();
        let at = jiff::Timestamp::from_second(at).unwrap();
        assert_eq!(sign("s", at, body.as_bytes()), signature);
        let event: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            names(&event),
            ["id", "object", "type", "created_at", "data"]
        );
        assert_eq!(event["data"]["object"]["id"], booking["id"]);
        kinds.push(event["type"].as_str().unwrap().to_owned());
    }
    kinds.sort();
    assert_eq!(kinds, ["booking.confirmed", "booking.created"]);

    for (pause, number) in [("30s", 2), ("2m", 3), ("10m", 4)] {
        let is_waiting = |it: &Value| {
            it["attempts"].as_array().unwrap().len() == number - 1 && it["state"] == "pending"
        };
        settled(&sandbox, is_waiting).await;
        sandbox.advance(pause).await;
        let (headers, _) = app.received.recv().await.unwrap();
        assert_eq!(headers["booking-delivery-attempt"], number.to_string());
    }
    let abandoned = settled(&sandbox, |it| it["state"] == "abandoned").await;
    assert_eq!(abandoned["attempts"][3]["status"], 404);
    assert_eq!(abandoned.get("next_attempt_at"), None);
    let id = abandoned["event_id"].as_str().unwrap();
    let (status, _) = sandbox
        .post(&format!("/sandbox/deliveries/{id}/resend"), Value::Null)
        .await;
    assert_eq!(status, 200);
    assert_eq!(
        app.received.recv().await.unwrap().0["booking-delivery-attempt"],
        "5"
    );
    settled(&sandbox, |it| {
        it["event_id"] == id && it["state"] == "delivered"
    })
    .await;
}

async fn settled(sandbox: &Served, wanted: impl Fn(&Value) -> bool) -> Value {
    let search = async {
        loop {
            let (_, list) = sandbox.get("/sandbox/deliveries").await;
            let deliveries = list["deliveries"].as_array().unwrap();
            if let Some(found) = deliveries.iter().find(|it| wanted(it)) {
                return found.clone();
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(5), search)
        .await
        .unwrap()
}
