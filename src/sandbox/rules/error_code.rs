//! The error codes of bookings ("Vendor payment codes", "Codes by condition").

use serde::{Deserialize, Serialize};

/// A booking's `error_code`, or a provider's reason for refusing a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ErrorCode {
    CancellationUnsupported,
    CardDeclined,
    ModificationRefused,
    NoAvailability,
    OtpAttemptsExceeded,
    PaymentApprovalExpired,
    PaymentDeclined,
    PaymentOutcomeUnknown,
    PaymentReplayFailed,
    PaymentSetupFailed,
    ProviderError,
    SlotTaken,
}

/// Each code with its name on the wire and the booking's `error_message`.
#[rustfmt::skip]
pub(crate) const ERROR_CODES: [(ErrorCode, &str, &str); 12] = [
    (ErrorCode::CancellationUnsupported, "cancellation_unsupported", "This provider cannot cancel at the venue; the booking stands. Ask the venue itself."),
    (ErrorCode::CardDeclined, "card_declined", "The payment processor declined the guest's card."),
    (ErrorCode::ModificationRefused, "modification_refused", "The venue refused the change; the booking stands as it was."),
    (ErrorCode::NoAvailability, "no_availability", "The venue has no slot at that time."),
    (ErrorCode::OtpAttemptsExceeded, "otp_attempts_exceeded", "The one-time code was wrong five times."),
    (ErrorCode::PaymentApprovalExpired, "payment_approval_expired", "The payment was not approved in time."),
    (ErrorCode::PaymentDeclined, "payment_declined", "The payment was aborted."),
    (ErrorCode::PaymentOutcomeUnknown, "payment_outcome_unknown", "The card may have reached the venue. Check with the venue before booking again."),
    (ErrorCode::PaymentReplayFailed, "payment_replay_failed", "The payment processor may hold the card. Check before booking again."),
    (ErrorCode::PaymentSetupFailed, "payment_setup_failed", "The payment could not be prepared for this venue."),
    (ErrorCode::ProviderError, "provider_error", "The provider failed while placing the booking."),
    (ErrorCode::SlotTaken, "slot_taken", "The slot was taken by somebody else."),
];

impl ErrorCode {
    pub(crate) const fn as_str(self) -> &'static str {
        ERROR_CODES[self as usize].1
    }

    pub(crate) const fn message(self) -> &'static str {
        ERROR_CODES[self as usize].2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_is_that_of_its_code() {
        for (place, (code, name, _)) in ERROR_CODES.into_iter().enumerate() {
            assert_eq!(code as usize, place);
            assert_eq!(serde_json::json!(code), name);
        }
    }
}
