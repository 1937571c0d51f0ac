//! The states of a booking ("States and transitions").

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::error_code::ErrorCode;

/// How long a booking waits for its guest ("Limits", 5).
pub(crate) const ACTION_WINDOW: SignedDuration = SignedDuration::from_mins(20);
pub(crate) const PAYMENT_WINDOW: SignedDuration = SignedDuration::from_mins(15);
/// How long a provider that does not confirm at once takes to confirm.
pub(crate) const PROCESSING_TIME: SignedDuration = SignedDuration::from_secs(5);
pub(crate) const OTP_ATTEMPTS: u8 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    RequiresAction,
    Processing,
    Confirmed,
    Failed,
    Cancelled,
    Expired,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BookingState {
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pause {
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

impl BookingState {
    pub(crate) const CONFIRMED: Self = Self::Confirmed { error: None };

    pub(crate) const fn status(&self) -> Status {
        match self {
            Self::Processing { .. } => Status::Processing,
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
