//! The states of a booking ("States and transitions").

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::error_code::ErrorCode;

/// How long a booking waits for its guest ("Limits", 5).
pub(crate) const ACTION_WINDOW: SignedDuration = SignedDuration::from_mins(20);
pub(crate) const PAYMENT_WINDOW: SignedDuration = SignedDuration::from_mins(15);
/// How long a provider that does not confirm at once takes to confirm.
pub(crate) const PROCESSING_TIME: SignedDuration = SignedDuration::from_secs(5);
/// How many times a one-time code can be tried.
pub(crate) const OTP_ATTEMPTS: u8 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    RequiresAction,
    Processing,
    Confirmed,
    Failed,
    Cancelled,
    Expired,
}

impl Status {
    /// The word on the wire.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::RequiresAction => "requires_action",
            Self::Processing => "processing",
            Self::Confirmed => "confirmed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BookingState {
    /// Accepted, before the provider responds. Never stored.
    Requested,
    RequiresAction(Pause),
    Processing {
        until: Timestamp,
    },
    /// `error` is that of a refused request that did not change the booking.
    Confirmed {
        error: Option<ErrorCode>,
    },
    Failed {
        error: ErrorCode,
    },
    Cancelled,
    Expired,
}

/// What a paused booking waits for, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pause {
    pub(crate) expires_at: Timestamp,
    pub(crate) ask: Ask,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ask {
    /// The one-time code of six digits.
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
    /// Further details that the venue asks for.
    Details { fields: Vec<String> },
}

impl Pause {
    /// Whether the time to answer is over. A payment approval is late at its deadline; any other pause
    /// ends after *more* than its 20 minutes.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        now >= self.due_at()
    }

    fn due_at(&self) -> Timestamp {
        match self.ask {
            Ask::Payment { .. } => self.expires_at,
            Ask::Otp { .. } | Ask::Details { .. } => {
                self.expires_at + SignedDuration::from_millis(1)
            }
        }
    }
}

/// Why the state of a booking does not allow a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Denial {
    /// The booking is not waiting for anything.
    NotPaused(Status),
    /// The code is wrong.
    InvalidOtp { attempts_left: u8 },
    /// The requested fields are missing: the name of each and its error.
    Unanswered(Vec<(String, String)>),
    /// The `psp_response` is not the one that was asked for.
    MalformedApproval,
    /// The payment was answered after its deadline.
    Late,
    /// Only a confirmed booking can be changed or cancelled.
    NotConfirmed(Status),
    /// The provider cannot modify.
    ModifyUnsupported,
    /// The venue refused the change.
    VenueRefused(ErrorCode),
}

impl BookingState {
    /// The status in JSON. A requested booking is processing.
    pub(crate) const fn status(&self) -> Status {
        match self {
            Self::Requested | Self::Processing { .. } => Status::Processing,
            Self::RequiresAction(_) => Status::RequiresAction,
            Self::Confirmed { .. } => Status::Confirmed,
            Self::Failed { .. } => Status::Failed,
            Self::Cancelled => Status::Cancelled,
            Self::Expired => Status::Expired,
        }
    }

    pub(crate) const fn error(&self) -> Option<ErrorCode> {
        match self {
            Self::Confirmed { error } => *error,
            Self::Failed { error } => Some(*error),
            _ => None,
        }
    }

    pub(crate) const fn pause(&self) -> Option<&Pause> {
        match self {
            Self::RequiresAction(pause) => Some(pause),
            _ => None,
        }
    }

    /// When the booking changes by time alone, if it does.
    pub(crate) fn due_at(&self) -> Option<Timestamp> {
        match self {
            Self::RequiresAction(pause) => Some(pause.due_at()),
            Self::Processing { until } => Some(*until),
            _ => None,
        }
    }

    pub(crate) const fn holds_slot(&self) -> bool {
        matches!(
            self.status(),
            Status::RequiresAction | Status::Processing | Status::Confirmed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPIRES: &str = "2026-11-21T12:20:00Z";

    fn expires() -> Timestamp {
        EXPIRES.parse().unwrap()
    }

    fn waits_for(ask: Ask) -> BookingState {
        BookingState::RequiresAction(Pause {
            expires_at: expires(),
            ask,
        })
    }

    fn details() -> BookingState {
        waits_for(Ask::Details {
            fields: vec!["occasion".to_owned()],
        })
    }

    fn payment() -> BookingState {
        waits_for(Ask::Payment {
            approval_id: "psp_1".to_owned(),
            amount: 4_000,
            currency: "EUR".to_owned(),
        })
    }

    fn processing() -> BookingState {
        BookingState::Processing { until: expires() }
    }

    const CONFIRMED: BookingState = BookingState::Confirmed { error: None };
    const FAILED: BookingState = BookingState::Failed {
        error: ErrorCode::ProviderError,
    };

    #[test]
    fn each_state_has_the_status_that_the_specification_names() {
        for (state, word) in [
            (BookingState::Requested, "processing"),
            (processing(), "processing"),
            (details(), "requires_action"),
            (CONFIRMED, "confirmed"),
            (FAILED, "failed"),
            (BookingState::Cancelled, "cancelled"),
            (BookingState::Expired, "expired"),
        ] {
            assert_eq!(state.status().as_str(), word, "{state:?}");
        }
    }

    #[test]
    fn a_failed_booking_and_one_with_a_refused_request_show_their_error_and_no_other_does() {
        let refused = Some(ErrorCode::CancellationUnsupported);
        assert_eq!(BookingState::Confirmed { error: refused }.error(), refused);
        assert_eq!(FAILED.error(), Some(ErrorCode::ProviderError));
        for state in [
            CONFIRMED,
            BookingState::Requested,
            processing(),
            details(),
            BookingState::Cancelled,
            BookingState::Expired,
        ] {
            assert_eq!(state.error(), None, "{state:?}");
        }
    }

    #[test]
    fn a_payment_is_due_at_its_deadline_and_another_pause_right_after_it() {
        let right_after = expires() + SignedDuration::from_millis(1);
        for (state, due) in [
            (payment(), expires()),
            (details(), right_after),
            (processing(), expires()),
        ] {
            assert_eq!(state.due_at(), Some(due), "{state:?}");
        }
        for state in [
            CONFIRMED,
            FAILED,
            BookingState::Requested,
            BookingState::Cancelled,
            BookingState::Expired,
        ] {
            assert_eq!(state.due_at(), None, "{state:?}");
        }
    }

    #[test]
    fn only_a_state_that_waits_for_its_guest_has_a_pause() {
        let paused = details();
        let pause = paused.pause().unwrap();
        assert_eq!(pause.expires_at, expires());
        assert!(!pause.is_over(expires()));
        assert!(pause.is_over(pause.due_at()));
        assert_eq!(processing().pause(), None);
        assert_eq!(CONFIRMED.pause(), None);
    }

    #[test]
    fn a_booking_holds_its_slot_until_it_failed_was_cancelled_or_expired() {
        for state in [BookingState::Requested, processing(), details(), CONFIRMED] {
            assert!(state.holds_slot(), "{state:?}");
        }
        for state in [FAILED, BookingState::Cancelled, BookingState::Expired] {
            assert!(!state.holds_slot(), "{state:?}");
        }
    }
}
