//! The error codes of bookings ("Vendor payment codes", "Codes by condition").

use serde::Deserialize;

/// A booking's `error_code`, or a provider's reason for refusing a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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

impl ErrorCode {
    /// In the order of their names.
    pub(crate) const ALL: [Self; 12] = [
        Self::CancellationUnsupported,
        Self::CardDeclined,
        Self::ModificationRefused,
        Self::NoAvailability,
        Self::OtpAttemptsExceeded,
        Self::PaymentApprovalExpired,
        Self::PaymentDeclined,
        Self::PaymentOutcomeUnknown,
        Self::PaymentReplayFailed,
        Self::PaymentSetupFailed,
        Self::ProviderError,
        Self::SlotTaken,
    ];

    /// The name on the wire.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::CancellationUnsupported => "cancellation_unsupported",
            Self::CardDeclined => "card_declined",
            Self::ModificationRefused => "modification_refused",
            Self::NoAvailability => "no_availability",
            Self::OtpAttemptsExceeded => "otp_attempts_exceeded",
            Self::PaymentApprovalExpired => "payment_approval_expired",
            Self::PaymentDeclined => "payment_declined",
            Self::PaymentOutcomeUnknown => "payment_outcome_unknown",
            Self::PaymentReplayFailed => "payment_replay_failed",
            Self::PaymentSetupFailed => "payment_setup_failed",
            Self::ProviderError => "provider_error",
            Self::SlotTaken => "slot_taken",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }

    /// The booking's `error_message`.
    pub(crate) const fn message(self) -> &'static str {
        match self {
            Self::CancellationUnsupported => {
                "This provider cannot cancel at the venue; the booking stands. Ask the venue itself."
            }
            Self::CardDeclined => "The payment processor declined the guest's card.",
            Self::ModificationRefused => {
                "The venue refused the change; the booking stands as it was."
            }
            Self::NoAvailability => "The venue has no slot at that time.",
            Self::OtpAttemptsExceeded => "The one-time code was wrong five times.",
            Self::PaymentApprovalExpired => "The payment was not approved in time.",
            Self::PaymentDeclined => "The payment was aborted.",
            Self::PaymentOutcomeUnknown => {
                "The card may have reached the venue. Check with the venue before booking again."
            }
            Self::PaymentReplayFailed => {
                "The payment processor may hold the card. Check before booking again."
            }
            Self::PaymentSetupFailed => "The payment could not be prepared for this venue.",
            Self::ProviderError => "The provider failed while placing the booking.",
            Self::SlotTaken => "The slot was taken by somebody else.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_again_by_its_name() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::parse(code.as_str()), Some(code));
        }
    }
}
