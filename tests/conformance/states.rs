//! "States and transitions": the statuses, and every row of the table.

use serde_json::{Value, json};

use crate::receiver::subscribed;
use crate::service::{Service, approval, instant, path_of};

#[test]
fn states_1_every_named_status_is_reached() {
    let service = Service::start(&[]);
    for (venue, status) in [
        ("ven_otp", "requires_action"),
        ("ven_processing", "processing"),
        ("ven_confirms", "confirmed"),
        ("ven_provider_fails", "failed"),
    ] {
        let booking = service.book(venue);
        assert_eq!(service.read(&booking)["status"], status);
    }
    let booking = service.book("ven_confirms");
    service.act(&booking, "cancel", json!({})).is(200);
    assert_eq!(service.read(&booking)["status"], "cancelled");
}

#[test]
fn transition_1_an_unanswered_booking_expires_without_an_event() {
    let (service, receiver) = subscribed();
    let booking = service.book("ven_otp");
    receiver.event("booking.requires_action", &booking);
    service.advance("21m");
    let expired = service.read(&booking);
    assert_eq!(expired["status"], "expired");
    assert_eq!(expired.get("next_action"), None);
    service.act(&booking, "continue", json!({"otp": service.code()})).is(409);
    // What happens later is delivered later: had there been an event, it would be here.
    let later = service.book("ven_confirms");
    receiver.event("booking.confirmed", &later);
    assert_eq!(receiver.kinds(&booking), ["booking.created", "booking.requires_action"]);
}

/// A payment's answer after its deadline.
fn answer_late(service: &Service, venue: &str) -> Value {
    let booking = service.book_paid(venue);
    let answer = approval(&booking);
    service.advance("15m1s");
    let late = service.act(&booking, "continue", answer);
    let body = late.is(400);
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    assert!(body["error"].is_string());
    service.read(&booking)
}

#[test]
fn transition_2_late_payment_answer_fails_the_booking() {
    let service = Service::start(&[]);
    let booking = answer_late(&service, "ven_payment");
    assert_eq!(booking["status"], "failed");
    assert_eq!(booking["error_code"], "payment_approval_expired");
    let booking = answer_late(&service, "ven_payment_outcome_unknown");
    assert_eq!(booking["status"], "failed");
    assert_eq!(booking["error_code"], "payment_outcome_unknown");
}

#[test]
fn transition_3_malformed_answer_leaves_the_payment_paused() {
    let (service, booking) = Service::with_paid("ven_payment");
    let approval_id = &booking["next_action"]["psp_request"]["approval_id"];
    for malformed in [
        json!({}),
        json!({"status": "approved"}),
        json!({"approval_id": approval_id}),
        json!({"approval_id": "psp_of_another", "status": "approved"}),
        json!({"approval_id": approval_id, "status": "maybe"}),
    ] {
        let answer = service.act(&booking, "continue", json!({"psp_response": malformed}));
        answer.refused_plainly(400);
        assert_eq!(service.read(&booking), booking, "{malformed}");
    }
    let answer = service.act(&booking, "continue", approval(&booking));
    assert_eq!(answer.is(200)["status"], "confirmed");
}

#[test]
fn transition_4_an_abandoned_payment_fails_the_booking() {
    let (service, booking) = Service::with_paid("ven_payment");
    let answer = service.act(&booking, "continue", json!({"psp_abort": true}));
    assert_eq!(answer.is(200)["status"], "failed");
    assert_eq!(answer.body["error_code"], "payment_declined");
    assert_eq!(service.read(&booking), answer.body);
}

#[test]
fn transition_5_unanswered_payment_fails_when_expires_at_passes() {
    let (service, booking) = Service::with_paid("ven_payment");
    let lifetime = instant(&booking["expires_at"]).duration_since(instant(&booking["created_at"]));
    assert_eq!(lifetime.as_secs(), 15 * 60);
    service.advance("15m");
    let failed = service.read(&booking);
    assert_eq!(failed["status"], "failed");
    assert_eq!(failed["error_code"], "payment_approval_expired");
    // Past the 20 minutes of other pauses it is still failed, not expired.
    service.advance("10m");
    assert_eq!(service.read(&booking)["status"], "failed");
}

#[test]
fn transition_6_accepted_modify_is_recorded_and_sends_an_event() {
    let (service, receiver) = subscribed();
    let booking = service.book("ven_confirms");
    let later = service.evening(3);
    let answer = service.act(&booking, "modify", json!({"datetime": later}));
    assert_eq!(answer.is(200)["status"], "confirmed");
    assert_eq!(answer.body["datetime"], later);
    let changes = &answer.body["last_modification"]["changes"];
    assert_eq!(changes["datetime"]["to"], later);
    let event = receiver.event("booking.modified", &booking);
    assert_eq!(event.object()["status"], "confirmed");
    assert_eq!(event.object()["last_modification"], answer.body["last_modification"]);
}

