//! The states of a booking, its error codes, and the table of "States and transitions" as one
//! function.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::api_error::{ApiError, Result};
use super::requests::ContinueRequest;
use crate::sandbox::seed::Provider;

/// How long a booking waits for its guest ("Limits", 5).
pub(crate) const ACTION_WINDOW: SignedDuration = SignedDuration::from_mins(20);
pub(crate) const PAYMENT_WINDOW: SignedDuration = SignedDuration::from_mins(15);
/// How long a provider that does not confirm at once takes to confirm.
pub(crate) const PROCESSING_TIME: SignedDuration = SignedDuration::from_secs(5);
pub(crate) const CONFIRMED: &str = "confirmed";
pub(crate) const OTP_ATTEMPTS: u8 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BookingStatus {
    RequiresAction,
    Processing,
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

    pub(crate) fn holds_slot(&self) -> bool {
        !matches!(self.status(), "failed" | "cancelled" | "expired")
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

pub(crate) enum BookingEvent {
    /// The guest answered. `outcome` is what the provider makes of a right answer.
    Continued {
        answer: ContinueRequest,
        outcome: AnswerOutcome,
    },
    /// A change was requested; `venue` is whether the venue accepts it.
    Modify {
        provider: Provider,
        venue: Result<()>,
    },
    Cancel {
        provider: Provider,
    },
    TimePassed,
}

#[derive(Clone, Copy)]
pub(crate) struct AnswerOutcome {
    /// The result of a right answer in time.
    pub(crate) in_time: Result<(), BookingErrorCode>,
    /// The error if the approval of a payment came late.
    pub(crate) late: BookingErrorCode,
}

/// The webhook events that report no status ("Events", 2).
pub(crate) const CREATED: &str = "booking.created";
const MODIFIED: &str = "booking.modified";

/// The webhook event for a booking's new status. None reports `expired` ("Events", 3).
pub(crate) fn webhook_of(status: &str) -> Option<Cow<'static, str>> {
    Some(match status {
        "requires_action" => "booking.requires_action".into(),
        "processing" => "booking.processing".into(),
        CONFIRMED => "booking.confirmed".into(),
        "failed" => "booking.failed".into(),
        "cancelled" => "booking.cancelled".into(),
        "expired" => return None,
        other => format!("booking.{other}").into(),
    })
}

/// The effect of an event: the new state, its webhook event, and the error if rejected.
pub(crate) struct Transition {
    pub(crate) state: BookingState,
    pub(crate) webhook: Option<Cow<'static, str>>,
    pub(crate) denial: Option<ApiError>,
}

impl Transition {
    pub(crate) fn to(state: BookingState) -> Self {
        Self { webhook: webhook_of(state.status()), state, denial: None }
    }

    fn failed(error: BookingErrorCode) -> Self {
        Self::to(BookingState::Failed { error })
    }

    fn stay(state: BookingState) -> Self {
        Self { state, webhook: None, denial: None }
    }

    fn denied(self, denial: ApiError) -> Self {
        Self { denial: Some(denial), ..self }
    }
}

pub(crate) fn step(state: &BookingState, event: &BookingEvent, now: Timestamp) -> Transition {
    use BookingErrorCode::{PaymentApprovalExpired, PaymentOutcomeUnknown};
    use BookingState::{Confirmed, Failed, Processing, Reported, RequiresAction};
    let is_confirmed = state.status() == CONFIRMED;
    let stay = || Transition::stay(state.clone());
    match (state, event) {
        (RequiresAction(pause), BookingEvent::TimePassed) if pause.is_over(now) => {
            match pause.ask {
                Ask::Payment { .. } => Transition::failed(PaymentApprovalExpired),
                Ask::Otp { .. } | Ask::Details { .. } => Transition::to(BookingState::Expired),
            }
        }
        (Processing { until, fails: true }, BookingEvent::TimePassed) if *until <= now => {
            Transition::failed(BookingErrorCode::ProviderError)
        }
        (Processing { until, .. }, BookingEvent::TimePassed) if *until <= now => {
            Transition::to(BookingState::CONFIRMED)
        }
        (_, BookingEvent::TimePassed) => stay(),

        // The deadline has passed, which takes effect before the answer.
        (RequiresAction(pause), BookingEvent::Continued { .. }) if pause.is_over(now) => {
            let due = step(state, &BookingEvent::TimePassed, now);
            Transition { webhook: due.webhook, ..step(&due.state, event, now) }
        }
        (RequiresAction(pause), BookingEvent::Continued { answer, outcome }) => {
            continue_paused(pause.clone(), answer, *outcome)
        }
        // Whatever it is that it waits for, an answer is what it was.
        (Reported { fields, .. }, BookingEvent::Continued { .. })
            if fields.contains_key("next_action") =>
        {
            Transition::to(BookingState::CONFIRMED)
        }
        (
            Failed { error: PaymentApprovalExpired | PaymentOutcomeUnknown },
            BookingEvent::Continued { answer, outcome },
        ) => match answer {
            ContinueRequest::PspResponse(_) => {
                Transition::stay(Failed { error: outcome.late }).denied(ApiError::LATE_ANSWER)
            }
            ContinueRequest::PspAbort => stay().denied(ApiError::LATE_ANSWER),
            _ => stay().denied(ApiError::not_paused(state.status())),
        },
        (_, BookingEvent::Continued { .. }) => stay().denied(ApiError::not_paused(state.status())),

        (_, BookingEvent::Modify { provider, venue }) if is_confirmed => match (provider, venue) {
            (Provider::B | Provider::C, _) => stay().denied(ApiError::MODIFY_UNSUPPORTED),
            (Provider::A, Err(refusal)) => stay().denied(refusal.clone()),
            (Provider::A, Ok(())) => Transition { webhook: Some(MODIFIED.into()), ..stay() },
        },
        (_, BookingEvent::Cancel { provider }) if is_confirmed => match provider {
            Provider::A => Transition::to(BookingState::Cancelled),
            Provider::B | Provider::C => Transition::stay(Confirmed {
                error: Some(BookingErrorCode::CancellationUnsupported),
            }),
        },
        (_, BookingEvent::Modify { .. } | BookingEvent::Cancel { .. }) => {
            stay().denied(ApiError::not_confirmed(state.status()))
        }
    }
}

/// What an answer makes of a booking that waits for it. One that is refused leaves it waiting.
fn continue_paused(
    mut pause: PauseState,
    answer: &ContinueRequest,
    outcome: AnswerOutcome,
) -> Transition {
    let answered = || match outcome.in_time {
        Ok(()) => Transition::to(BookingState::CONFIRMED),
        Err(error) => Transition::failed(error),
    };
    let denial = match (&mut pause.ask, answer) {
        (Ask::Otp { code, .. }, ContinueRequest::Otp(given)) if given == code => {
            return answered();
        }
        (Ask::Otp { attempts_left, .. }, ContinueRequest::Otp(_)) => {
            *attempts_left = attempts_left.saturating_sub(1);
            let denial = ApiError::invalid_otp(*attempts_left);
            if *attempts_left == 0 {
                return Transition::failed(BookingErrorCode::OtpAttemptsExceeded).denied(denial);
            }
            denial
        }
        (Ask::Details { fields }, ContinueRequest::Details(given)) => {
            let unanswered = ContinueRequest::unanswered(fields, given);
            if unanswered.is_empty() {
                return answered();
            }
            ApiError::all_invalid(unanswered)
        }
        (Ask::Payment { approval_id, .. }, ContinueRequest::PspResponse(given)) => {
            let approval = json!({"approval_id": approval_id, "status": "approved"});
            if Some(given) == approval.as_object() {
                return answered();
            }
            ApiError::MALFORMED_APPROVAL
        }
        (Ask::Payment { .. }, ContinueRequest::PspAbort) => {
            return Transition::failed(BookingErrorCode::PaymentDeclined);
        }
        (ask, _) => ContinueRequest::wanted(ask),
    };
    Transition::stay(BookingState::RequiresAction(pause)).denied(denial)
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
