//! The states of a booking ("States and transitions"), and its error codes.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How long a booking waits for its guest ("Limits", 5).
pub(crate) const ACTION_WINDOW: SignedDuration = SignedDuration::from_mins(20);
pub(crate) const PAYMENT_WINDOW: SignedDuration = SignedDuration::from_mins(15);
/// How long a provider that does not confirm at once takes to confirm.
pub(crate) const PROCESSING_TIME: SignedDuration = SignedDuration::from_secs(5);
pub(crate) const CONFIRMED: &str = "confirmed";
pub(crate) const OTP_ATTEMPTS: u8 = 5;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BookingStatus {
    RequiresAction,
    Processing,
    #[default]
    Confirmed,
    Failed,
    Cancelled,
    Expired,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BookingState {
    RequiresAction(PauseState),
    Processing {
        until: Timestamp,
        /// Whether it then fails.
        fails: bool,
    },
    /// `error` is why a request was rejected that did not change the booking.
    Confirmed {
        error: Option<BookingErrorCode>,
    },
    Failed {
        error: BookingErrorCode,
    },
    Cancelled,
    Expired,
    /// As a provider reports it, with the booking's fields that belong to it.
    Reported {
        status: String,
        fields: Map<String, Value>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PauseState {
    pub(crate) expires_at: Timestamp,
    pub(crate) ask: Ask,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ask {
    Otp {
        code: String,
        attempts_left: u8,
        channel: String,
        sent_to: String,
    },
    /// The approval of a payment, in minor units of the currency.
    Payment {
        approval_id: String,
        amount: i64,
        currency: String,
    },
    Details {
        fields: Vec<String>,
    },
}

impl PauseState {
    /// Whether the time to answer is over. A payment approval is late at its deadline; any other
    /// pause ends after *more* than its 20 minutes.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        now >= self.due_at()
    }

    fn due_at(&self) -> Timestamp {
        let is_payment = matches!(self.ask, Ask::Payment { .. });
        self.expires_at + SignedDuration::from_millis(i64::from(!is_payment))
    }
}

impl BookingState {
    pub(crate) const CONFIRMED: Self = Self::Confirmed { error: None };

    pub(crate) fn status(&self) -> &str {
        match self {
            Self::Processing { .. } => "processing",
            Self::RequiresAction(_) => "requires_action",
            Self::Confirmed { .. } => CONFIRMED,
            Self::Failed { .. } => "failed",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Reported { status, .. } => status,
        }
    }

    pub(crate) const fn reported(&self) -> Option<&Map<String, Value>> {
        if let Self::Reported { fields, .. } = self { Some(fields) } else { None }
    }

    pub(crate) const fn error(&self) -> Option<BookingErrorCode> {
        match self {
            Self::Confirmed { error } => *error,
            Self::Failed { error } => Some(*error),
            _ => None,
        }
    }

    /// The code of the report's situation that a response with it shows, if it shows one.
    pub(crate) fn situation(&self) -> Option<&str> {
        match self {
            Self::RequiresAction(pause) => Some(match pause.ask {
                Ask::Otp { .. } => "otp",
                Ask::Payment { .. } => "payment_approval",
                Ask::Details { .. } => "confirm_details",
            }),
            Self::Confirmed { error } => error.map(BookingErrorCode::name),
            Self::Failed { error } => Some(error.name()),
            Self::Reported { status, fields } => {
                fields.get("error_code").map_or(Some(status), Value::as_str)
            }
            Self::Processing { .. } | Self::Cancelled | Self::Expired => Some(self.status()),
        }
    }

    pub(crate) const fn pause(&self) -> Option<&PauseState> {
        if let Self::RequiresAction(pause) = self { Some(pause) } else { None }
    }

    /// When the booking changes by time alone, if it does.
    pub(crate) fn due_at(&self) -> Option<Timestamp> {
        match self {
            Self::RequiresAction(pause) => Some(pause.due_at()),
            Self::Processing { until, .. } => Some(*until),
            _ => None,
        }
    }
}

word_table! {
    /// A booking's `error_code`, or a provider's reason for refusing a change, with the booking's
    /// `error_message`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    BookingErrorCode of 2,
    CancellationUnsupported ["cancellation_unsupported", "This provider cannot cancel at the venue. The booking is still confirmed."],
    CardDeclined ["card_declined", "The payment processor declined the guest's card."],
    ModificationRefused ["modification_refused", "The venue rejected the change. The booking is unchanged."],
    NoAvailability ["no_availability", "The venue has no slot at that time."],
    OtpAttemptsExceeded ["otp_attempts_exceeded", "The one-time code was wrong five times."],
    PaymentApprovalExpired ["payment_approval_expired", "The payment was not approved in time."],
    PaymentDeclined ["payment_declined", "The payment was aborted."],
    PaymentOutcomeUnknown ["payment_outcome_unknown", "The card may have reached the venue. Check with the venue before booking again."],
    PaymentReplayFailed ["payment_replay_failed", "The payment processor may hold the card. Check before booking again."],
    PaymentSetupFailed ["payment_setup_failed", "The payment could not be prepared for this venue."],
    ProviderError ["provider_error", "The provider failed while placing the booking."],
    SlotTaken ["slot_taken", "Another guest booked the slot."],
}

impl BookingErrorCode {
    pub(crate) const fn message(self) -> &'static str {
        Self::TABLE[self as usize].1[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_the_table_is_that_of_its_code() {
        for (code, _) in BookingErrorCode::TABLE {
            assert_eq!(serde_json::json!(code), code.name());
        }
    }
}
