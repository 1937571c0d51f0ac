//! Faults as a client sees them.

use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn a_fault_happens_as_often_as_asked_and_commits_only_where_it_says_so() {
    let sandbox = Served::fresh().await;
    let create = async |fault: Value| {
        let mut wanted = json!({"on": "POST /v1/bookings"});
        for (field, value) in fault.as_object().unwrap() {
            wanted[field] = value.clone();
        }
        assert_eq!(sandbox.post("/sandbox/faults", wanted).await.0, 201);
        let request = sandbox
            .request("POST", "/v1/bookings")
            .bearer_auth(LIVE_KEY);
        request
            .json(&order("ven_confirms", Value::Null))
            .send()
            .await
    };
    let booked = async || {
        let (_, list) = sandbox.get("/sandbox/bookings").await;
        list["bookings"].as_array().unwrap().len()
    };
    assert!(create(json!({"kind": "drop_before"})).await.is_err());
    assert_eq!(booked().await, 0);
    let response = create(json!({"kind": "status", "status": 503, "body": {"error": "x"}})).await;
    assert_eq!(
        answer(response.unwrap()).await,
        (503, json!({"error": "x"}))
    );
    assert_eq!(booked().await, 0);
    assert!(create(json!({"kind": "drop_after"})).await.is_err());
    assert_eq!(booked().await, 1);
    let response = create(json!({"kind": "truncate", "after_bytes": 10}))
        .await
        .unwrap();
    assert_eq!(response.status(), 201);
    assert!(response.bytes().await.is_err());
    assert_eq!(booked().await, 2);
    let response = create(json!({"kind": "garbage"})).await.unwrap();
    assert!(response.json::<Value>().await.is_err());
    assert_eq!(booked().await, 3);
    let started = std::time::Instant::now();
    let response = create(json!({"kind": "delay", "delay_ms": 50}))
        .await
        .unwrap();
    assert!(started.elapsed() >= Duration::from_millis(50));
    assert_eq!(response.status(), 201);

    let waiting = json!({"on": "GET /v1/bookings/{id}", "kind": "garbage", "times": 3});
    sandbox.post("/sandbox/faults", waiting).await;
    let booking = answer(response).await.1;
    let path = format!("/v1/bookings/{}", booking["id"].as_str().unwrap());
    let response = sandbox.request("GET", &path).send().await.unwrap();
    assert!(response.json::<Value>().await.is_err());
    let (_, list) = sandbox.get("/sandbox/faults").await;
    assert_eq!(names(&list["faults"][0]), ["id", "on", "kind", "times"]);
    assert_eq!(list["faults"][0]["times"], 2);
    let (_, cleared) = sandbox
        .ask("", "DELETE", "/sandbox/faults", Value::Null)
        .await;
    assert_eq!(cleared, json!({"faults": []}));
    assert_eq!(sandbox.reread(&booking).await, booking);
}
