//! Left open by the specification: statuses, scopes, and what is metered.

use serde_json::json;

use crate::service::{OTHER, READ_ONLY, Service, list, path_of, session_path};
use crate::states::unconfirmed;

#[tokio::test]
async fn status_1_what_the_status_does_not_allow_is_409() {
    let service = Service::start(&[]);
    for booking in unconfirmed(&service).await {
        for what in ["modify", "cancel"] {
            let body = json!({"party_size": 3});
            let body = if what == "modify" { body } else { json!({}) };
            service.act(&booking, what, body).await.refused_plainly(409);
        }
        if booking["status"] != "requires_action" {
            for body in [json!({"otp": "123456"}), json!({"psp_abort": true})] {
                let answer = service.act(&booking, "continue", body).await;
                answer.refused_plainly(409);
            }
        }
        assert_eq!(service.read(&booking).await, booking);
    }
    let confirmed = service.book("ven_confirms").await;
    let answer = service
        .act(&confirmed, "continue", json!({"otp": "123456"}))
        .await;
    answer.refused_plainly(409);
}

#[tokio::test]
async fn status_2_a_wrong_otp_counts_down_to_failed() {
    let service = Service::start(&[]);
    let booking = service.book("ven_otp").await;
    for left in [4, 3, 2, 1] {
        let wrong = json!({"otp": "000000"});
        let answer = service.act(&booking, "continue", wrong).await;
        let body = answer.refused(400, "invalid_otp");
        assert_eq!(body["attempts_left"], left);
        assert_eq!(service.read(&booking).await["status"], "requires_action");
    }
    let wrong = json!({"otp": "000000"});
    service.act(&booking, "continue", wrong).await.is(400);
    let read = service.read(&booking).await;
    assert_eq!(read["status"], "failed");
    assert_eq!(read["error_code"], "otp_attempts_exceeded");
    let code = json!({"otp": service.code().await});
    service.act(&booking, "continue", code).await.is(409);
}

#[tokio::test]
async fn status_4_an_unknown_session_is_404() {
    let service = Service::start(&[]);
    let path = "/v1/sessions/ses_unknown";
    service.get(path).await.refused_plainly(404);
    service.delete(path).await.refused_plainly(404);
    service
        .get(&format!("{path}/card"))
        .await
        .refused_plainly(404);
    let verify = format!("{path}/verify");
    service
        .post(&verify, json!({"code": "123456"}))
        .await
        .refused_plainly(404);
    // Another organization's is as good as unknown.
    let session = service.connect("ada", "+441632960001").await;
    let answer = service.with(OTHER).get(&session_path(&session, "")).await;
    answer.refused_plainly(404);
    let answer = service
        .with(OTHER)
        .delete(&session_path(&session, ""))
        .await;
    answer.refused_plainly(404);
    let listed = service.with(OTHER).get("/v1/sessions").await;
    assert!(list(listed.is(200), "sessions").is_empty());
}

#[tokio::test]
async fn status_9_an_unknown_path_is_404_and_a_wrong_method_405() {
    let service = Service::start(&[]);
    for path in [
        "/v1/nowhere",
        "/v1/bookings/bk_1/pay",
        "/v1/sessions/ses_1/card/x",
    ] {
        service.get(path).await.refused_plainly(404);
    }
    for (method, path) in [
        ("GET", "/v1/bookings"),
        ("GET", "/v1/venues/search"),
        ("DELETE", "/v1/bookings/bk_1"),
        ("PUT", "/v1/sessions"),
        ("GET", "/v1/bookings/bk_1/cancel"),
        ("POST", "/v1/"),
    ] {
        let answer = service.live().call(method, path, None).await;
        answer.refused_plainly(405);
    }
}

#[tokio::test]
async fn scope_1_the_index_needs_none() {
    let service = Service::start(&[]);
    service.with(READ_ONLY).get("/v1/").await.is(200);
}

#[tokio::test]
async fn scope_2_reading_needs_the_read_scopes_alone() {
    let service = Service::start(&[]);
    let booking = service.book("ven_confirms").await;
    let session = service.sign_in("ada", "+441632960001").await;
    let reader = service.with(READ_ONLY);
    let search = json!({
        "vertical": "dining", "location": "Sandbox", "datetime": service.evening(1).await,
    });
    reader.post("/v1/venues/search", search).await.is(200);
    let slots = json!({
        "venue_id": "ven_confirms", "datetime": service.evening(1).await, "party_size": 2,
    });
    reader.post("/v1/availability/search", slots).await.is(200);
    reader.get(&path_of(&booking, "")).await.is(200);
    reader.get("/v1/sessions").await.is(200);
    reader.get(&session_path(&session, "")).await.is(200);
    reader.get(&session_path(&session, "/card")).await.is(200);
}

#[tokio::test]
async fn meter_1_modify_is_limited_like_continue() {
    let service = Service::start(&[]);
    let booking = service.book("ven_confirms").await;
    for _ in 0..20 {
        let answer = service.act(&booking, "modify", json!({})).await;
        assert_eq!(answer.number("ratelimit-limit"), 20);
        assert_ne!(answer.status, 429);
    }
    let answer = service.act(&booking, "modify", json!({})).await;
    assert_eq!(answer.is(429)["limit"], 20);
    // The two do not share it.
    let answer = service.act(&booking, "continue", json!({})).await;
    answer.is(409);
}

#[tokio::test]
async fn meter_2_index_and_sessions_are_not_metered() {
    let service = Service::start(&[]);
    let session = service.connect("ada", "+441632960001").await;
    for _ in 0..35 {
        for path in ["/v1/", "/v1/sessions", &session_path(&session, "")] {
            let answer = service.get(path).await;
            answer.is(200);
            assert_eq!(answer.header("ratelimit-limit"), None);
        }
    }
    let answer = service.delete(&session_path(&session, "")).await;
    answer.is(200);
    assert_eq!(answer.header("ratelimit-limit"), None);
}
