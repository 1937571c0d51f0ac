//! The state machine of a booking: the table of "States and transitions" as one function.

use jiff::Timestamp;

use super::continue_::ContinueRequest;
use super::error_code::ErrorCode;
use super::state::{Ask, BookingState, Denial, Pause, Status};
use crate::sandbox::seed::Provider;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Accepted,
    Asked(Pause),
    /// The provider confirms later.
    Deferred {
        until: Timestamp,
    },
    /// The provider failed, or the slot was not available.
    ProviderFailed(ErrorCode),
    /// The guest answered. `payment` is what the processor does with an approved payment.
    Continued {
        answer: ContinueRequest,
        payment: PaymentOutcome,
    },
    /// A change was requested; `venue` is whether the venue accepts it.
    Modify {
        provider: Provider,
        venue: Result<(), ErrorCode>,
    },
    Cancel {
        provider: Provider,
    },
    TimePassed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PaymentOutcome {
    /// The result if it was approved in time.
    pub(crate) in_time: Result<(), ErrorCode>,
    /// The error if the approval came late.
    pub(crate) late: ErrorCode,
}

/// The webhook events, by name ("Events", 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    Created,
    RequiresAction,
    Processing,
    Confirmed,
    Failed,
    Cancelled,
    Modified,
}

impl EventKind {
    /// The type in event documents, such as `booking.confirmed`.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "booking.created",
            Self::RequiresAction => "booking.requires_action",
            Self::Processing => "booking.processing",
            Self::Confirmed => "booking.confirmed",
            Self::Failed => "booking.failed",
            Self::Cancelled => "booking.cancelled",
            Self::Modified => "booking.modified",
        }
    }

    /// The event that reports that a booking has entered a status. None reports that it expired ("Events", 3).
    pub(crate) const fn of_status(status: Status) -> Option<Self> {
        match status {
            Status::RequiresAction => Some(Self::RequiresAction),
            Status::Processing => Some(Self::Processing),
            Status::Confirmed => Some(Self::Confirmed),
            Status::Failed => Some(Self::Failed),
            Status::Cancelled => Some(Self::Cancelled),
            Status::Expired => None,
        }
    }
}

/// The effect of an event: the new state, the webhook event that reports it, and the denial if the
/// request is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Transition {
    pub(crate) state: BookingState,
    pub(crate) webhook: Option<EventKind>,
    pub(crate) denial: Option<Denial>,
}

impl Transition {
    fn to(state: BookingState) -> Self {
        Self {
            webhook: EventKind::of_status(state.status()),
            state,
            denial: None,
        }
    }

    fn stay(state: &BookingState) -> Self {
        Self {
            state: state.clone(),
            webhook: None,
            denial: None,
        }
    }

    fn denied(self, denial: Denial) -> Self {
        Self {
            denial: Some(denial),
            ..self
        }
    }
}

