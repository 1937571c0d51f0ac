//! "Vendor payment codes", and the codes of bookings and sessions.

use serde_json::json;

use crate::service::{Answer, Service, approval, list};

async fn create_paid(service: &Service, venue: &str) -> Answer {
    let fields = json!({"payment_collection": "vendor_external"});
    service.create_with(venue, fields).await
}

async fn bookings(service: &Service) -> usize {
    let all = service.get("/sandbox/bookings").await;
    list(all.is(200), "bookings").len()
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
async fn vendor_8_a_payment_that_could_not_be_prepared() {
    let service = Service::start(&[]);
    let booking = service.book_paid("ven_payment_setup_fails").await;
    assert_eq!(booking["status"], "failed");
    assert_eq!(booking["error_code"], "payment_setup_failed");
}

#[tokio::test]
async fn vendor_9_a_processor_that_may_hold_the_card_or_declines_it() {
    let service = Service::start(&[]);
    for (venue, code) in [
        ("ven_payment_replay_fails", "payment_replay_failed"),
        ("ven_payment_declines", "card_declined"),
    ] {
        let booking = service.book_paid(venue).await;
        let answer = service.act(&booking, "continue", approval(&booking)).await;
        assert_eq!(answer.is(200)["status"], "failed");
        assert_eq!(answer.body["error_code"], code);
    }
}
