//! Left open by the specification: statuses, scopes, and what is metered.

use serde_json::json;

use crate::service::{OTHER, READ_ONLY, Service, day, list, path_of, session_path};
use crate::states::unconfirmed;

#[test]
fn status_1_what_the_status_does_not_allow_is_409() {
    let service = Service::start(&[]);
    for booking in unconfirmed(&service) {
        for what in ["modify", "cancel"] {
            let body = json!({"party_size": 3});
            let body = if what == "modify" { body } else { json!({}) };
            service.act(&booking, what, body).refused_plainly(409);
        }
        if booking["status"] != "requires_action" {
            for body in [json!({"otp": "123456"}), json!({"psp_abort": true})] {
                service.act(&booking, "continue", body).refused_plainly(409);
            }
        }
        assert_eq!(service.read(&booking), booking);
    }
    let confirmed = service.book("ven_confirms");
    service.act(&confirmed, "continue", json!({"otp": "123456"})).refused_plainly(409);
}

#[test]
fn status_2_a_wrong_otp_counts_down_to_failed() {
    let (service, booking) = Service::with_booking("ven_otp");
    for left in [4, 3, 2, 1] {
        let answer = service.act(&booking, "continue", json!({"otp": "000000"}));
        let body = answer.refused(400, "invalid_otp");
        assert_eq!(body["attempts_left"], left);
        assert_eq!(service.read(&booking)["status"], "requires_action");
    }
    let answer = service.act(&booking, "continue", json!({"otp": "000000"}));
    answer.is(400);
    let read = service.read(&booking);
    assert_eq!(read["status"], "failed");
    assert_eq!(read["error_code"], "otp_attempts_exceeded");
    service.act(&booking, "continue", json!({"otp": service.code()})).is(409);
}

#[test]
fn status_4_an_unknown_session_is_404() {
    let service = Service::start(&[]);
    let path = "/v1/sessions/ses_unknown";
    service.get(path).refused_plainly(404);
    service.delete(path).refused_plainly(404);
    service.get(&format!("{path}/card")).refused_plainly(404);
    let verify = format!("{path}/verify");
    let answer = service.post(&verify, json!({"code": "123456"}));
    answer.refused_plainly(404);
    // Another organization's is as good as unknown.
    let session = service.connect("ada", "+441632960001");
    let answer = service.with(OTHER).get(&session_path(&session, ""));
    answer.refused_plainly(404);
    let answer = service.with(OTHER).delete(&session_path(&session, ""));
    answer.refused_plainly(404);
    let listed = service.with(OTHER).get("/v1/sessions");
    assert!(list(listed.is(200), "sessions").is_empty());
}

#[test]
fn status_9_an_unknown_path_is_404_and_a_wrong_method_405() {
    let service = Service::start(&[]);
    for path in ["/v1/nowhere", "/v1/bookings/bk_1/pay", "/v1/sessions/ses_1/card/x"] {
        service.get(path).refused_plainly(404);
    }
    for (method, path) in [
        ("GET", "/v1/bookings"),
        ("GET", "/v1/venues/search"),
        ("DELETE", "/v1/bookings/bk_1"),
        ("PUT", "/v1/sessions"),
        ("GET", "/v1/bookings/bk_1/cancel"),
        ("POST", "/v1/"),
    ] {
        service.live().call(method, path, None).refused_plainly(405);
    }
}

#[test]
fn scope_1_the_index_needs_none() {
    Service::start(&[]).with(READ_ONLY).get("/v1/").is(200);
}

#[test]
fn scope_2_reading_needs_the_read_scopes_alone() {
    let (service, booking) = Service::with_booking("ven_confirms");
    let session = service.sign_in("ada", "+441632960001");
    let reader = service.with(READ_ONLY);
    let search = service.search("dining", "Sandbox");
    reader.post("/v1/venues/search", search).is(200);
    let slots = day("ven_confirms", &service.evening(1));
    reader.post("/v1/availability/search", slots).is(200);
    reader.get(&path_of(&booking, "")).is(200);
    reader.get("/v1/sessions").is(200);
    reader.get(&session_path(&session, "")).is(200);
    reader.get(&session_path(&session, "/card")).is(200);
}

#[test]
fn meter_1_modify_is_limited_like_continue() {
    let (service, booking) = Service::with_booking("ven_confirms");
    for _ in 0..20 {
        let answer = service.act(&booking, "modify", json!({}));
        assert_eq!(answer.number("ratelimit-limit"), 20);
        assert_ne!(answer.status, 429);
    }
    let answer = service.act(&booking, "modify", json!({}));
    assert_eq!(answer.is(429)["limit"], 20);
    // The two do not share it.
    service.act(&booking, "continue", json!({})).is(409);
}

#[test]
fn meter_2_index_and_sessions_are_not_metered() {
    let service = Service::start(&[]);
    let session = service.connect("ada", "+441632960001");
    for _ in 0..35 {
        for path in ["/v1/", "/v1/sessions", &session_path(&session, "")] {
            let answer = service.get(path);
            answer.is(200);
            assert_eq!(answer.header("ratelimit-limit"), None);
        }
    }
    let answer = service.delete(&session_path(&session, ""));
    answer.is(200);
    assert_eq!(answer.header("ratelimit-limit"), None);
}
