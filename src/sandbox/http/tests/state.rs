//! What the store keeps, and what a reset deletes.

use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn reset_forgets_everything_and_date_is_the_sandboxs_clock() {
    let sandbox = Served::fresh().await;
    sandbox.book("ven_confirms", Value::Null).await;
    sandbox.advance("2d").await;
    let response = sandbox
        .request("GET", "/sandbox/clock")
        .send()
        .await
        .unwrap();
    let date = response.headers()["date"].to_str().unwrap().to_owned();
    let date = jiff::fmt::rfc2822::parse(&date).unwrap().timestamp();
    let (_, clock) = answer(response).await;
    assert_eq!(clock["offset_seconds"], 172_800);
    let now: jiff::Timestamp = clock["now"].as_str().unwrap().parse().unwrap();
    assert!(now.duration_since(date).as_secs().abs() <= 2);
    assert_eq!(sandbox.post("/sandbox/reset", Value::Null).await.0, 200);
    assert_eq!(
        sandbox.get("/sandbox/bookings").await.1,
        json!({"bookings": []})
    );
    assert_eq!(sandbox.get("/sandbox/clock").await.1["offset_seconds"], 0);
}

#[tokio::test]
async fn eight_sandboxes_share_one_file_from_the_first_moment_on() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("sandbox.db");
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let database = Database::File(path.clone());
            std::thread::spawn(move || {
                let mut runtime = tokio::runtime::Builder::new_current_thread();
                runtime.enable_all().build().unwrap().block_on(async {
                    let sandbox = Served::with(Options::new(database)).await;
                    sandbox.book("ven_confirms", Value::Null).await
                })
            })
        })
        .collect();
    let confirmed = threads
        .into_iter()
        .map(|it| it.join().unwrap())
        .inspect(|(status, _)| assert_eq!(*status, 201))
        .filter(|(_, booking)| booking["status"] == "confirmed")
        .count();
    let sandbox = Served::with(Options::new(Database::File(path))).await;
    let (_, kept) = sandbox.get("/sandbox/bookings").await;
    assert_eq!(kept["bookings"].as_array().unwrap().len(), 8);
    assert!(confirmed >= 3, "{confirmed}");
    tokio::time::timeout(Duration::from_secs(5), sandbox.get("/v1/"))
        .await
        .unwrap();
}

#[tokio::test]
async fn what_another_process_changes_holds_for_the_next_request() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("sandbox.db");
    let shared = || Served::with(Options::new(Database::File(path.clone())));
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
    let (status, _) = other
        .ask(LIVE_KEY, "PUT", "/sandbox/organization", suspended)
        .await;
    assert_eq!(status, 200);
    assert_eq!(one.get(&read).await.0, 403);
}
