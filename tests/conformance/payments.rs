//! "Vendor payment codes", and the codes of bookings and sessions.

use serde_json::json;

use crate::service::{Answer, Service, TEST, approval, list, session_path};

async fn create_paid(service: &Service, venue: &str) -> Answer {
    let fields = json!({"payment_collection": "vendor_external"});
    service.create_with(venue, fields).await
}

async fn bookings(service: &Service) -> usize {
    let all = service.get("/sandbox/bookings").await;
    list(all.is(200), "bookings").len()
}

#[tokio::test]
async fn vendor_1_a_venue_that_cannot_be_paid_through_the_vendor() {
    let service = Service::start(&[]);
    for venue in ["ven_vault_unavailable", "ven_confirms_b", "ven_confirms_c"] {
        let answer = create_paid(&service, venue).await;
        answer.refused(409, "vault_unavailable");
    }
    assert_eq!(bookings(&service).await, 0);
    service.book("ven_vault_unavailable").await;
}

#[tokio::test]
async fn vendor_2_vendor_payments_that_are_off() {
    let service = Service::start(&[]);
    service.settings(json!({"vendor_payments": false})).await;
    let answer = create_paid(&service, "ven_payment").await;
    answer.refused(503, "vendor_disabled");
    assert_eq!(bookings(&service).await, 0);
    service.settings(json!({"vendor_payments": true})).await;
    service.book_paid("ven_payment").await;
}

#[tokio::test]
async fn vendor_3_an_answer_after_expires_at() {
    let service = Service::start(&[]);
    for (venue, code) in [
        ("ven_payment", "payment_approval_expired"),
        ("ven_payment_outcome_unknown", "payment_outcome_unknown"),
    ] {
        let booking = service.book_paid(venue).await;
        service.advance("16m").await;
        let late = service.act(&booking, "continue", approval(&booking)).await;
        assert_eq!(late.is(400).as_object().unwrap().len(), 1);
        assert!(late.body["error"].is_string());
        let read = service.read(&booking).await;
        assert_eq!(read["status"], "failed");
        assert_eq!(read["error_code"], code);
    }
}

#[tokio::test]
async fn vendor_4_a_malformed_answer() {
    let service = Service::start(&[]);
    let booking = service.book_paid("ven_payment").await;
    for malformed in [
        json!({"status": "approved"}),
        json!("approved"),
        json!(true),
    ] {
        let body = json!({"psp_response": malformed});
        let answer = service.act(&booking, "continue", body).await;
        answer.refused_plainly(400);
        assert_eq!(service.read(&booking).await["status"], "requires_action");
    }
    service.advance("14m").await;
    let answer = service.act(&booking, "continue", approval(&booking)).await;
    assert_eq!(answer.is(200)["status"], "confirmed");
}

#[tokio::test]
async fn vendor_5_a_payment_abandoned_with_psp_abort() {
    let service = Service::start(&[]);
    let booking = service.book_paid("ven_payment").await;
    let go_on = json!({"psp_abort": false});
    service.act(&booking, "continue", go_on).await.is(400);
    assert_eq!(service.read(&booking).await["status"], "requires_action");
    let abort = json!({"psp_abort": true});
    service.act(&booking, "continue", abort).await.is(200);
    let read = service.read(&booking).await;
    assert_eq!(read["status"], "failed");
    assert_eq!(read["error_code"], "payment_declined");
}

#[tokio::test]
async fn vendor_6_no_answer_before_expires_at() {
    let service = Service::start(&[]);
    for venue in ["ven_payment", "ven_payment_outcome_unknown"] {
        let booking = service.book_paid(venue).await;
        service.advance("15m1s").await;
        let read = service.read(&booking).await;
        assert_eq!(read["status"], "failed");
        assert_eq!(read["error_code"], "payment_approval_expired");
        assert_eq!(read.get("next_action"), None);
    }
}

#[tokio::test]
async fn vendor_7_a_card_that_may_have_reached_the_venue() {
    let service = Service::start(&[]);
    let booking = service.book_paid("ven_payment_outcome_unknown").await;
    service.advance("15m1s").await;
    let late = service.act(&booking, "continue", approval(&booking)).await;
    late.refused_plainly(400);
    let read = service.read(&booking).await;
    assert_eq!(read["error_code"], "payment_outcome_unknown");
    assert!(read["error_message"].is_string());
}

#[tokio::test]
async fn vendor_8_a_payment_that_could_not_be_prepared() {
    let service = Service::start(&[]);
    let booking = service.book_paid("ven_payment_setup_fails").await;
    assert_eq!(booking["status"], "failed");
    assert_eq!(booking["error_code"], "payment_setup_failed");
}

#[tokio::test]
async fn vendor_9_a_processor_that_may_hold_the_card() {
    let service = Service::start(&[]);
    let booking = service.book_paid("ven_payment_replay_fails").await;
    let answer = service.act(&booking, "continue", approval(&booking)).await;
    assert_eq!(answer.is(200)["status"], "failed");
    assert_eq!(answer.body["error_code"], "payment_replay_failed");
}

#[tokio::test]
async fn vendor_10_a_card_that_was_declined() {
    let service = Service::start(&[]);
    let booking = service.book_paid("ven_payment_declines").await;
    let answer = service.act(&booking, "continue", approval(&booking)).await;
    assert_eq!(answer.is(200)["status"], "failed");
    assert_eq!(answer.body["error_code"], "card_declined");
}

#[tokio::test]
async fn booking_codes_1_cancellation_unsupported_leaves_the_booking_confirmed() {
    let service = Service::start(&[]);
    let booking = service.book("ven_confirms_b").await;
    service.act(&booking, "cancel", json!({})).await.is(200);
    let read = service.read(&booking).await;
    assert_eq!(read["status"], "confirmed");
    assert_eq!(read["error_code"], "cancellation_unsupported");
}

#[tokio::test]
async fn session_codes_1_each_named_code_is_met() {
    let service = Service::start(&[]);
    let session = service.connect("ada", "+441632960001").await;
    let path = session_path(&session, "/verify");
    let code = json!({"code": service.code().await});
    let answer = service.with(TEST).post(&path, code.clone()).await;
    answer.refused(403, "live_key_required");
    let answer = service.post(&path, json!({"code": "000000"})).await;
    answer.refused(400, "invalid_code");
    service.post(&path, code).await.is(200);
    service.advance("31d").await;
    let answer = service.get(&session_path(&session, "/card")).await;
    answer.refused(409, "reconnect_required");
}
