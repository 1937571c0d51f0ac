//! "Vendor payment codes", and the codes of bookings and sessions.

use serde_json::json;

use crate::answer::Answer;
use crate::service::{Service, approval};

fn create_paid(service: &Service, venue: &str) -> Answer {
    service.create_with(venue, json!({"payment_collection": "vendor_external"}))
}

#[test]
fn vendor_2_vendor_payment_is_rejected_when_it_is_off() {
    let service = Service::start(&[]);
    service.settings(json!({"vendor_payments": false}));
    create_paid(&service, "ven_payment").refused(503, "vendor_disabled");
    assert!(service.bookings().is_empty());
    service.settings(json!({"vendor_payments": true}));
    service.book_paid("ven_payment");
}

#[test]
fn vendor_8_booking_fails_if_payment_is_not_prepared() {
    let (_service, booking) = Service::with_paid("ven_payment_setup_fails");
    assert_eq!(booking["status"], "failed");
    assert_eq!(booking["error_code"], "payment_setup_failed");
}

#[test]
fn vendor_9_booking_fails_if_processor_holds_or_declines_card() {
    let service = Service::start(&[]);
    for (venue, code) in [
        ("ven_payment_replay_fails", "payment_replay_failed"),
        ("ven_payment_declines", "card_declined"),
    ] {
        let booking = service.book_paid(venue);
        let answer = service.act(&booking, "continue", approval(&booking));
        assert_eq!(answer.is(200)["status"], "failed");
        assert_eq!(answer.body["error_code"], code);
    }
}
