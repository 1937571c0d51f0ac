//! Sessions of connected persons.

use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn a_person_connects_shows_a_card_books_and_is_forgotten() {
    let sandbox = Served::fresh().await;
    let books = json!({"end_user": "ada"});
    let (status, error) = sandbox.book("ven_confirms_b", books.clone()).await;
    assert_eq!(
        (status, &error["error_code"]),
        (409, &json!("reconnect_required"))
    );
    assert_eq!(sandbox.get("/v1/sessions/card?end_user=ada").await.0, 404);

    let connect = json!({"end_user": "ada", "provider": "provider_b", "phone": "+441632960001"});
    let (status, session) = sandbox.post("/v1/sessions", connect.clone()).await;
    assert_eq!(status, 201);
    assert_eq!(
        names(&session),
        [
            "id",
            "object",
            "provider",
            "state",
            "end_user",
            "created_at"
        ]
    );
    let path = format!("/v1/sessions/{}", session["id"].as_str().unwrap());
    let (status, error) = sandbox.get(&format!("{path}/card")).await;
    assert_eq!(
        (status, &error["error_code"]),
        (409, &json!("reconnect_required"))
    );
    let verify = format!("{path}/verify");
    let (status, error) = sandbox.post(&verify, json!({"code": "000000"})).await;
    assert_eq!(
        (status, &error["error_code"]),
        (400, &json!("invalid_code"))
    );
    let (_, inbox) = sandbox.get("/sandbox/inbox").await;
    assert_eq!(inbox["messages"][0]["session_id"], session["id"]);
    let code = json!({"code": inbox["messages"][0]["code"]});
    let (status, active) = sandbox.post(&verify, code).await;
    assert_eq!((status, &active["state"]), (200, &json!("active")));

    let card = json!({"has_card": true});
    assert_eq!(
        sandbox.get(&format!("{path}/card")).await,
        (200, card.clone())
    );
    assert_eq!(
        sandbox.get("/v1/sessions/card?end_user=ada").await,
        (200, card)
    );
    let list = async |query: &str| {
        let (_, list) = sandbox.get(&format!("/v1/sessions?{query}")).await;
        list["sessions"].as_array().unwrap().len()
    };
    assert_eq!(
        list("end_user=ada&provider=provider_b&state=active").await,
        1
    );
    assert_eq!(list("state=pending").await, 0);
    assert_eq!(sandbox.book("ven_confirms_b", books).await.0, 201);

    let (status, error) = sandbox
        .ask("sk_test_sandbox", "POST", "/v1/sessions", connect)
        .await;
    assert_eq!(
        (status, &error["error_code"]),
        (403, &json!("live_key_required"))
    );
    let other = sandbox
        .ask("sk_live_other", "GET", &path, Value::Null)
        .await;
    assert_eq!(other, (404, json!({"error": "session not found"})));
    let (_, deleted) = sandbox.ask(LIVE_KEY, "DELETE", &path, Value::Null).await;
    assert_eq!(
        deleted,
        json!({"id": session["id"], "object": "session", "deleted": true})
    );
    assert_eq!(sandbox.get(&path).await.0, 404);
}