#[test]
fn transition_6_move_books_the_new_table_and_frees_the_old_one() {
    let (service, booking) = Service::with_booking("ven_last_table");
    let later = json!({"datetime": service.evening(2)});
    service.act(&booking, "modify", later.clone()).is(200);
    assert_eq!(service.book("ven_last_table")["status"], "confirmed", "the old table is free");
    let second = service.create_with("ven_last_table", later);
    assert_eq!(second.is(201)["error_code"], "slot_taken");
}

#[test]
fn transition_7_rejected_modify_leaves_the_booking_unchanged() {
    let (service, booking) = Service::with_booking("ven_modify_refused");
    let answer = service.act(&booking, "modify", json!({"datetime": service.evening(3)}));
    let body = answer.is(422);
    assert!(body["error_code"].is_string(), "{body}");
    assert_eq!(body["booking"], booking);
    assert_eq!(service.read(&booking), booking);
}

#[test]
fn transition_7_a_move_to_a_full_slot_or_to_none_is_refused() {
    let (service, booking) = Service::with_booking("ven_last_table");
    let later = service.evening(2);
    let second = service.create_with("ven_last_table", json!({"datetime": later}));
    assert_eq!(second.is(201)["status"], "confirmed");
    for datetime in [later.clone(), later.replace("19:30", "19:37")] {
        let answer = service.act(&booking, "modify", json!({"datetime": datetime}));
        assert!(answer.is(422)["error_code"].is_string());
        assert_eq!(answer.body["booking"], booking);
        assert_eq!(service.read(&booking), booking);
    }
}

#[test]
fn transition_8_other_providers_than_a_do_not_modify() {
    let service = Service::start(&[]);
    for venue in ["ven_confirms_b", "ven_confirms_c"] {
        let booking = service.book(venue);
        let answer = service.act(&booking, "modify", json!({"party_size": 3}));
        answer.refused(422, "modify_unsupported");
        assert_eq!(service.read(&booking), booking);
    }
}

/// Bookings in every status but confirmed.
pub(crate) fn unconfirmed(service: &Service) -> Vec<Value> {
    let expired = service.book("ven_otp");
    service.advance("21m");
    let cancelled = service.book("ven_confirms");
    service.act(&cancelled, "cancel", json!({})).is(200);
    let others = ["ven_otp", "ven_processing", "ven_provider_fails"].map(|it| service.book(it));
    let bookings = [vec![expired, cancelled], others.to_vec()].concat();
    let now: Vec<Value> = bookings.iter().map(|it| service.read(it)).collect();
    let statuses: Vec<_> = now.iter().map(|it| it["status"].as_str()).collect();
    let expected = ["expired", "cancelled", "requires_action", "processing", "failed"];
    assert_eq!(statuses, expected.map(Some));
    now
}

#[test]
fn transition_10_a_cancel_at_provider_a_frees_the_table() {
    let (service, booking) = Service::with_booking("ven_last_table");
    let second = service.book("ven_last_table");
    assert_eq!(second["error_code"], "slot_taken");
    let answer = service.act(&booking, "cancel", json!({}));
    assert_eq!(answer.is(200)["status"], "cancelled");
    assert_eq!(service.read(&booking), answer.body);
    let third = service.book("ven_last_table");
    assert_eq!(third["status"], "confirmed");
}

#[test]
fn transition_11_cancel_at_other_provider_leaves_it_confirmed() {
    let service = Service::start(&[]);
    for venue in ["ven_confirms_b", "ven_confirms_c"] {
        let booking = service.book(venue);
        let answer = service.act(&booking, "cancel", json!({}));
        assert_eq!(answer.is(200)["status"], "confirmed");
        assert_eq!(answer.body["error_code"], "cancellation_unsupported");
        assert_eq!(service.read(&booking), answer.body);
    }
}

#[test]
fn transition_12_a_failure_of_the_provider_is_a_normal_response() {
    let service = Service::start(&[]);
    for venue in ["ven_provider_fails", "ven_provider_fails_b", "ven_provider_fails_c"] {
        let booking = service.book(venue);
        assert_eq!(booking["status"], "failed");
        assert!(booking["error_code"].is_string());
        let read = service.get(&path_of(&booking, ""));
        assert_eq!(*read.is(200), booking);
    }
}
