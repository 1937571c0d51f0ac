//! The provider's response to a new booking, which follows from the venue's scenario and the slot.

use jiff::Timestamp;
use serde_json::json;

use super::booking::StoredBooking;
use super::state::{
    ACTION_WINDOW, Ask, BookingErrorCode, BookingState, OTP_ATTEMPTS, PAYMENT_WINDOW,
    PROCESSING_TIME, PauseState,
};
use super::transition::AnswerOutcome;
use crate::sandbox::seed::{OfferedSlot, Scenario, SeedVenue};

pub(crate) struct GeneratedCodes {
    pub(crate) otp: String,
    pub(crate) approval_id: String,
}

/// The state into which the provider's response puts a new booking. `slot` comes with the number of
/// bookings in it.
pub(crate) fn respond(
    booking: &StoredBooking,
    venue: &SeedVenue,
    slot: Option<&(OfferedSlot, u32)>,
    codes: GeneratedCodes,
) -> BookingState {
    let failed = |error| BookingState::Failed { error };
    let Some((slot, held)) = slot else {
        return failed(BookingErrorCode::NoAvailability);
    };
    if !slot.has_room(*held) {
        return failed(BookingErrorCode::SlotTaken);
    }
    let (pays, now) = (booking.pays_by_vendor, booking.created_at);
    match venue.scenario {
        Some(Scenario::ProviderFails) => failed(BookingErrorCode::ProviderError),
        Some(Scenario::PaymentSetupFails) if pays => failed(BookingErrorCode::PaymentSetupFailed),
        Some(Scenario::Processing | Scenario::ProcessingFails) if !pays => processing(venue, now),
        Some(Scenario::Unforeseen) if !pays => unforeseen(),
        scenario => {
            use Scenario::{ConfirmDetails, DetailsFails, Otp, OtpFails};
            if pays || matches!(scenario, Some(Otp | OtpFails | ConfirmDetails | DetailsFails)) {
                BookingState::RequiresAction(pause(booking, venue, Some(slot), codes, now))
            } else {
                BookingState::CONFIRMED
            }
        }
    }
}

/// What a booking that waits for its guest waits for: the payment, what the venue's scenario asks
/// for, else a code.
pub(crate) fn pause(
    booking: &StoredBooking,
    venue: &SeedVenue,
    slot: Option<&OfferedSlot>,
    codes: GeneratedCodes,
    now: Timestamp,
) -> PauseState {
    let ask = match venue.scenario {
        _ if booking.pays_by_vendor => {
            let (amount, currency) = price(venue, slot, booking.party_size);
            Ask::Payment { approval_id: codes.approval_id, amount, currency }
        }
        Some(Scenario::ConfirmDetails | Scenario::DetailsFails) => Ask::Details {
            fields: vec!["arrival_time".to_owned(), "dietary_requirements".to_owned()],
        },
        _ => {
            let (channel, sent_to) = match (&booking.customer.phone, &booking.customer.email) {
                (None, Some(email)) => ("email", email.as_str()),
                (phone, _) => ("sms", phone.as_deref().unwrap_or("the phone on file")),
            };
            Ask::Otp {
                code: codes.otp,
                attempts_left: OTP_ATTEMPTS,
                channel: channel.to_owned(),
                sent_to: sent_to.to_owned(),
            }
        }
    };
    let window = if booking.pays_by_vendor { PAYMENT_WINDOW } else { ACTION_WINDOW };
    PauseState { expires_at: now + window, ask }
}

pub(crate) fn processing(venue: &SeedVenue, now: Timestamp) -> BookingState {
    let fails = venue.scenario == Some(Scenario::ProcessingFails);
    BookingState::Processing { until: now + PROCESSING_TIME, fails }
}

/// A booking of a service that has gone on since its clients were written.
fn unforeseen() -> BookingState {
    let fields = json!({
        "error_code": "provider_timeout",
        "error_message": "The provider has not responded yet.",
        "next_action": {
            "type": "choose_table",
            "message": "The venue wants to know where the guest likes to sit.",
            "fields": ["table"],
        },
        "loyalty_tier": {"name": "gold", "points": 120},
    });
    let fields = fields.as_object().cloned().unwrap_or_default();
    BookingState::Reported { status: "waitlisted".to_owned(), fields }
}

pub(crate) fn answer_outcome(venue: Option<&SeedVenue>) -> AnswerOutcome {
    let scenario = venue.and_then(|it| it.scenario);
    AnswerOutcome {
        in_time: match scenario {
            Some(Scenario::PaymentDeclines) => Err(BookingErrorCode::CardDeclined),
            Some(Scenario::PaymentReplayFails) => Err(BookingErrorCode::PaymentReplayFailed),
            Some(Scenario::OtpFails | Scenario::DetailsFails) => {
                Err(BookingErrorCode::ProviderError)
            }
            _ => Ok(()),
        },
        late: match scenario {
            Some(Scenario::PaymentOutcomeUnknown) => BookingErrorCode::PaymentOutcomeUnknown,
            _ => BookingErrorCode::PaymentApprovalExpired,
        },
    }
}

/// The amount to pay in minor units, and its currency: for each guest the slot's price, else the
/// amount that its card terms hold, else a small deposit.
fn price(venue: &SeedVenue, slot: Option<&OfferedSlot>, party_size: u8) -> (i64, String) {
    const DEPOSIT: i64 = 1_000;
    let priced = slot.and_then(|it| it.price).map(|it| (it.amount, it.currency));
    let held = slot
        .and_then(|it| it.card_terms.as_ref())
        .and_then(|terms| terms.hold_amount.zip(terms.currency));
    let (each, currency) = priced.or(held).unwrap_or((DEPOSIT, venue.currency));
    (each * i64::from(party_size), currency.0.to_owned())
}