pub(crate) fn step(state: &BookingState, event: &Event, now: Timestamp) -> Transition {
    match (state, event) {
        (BookingState::Requested, Event::Accepted) => {
            Transition::to(BookingState::Confirmed { error: None })
        }
        (BookingState::Requested, Event::Asked(pause)) => {
            Transition::to(BookingState::RequiresAction(pause.clone()))
        }
        (BookingState::Requested, Event::Deferred { until }) => {
            Transition::to(BookingState::Processing { until: *until })
        }
        (_, Event::ProviderFailed(error)) => Transition::to(BookingState::Failed { error: *error }),

        (BookingState::RequiresAction(pause), Event::TimePassed) if pause.is_over(now) => {
            Transition::to(match pause.ask {
                Ask::Payment { .. } => BookingState::Failed {
                    error: ErrorCode::PaymentApprovalExpired,
                },
                Ask::Otp { .. } | Ask::Details { .. } => BookingState::Expired,
            })
        }
        (BookingState::Processing { until }, Event::TimePassed) if *until <= now => {
            Transition::to(BookingState::Confirmed { error: None })
        }

        // The deadline has passed, which takes effect before the answer.
        (BookingState::RequiresAction(pause), Event::Continued { .. }) if pause.is_over(now) => {
            let due = step(state, &Event::TimePassed, now);
            Transition {
                webhook: due.webhook,
                ..step(&due.state, event, now)
            }
        }
        (BookingState::RequiresAction(pause), Event::Continued { answer, payment }) => {
            continue_paused(pause, answer, *payment)
        }
        (
            BookingState::Failed {
                error: ErrorCode::PaymentApprovalExpired | ErrorCode::PaymentOutcomeUnknown,
            },
            Event::Continued { answer, payment },
        ) => match answer {
            ContinueRequest::PspResponse(_) => Transition {
                state: BookingState::Failed {
                    error: payment.late,
                },
                webhook: None,
                denial: Some(Denial::Late),
            },
            ContinueRequest::PspAbort => Transition::stay(state).denied(Denial::Late),
            _ => Transition::stay(state).denied(Denial::NotPaused(state.status())),
        },
        (_, Event::Continued { .. }) => {
            Transition::stay(state).denied(Denial::NotPaused(state.status()))
        }

        (BookingState::Confirmed { .. }, Event::Modify { provider, venue }) => {
            match (provider, venue) {
                (Provider::B | Provider::C, _) => {
                    Transition::stay(state).denied(Denial::ModifyUnsupported)
                }
                (Provider::A, Err(code)) => {
                    Transition::stay(state).denied(Denial::VenueRefused(*code))
                }
                (Provider::A, Ok(())) => Transition {
                    webhook: Some(EventKind::Modified),
                    ..Transition::stay(state)
                },
            }
        }
        (BookingState::Confirmed { .. }, Event::Cancel { provider }) => match provider {
            Provider::A => Transition::to(BookingState::Cancelled),
            Provider::B | Provider::C => Transition::stay(&BookingState::Confirmed {
                error: Some(ErrorCode::CancellationUnsupported),
            }),
        },
        (_, Event::Modify { .. } | Event::Cancel { .. }) => {
            Transition::stay(state).denied(Denial::NotConfirmed(state.status()))
        }

        (_, Event::Accepted | Event::Asked(_) | Event::Deferred { .. } | Event::TimePassed) => {
            Transition::stay(state)
        }
    }
}

/// Applies the guest's answer to a paused booking in time.
fn continue_paused(pause: &Pause, answer: &ContinueRequest, payment: PaymentOutcome) -> Transition {
    let paused = || Transition::stay(&BookingState::RequiresAction(pause.clone()));
    let confirmed = || Transition::to(BookingState::Confirmed { error: None });
    let failed = |error| Transition::to(BookingState::Failed { error });
    match (&pause.ask, answer) {
        (Ask::Otp { code, .. }, ContinueRequest::Otp(given)) if given == code => confirmed(),
        (Ask::Otp { attempts_left, .. }, ContinueRequest::Otp(_)) => {
            let attempts_left = attempts_left.saturating_sub(1);
            let next = if attempts_left == 0 {
                failed(ErrorCode::OtpAttemptsExceeded)
            } else {
                Transition::stay(&BookingState::RequiresAction(
                    pause.with_attempts(attempts_left),
                ))
            };
            next.denied(Denial::InvalidOtp { attempts_left })
        }
        (Ask::Details { fields }, ContinueRequest::Details(given)) => {
            let unanswered = ContinueRequest::unanswered(fields, given);
            if unanswered.is_empty() {
                confirmed()
            } else {
                paused().denied(Denial::Unanswered(unanswered))
            }
        }
        (Ask::Payment { approval_id, .. }, ContinueRequest::PspResponse(given)) => {
            if ContinueRequest::approves(given, approval_id) {
                payment.in_time.map_or_else(failed, |()| confirmed())
            } else {
                paused().denied(Denial::MalformedApproval)
            }
        }
        (Ask::Payment { .. }, ContinueRequest::PspAbort) => failed(ErrorCode::PaymentDeclined),
        (ask, _) => paused().denied(Denial::Unanswered(ContinueRequest::wanted(ask))),
    }
}

#[cfg(test)]
mod tests;
