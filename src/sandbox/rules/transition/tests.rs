//! Each row of the specification's table, quoted, and then what the contract adds to it.

use super::*;
use serde_json::{Value, json};

/// When the booking was made; clock times below are of that day.
fn at(time: &str) -> Timestamp {
    format!("2026-11-21T{time}Z").parse().unwrap()
}

fn otp(attempts_left: u8) -> BookingState {
    BookingState::RequiresAction(Pause {
        expires_at: at("12:20:00"),
        ask: Ask::Otp {
            code: "123456".to_owned(),
            attempts_left,
            channel: "sms".to_owned(),
            sent_to: "+441632960001".to_owned(),
        },
    })
}

fn details() -> BookingState {
    BookingState::RequiresAction(Pause {
        expires_at: at("12:20:00"),
        ask: Ask::Details {
            fields: vec!["arrival_time".to_owned(), "occasion".to_owned()],
        },
    })
}

fn payment() -> BookingState {
    BookingState::RequiresAction(Pause {
        expires_at: at("12:15:00"),
        ask: Ask::Payment {
            approval_id: "psp_1".to_owned(),
            amount: 4_000,
            currency: "EUR".to_owned(),
        },
    })
}

const CONFIRMED: BookingState = BookingState::CONFIRMED;

const fn failed(error: ErrorCode) -> BookingState {
    BookingState::Failed { error }
}

const ACCEPTS: PaymentOutcome = PaymentOutcome {
    in_time: Ok(()),
    late: ErrorCode::PaymentApprovalExpired,
};

fn says(answer: ContinueRequest) -> Event {
    Event::Continued {
        answer,
        payment: ACCEPTS,
    }
}

fn gives_code(code: &str) -> Event {
    says(ContinueRequest::Otp(code.to_owned()))
}

fn responds_to(payment: PaymentOutcome, response: &Value) -> Event {
    Event::Continued {
        answer: ContinueRequest::PspResponse(response.as_object().unwrap().clone()),
        payment,
    }
}

fn approves(payment: PaymentOutcome) -> Event {
    responds_to(
        payment,
        &json!({"approval_id": "psp_1", "status": "approved"}),
    )
}

fn modify(provider: Provider, venue: Result<(), ErrorCode>) -> Event {
    Event::Modify { provider, venue }
}

/// Every state that a booking is ever stored in.
fn stored_states() -> Vec<BookingState> {
    vec![
        otp(5),
        details(),
        payment(),
        BookingState::Processing {
            until: at("12:00:05"),
        },
        CONFIRMED,
        failed(ErrorCode::ProviderError),
        BookingState::Cancelled,
        BookingState::Expired,
    ]
}

fn moves(from: &BookingState, event: &Event, now: &str, to: BookingState, webhook: EventKind) {
    let expected = Transition {
        state: to,
        webhook: Some(webhook),
        denial: None,
    };
    assert_eq!(step(from, event, at(now)), expected, "{from:?} {event:?}");
}

fn is_refused(from: &BookingState, event: &Event, now: &str, denial: ApiError) {
    let expected = Transition {
        state: from.clone(),
        webhook: None,
        denial: Some(denial),
    };
    assert_eq!(step(from, event, at(now)), expected, "{from:?} {event:?}");
}

// | requires_action | left unanswered | more than 20 minutes | expired | no webhook event is sent; read the booking to see it |
#[test]
fn left_unanswered_for_more_than_20_minutes_is_expired_without_an_event() {
    for paused in [otp(5), details()] {
        let waits = step(&paused, &Event::TimePassed, at("12:20:00"));
        assert_eq!(waits, Transition::stay(&paused));
        let expired = step(&paused, &Event::TimePassed, at("12:20:00.001"));
        assert_eq!(
            (expired.state, expired.webhook),
            (BookingState::Expired, None)
        );
    }
}

