//! The state computer of a booking: the table of "States and transitions" as one function.

use jiff::Timestamp;
use serde_json::json;

use super::api_error::{ApiError, Result};
use super::requests::ContinueRequest;
use super::state::{Ask, BookingErrorCode, BookingState, CONFIRMED, PauseState};
use crate::sandbox::seed::Provider;

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
pub(crate) fn webhook_of(status: &str) -> Option<String> {
    (status != "expired").then(|| format!("booking.{status}"))
}

/// The effect of an event: the new state, its webhook event, and the error if rejected.
pub(crate) struct Transition {
    pub(crate) state: BookingState,
    pub(crate) webhook: Option<String>,
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
