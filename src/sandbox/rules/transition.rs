//! The life of a booking: the table of "States and transitions", as one function.

use jiff::Timestamp;

use super::answer::Answer;
use super::code::ErrorCode;
use super::state::{Ask, Pause, State, Status};
use crate::sandbox::seed::Provider;

/// What happens to a booking.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    /// The provider took the booking.
    Accepted,
    /// The provider wants to know something first.
    Asked(Pause),
    /// The provider takes its time.
    Deferred {
        until: Timestamp,
    },
    /// The provider failed, or the slot was not to be had.
    ProviderFailed(ErrorCode),
    /// The guest answered; `payment` is what the processor will say to a payment's approval.
    Continued {
        answer: Answer,
        payment: Payment,
    },
    /// A change was asked for; `venue` is what the venue says to it.
    Modify {
        provider: Provider,
        venue: Result<(), ErrorCode>,
    },
    Cancel {
        provider: Provider,
    },
    /// Nothing but time.
    TimePassed,
}

/// What becomes of an approved payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payment {
    /// Of one that was approved in time.
    pub(crate) in_time: Result<(), ErrorCode>,
    /// Of one whose approval came late.
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
}

/// Why a request about a booking is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Denial {
    /// Nothing is being waited for.
    NotPaused(Status),
    /// The code is wrong.
    InvalidOtp { attempts_left: u8 },
    /// What is being waited for was not said: name and complaint of each field.
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

/// Where an event leads: the state afterwards, the news of it, and the refusal where the
/// request that brought it is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Transition {
    pub(crate) state: State,
    pub(crate) news: Option<EventKind>,
    pub(crate) denial: Option<Denial>,
}

impl Transition {
    /// The booking enters another status, which is news, unless it expires ("Events", 3).
    fn to(state: State) -> Self {
        let news = match state.status() {
            Status::RequiresAction => Some(EventKind::RequiresAction),
            Status::Processing => Some(EventKind::Processing),
            Status::Confirmed => Some(EventKind::Confirmed),
            Status::Failed => Some(EventKind::Failed),
            Status::Cancelled => Some(EventKind::Cancelled),
            Status::Expired => None,
        };
        Self {
            state,
            news,
            denial: None,
        }
    }

    fn stay(state: &State) -> Self {
        Self {
            state: state.clone(),
            news: None,
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

/// What an event does to a booking, read off the table of "States and transitions".
pub(crate) fn step(state: &State, event: &Event, now: Timestamp) -> Transition {
    match (state, event) {
        (State::Requested, Event::Accepted) => Transition::to(State::Confirmed { error: None }),
        (State::Requested, Event::Asked(pause)) => {
            Transition::to(State::RequiresAction(pause.clone()))
        }
        (State::Requested, Event::Deferred { until }) => {
            Transition::to(State::Processing { until: *until })
        }
        (_, Event::ProviderFailed(error)) => Transition::to(State::Failed { error: *error }),

        (State::RequiresAction(pause), Event::TimePassed) if pause.is_over(now) => {
            Transition::to(match pause.ask {
                Ask::Payment { .. } => State::Failed {
                    error: ErrorCode::PaymentApprovalExpired,
                },
                Ask::Otp { .. } | Ask::Details { .. } => State::Expired,
            })
        }
        (State::Processing { until }, Event::TimePassed) if *until <= now => {
            Transition::to(State::Confirmed { error: None })
        }

        // What was due has happened before the answer is heard.
        (State::RequiresAction(pause), Event::Continued { .. }) if pause.is_over(now) => {
            let due = step(state, &Event::TimePassed, now);
            Transition {
                news: due.news,
                ..step(&due.state, event, now)
            }
        }
        (State::RequiresAction(pause), Event::Continued { answer, payment }) => {
            resume(pause, answer, *payment)
        }
        (
            State::Failed {
                error: ErrorCode::PaymentApprovalExpired | ErrorCode::PaymentOutcomeUnknown,
            },
            Event::Continued { answer, payment },
        ) => match answer {
            Answer::PspResponse(_) => Transition {
                state: State::Failed {
                    error: payment.late,
                },
                news: None,
                denial: Some(Denial::Late),
            },
            Answer::PspAbort => Transition::stay(state).denied(Denial::Late),
            _ => Transition::stay(state).denied(Denial::NotPaused(state.status())),
        },
        (_, Event::Continued { .. }) => {
            Transition::stay(state).denied(Denial::NotPaused(state.status()))
        }

        (State::Confirmed { .. }, Event::Modify { provider, venue }) => match (provider, venue) {
            (Provider::B | Provider::C, _) => {
                Transition::stay(state).denied(Denial::ModifyUnsupported)
            }
            (Provider::A, Err(code)) => Transition::stay(state).denied(Denial::VenueRefused(*code)),
            (Provider::A, Ok(())) => Transition {
                news: Some(EventKind::Modified),
                ..Transition::stay(state)
            },
        },
        (State::Confirmed { .. }, Event::Cancel { provider }) => match provider {
            Provider::A => Transition::to(State::Cancelled),
            Provider::B | Provider::C => Transition::stay(&State::Confirmed {
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

/// The rows of a paused booking whose guest answers in time.
fn resume(pause: &Pause, answer: &Answer, payment: Payment) -> Transition {
    let paused = || Transition::stay(&State::RequiresAction(pause.clone()));
    let confirmed = || Transition::to(State::Confirmed { error: None });
    let failed = |error| Transition::to(State::Failed { error });
    match (&pause.ask, answer) {
        (Ask::Otp { code, .. }, Answer::Otp(given)) if given == code => confirmed(),
        (Ask::Otp { attempts_left, .. }, Answer::Otp(_)) => {
            let attempts_left = attempts_left.saturating_sub(1);
            let next = if attempts_left == 0 {
                failed(ErrorCode::OtpAttemptsExceeded)
            } else {
                Transition::stay(&State::RequiresAction(pause.with_attempts(attempts_left)))
            };
            next.denied(Denial::InvalidOtp { attempts_left })
        }
        (Ask::Details { fields }, Answer::Details(given)) => {
            let unanswered = Answer::unanswered(fields, given);
            if unanswered.is_empty() {
                confirmed()
            } else {
                paused().denied(Denial::Unanswered(unanswered))
            }
        }
        (Ask::Payment { approval_id, .. }, Answer::PspResponse(given)) => {
            if Answer::approves(given, approval_id) {
                payment.in_time.map_or_else(failed, |()| confirmed())
            } else {
                paused().denied(Denial::MalformedApproval)
            }
        }
        (Ask::Payment { .. }, Answer::PspAbort) => failed(ErrorCode::PaymentDeclined),
        (ask, _) => paused().denied(Denial::Unanswered(Answer::wanted(ask))),
    }
}

#[cfg(test)]
mod tests;