// | requires_action (vendor payment) | POST continue with psp_response | arrives after expires_at | failed | error_code is payment_outcome_unknown or payment_approval_expired; the call answers 400 with only an error message |
#[test]
fn a_psp_response_after_expires_at_fails_the_booking_and_is_refused() {
    for late in [
        ErrorCode::PaymentApprovalExpired,
        ErrorCode::PaymentOutcomeUnknown,
    ] {
        let event = approves(PaymentOutcome { late, ..ACCEPTS });
        let expected = |webhook| Transition {
            state: failed(late),
            webhook,
            denial: Some(ApiError::LateAnswer),
        };
        assert_eq!(
            step(&payment(), &event, at("12:15:00")),
            expected(Some(EventKind::Failed))
        );
        // The same where the clock had failed it before.
        let expired = failed(ErrorCode::PaymentApprovalExpired);
        assert_eq!(step(&expired, &event, at("12:16:00")), expected(None));
    }
}

// | requires_action (vendor payment) | POST continue with malformed psp_response | before expires_at | stays paused | 400 without code; fix body and retry |
#[test]
fn a_malformed_psp_response_leaves_the_booking_paused() {
    for response in [
        json!({}),
        json!({"approval_id": "psp_2", "status": "approved"}),
        json!({"approval_id": "psp_1", "status": "declined"}),
        json!({"approval_id": "psp_1", "status": "approved", "more": 1}),
    ] {
        let event = responds_to(ACCEPTS, &response);
        is_refused(&payment(), &event, "12:14:59", ApiError::MalformedApproval);
    }
    moves(
        &payment(),
        &approves(ACCEPTS),
        "12:14:59",
        CONFIRMED,
        EventKind::Confirmed,
    );
}

// | requires_action (vendor payment) | POST continue with psp_abort | - | failed | error_code payment_declined |
#[test]
fn psp_abort_fails_the_booking_with_payment_declined() {
    let declined = failed(ErrorCode::PaymentDeclined);
    let event = says(ContinueRequest::PspAbort);
    moves(&payment(), &event, "12:01:00", declined, EventKind::Failed);
    let expired = failed(ErrorCode::PaymentApprovalExpired);
    is_refused(&expired, &event, "12:16:00", ApiError::LateAnswer);
}

// | requires_action (vendor payment) | no answer | expires_at passes | failed | error_code payment_approval_expired |
#[test]
fn a_payment_without_an_answer_fails_when_expires_at_passes() {
    let waits = step(&payment(), &Event::TimePassed, at("12:14:59.999"));
    assert_eq!(waits, Transition::stay(&payment()));
    let expired = failed(ErrorCode::PaymentApprovalExpired);
    moves(
        &payment(),
        &Event::TimePassed,
        "12:15:00",
        expired,
        EventKind::Failed,
    );
}

// | confirmed | POST modify | provider A, venue accepts | confirmed | last_modification set; event booking.modified |
#[test]
fn a_change_that_provider_a_and_the_venue_accept_is_reported_as_modified() {
    let event = modify(Provider::A, Ok(()));
    moves(
        &CONFIRMED,
        &event,
        "12:00:00",
        CONFIRMED,
        EventKind::Modified,
    );
}

// | confirmed | POST modify | venue refuses | confirmed (unchanged, original time) | 422 with the provider's code; body carries the unchanged booking |
#[test]
fn a_change_that_the_venue_refuses_leaves_the_booking_confirmed() {
    let code = ErrorCode::ModificationRefused;
    let event = modify(Provider::A, Err(code));
    let booking = Value::Null;
    let denial = ApiError::VenueRefused { code, booking };
    is_refused(&CONFIRMED, &event, "12:00:00", denial);
}

// | confirmed | POST modify | provider other than A | confirmed | 422 modify_unsupported; nothing attempted |
#[test]
fn a_provider_other_than_a_cannot_modify() {
    for provider in [Provider::B, Provider::C] {
        for venue in [Ok(()), Err(ErrorCode::ModificationRefused)] {
            let event = modify(provider, venue);
            is_refused(&CONFIRMED, &event, "12:00:00", ApiError::ModifyUnsupported);
        }
    }
}

// | non-confirmed | POST modify | - | unchanged | 409 |
#[test]
fn what_is_not_confirmed_cannot_be_modified_nor_cancelled() {
    for state in stored_states() {
        if state != CONFIRMED {
            let denial = || ApiError::NotConfirmed(state.status());
            is_refused(&state, &modify(Provider::A, Ok(())), "12:00:00", denial());
            let cancel = Event::Cancel {
                provider: Provider::A,
            };
            is_refused(&state, &cancel, "12:00:00", denial());
        }
    }
}

// | confirmed | POST cancel | provider A | cancelled | cancelled at the venue |
#[test]
fn provider_a_cancels() {
    let event = Event::Cancel {
        provider: Provider::A,
    };
    moves(
        &CONFIRMED,
        &event,
        "12:00:00",
        BookingState::Cancelled,
        EventKind::Cancelled,
    );
}

// | confirmed | POST cancel | other provider | confirmed | error_code cancellation_unsupported |
#[test]
fn another_provider_leaves_the_booking_confirmed_and_says_so() {
    for provider in [Provider::B, Provider::C] {
        let after = step(&CONFIRMED, &Event::Cancel { provider }, at("12:00:00"));
        let error = Some(ErrorCode::CancellationUnsupported);
        assert_eq!(after, Transition::stay(&BookingState::Confirmed { error }));
    }
}

#[test]
fn the_right_code_confirms_and_the_fifth_wrong_one_fails() {
    moves(
        &otp(1),
        &gives_code("123456"),
        "12:20:00",
        CONFIRMED,
        EventKind::Confirmed,
    );
    let wrong = step(&otp(5), &gives_code("000000"), at("12:00:00"));
    let expected = Transition {
        state: otp(4),
        webhook: None,
        denial: Some(ApiError::InvalidOtp { attempts_left: 4 }),
    };
    assert_eq!(wrong, expected);
    let last = step(&otp(1), &gives_code("000000"), at("12:00:00"));
    let expected = Transition {
        state: failed(ErrorCode::OtpAttemptsExceeded),
        webhook: Some(EventKind::Failed),
        denial: Some(ApiError::InvalidOtp { attempts_left: 0 }),
    };
    assert_eq!(last, expected);
}

#[test]
fn details_confirm_once_all_of_them_are_given() {
    let give = |given: Value| says(ContinueRequest::Details(given.as_object().unwrap().clone()));
    let all = give(json!({"arrival_time": "19:40", "occasion": "none"}));
    moves(
        &details(),
        &all,
        "12:00:00",
        CONFIRMED,
        EventKind::Confirmed,
    );
    let owed = ApiError::Invalid(vec![("occasion".to_owned(), "is required".to_owned())]);
    let some = give(json!({"arrival_time": "19:40", "occasion": " "}));
    is_refused(&details(), &some, "12:00:00", owed);
}

#[test]
fn an_answer_to_another_question_leaves_the_booking_paused() {
    for (state, event) in [
        (otp(5), approves(ACCEPTS)),
        (payment(), gives_code("123456")),
        (details(), says(ContinueRequest::PspAbort)),
    ] {
        let after = step(&state, &event, at("12:00:00"));
        assert_eq!((&after.state, after.webhook), (&state, None));
        assert!(matches!(after.denial, Some(ApiError::Invalid(_))));
    }
}

#[test]
fn a_processor_that_declines_fails_the_booking() {
    let error = ErrorCode::CardDeclined;
    let event = approves(PaymentOutcome {
        in_time: Err(error),
        ..ACCEPTS
    });
    moves(
        &payment(),
        &event,
        "12:00:00",
        failed(error),
        EventKind::Failed,
    );
}

#[test]
fn nothing_can_be_continued_that_does_not_wait() {
    for state in stored_states() {
        if state.pause().is_none() {
            let denial = ApiError::NotPaused(state.status());
            is_refused(&state, &gives_code("123456"), "12:00:00", denial);
        }
    }
    let expired = step(&otp(5), &gives_code("123456"), at("12:21:00"));
    assert_eq!(expired.state, BookingState::Expired);
    assert_eq!(expired.denial, Some(ApiError::NotPaused(Status::Expired)));
    let declined = failed(ErrorCode::PaymentDeclined);
    let denial = ApiError::NotPaused(Status::Failed);
    is_refused(&declined, &approves(ACCEPTS), "12:01:00", denial);
}

#[test]
fn a_booking_in_process_is_confirmed_when_its_time_has_come_and_not_before() {
    let processing = BookingState::Processing {
        until: at("12:00:05"),
    };
    let waits = step(&processing, &Event::TimePassed, at("12:00:04.999"));
    assert_eq!(waits, Transition::stay(&processing));
    let done = EventKind::Confirmed;
    moves(&processing, &Event::TimePassed, "12:00:05", CONFIRMED, done);
}
