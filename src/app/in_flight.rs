//! What a command has in flight, so that Ctrl-C at any moment reports what is certain and how to continue.

use crate::model::booking::{Booking, Status};
use crate::model::shell;
use crate::outcome::{Code, Error, Exit};

#[derive(Debug, Default)]
pub(crate) enum InFlight {
    /// Nothing was sent that could change anything.
    #[default]
    Nothing,
    /// A booking request is on its way under this key.
    Creating { key: String },
    /// This command watches a booking, whose last seen status is `status`.
    Watching {
        id: String,
        status: Option<Status>,
        command: String,
    },
    /// A booking is known to have this status.
    Known { id: String, status: Status },
    /// An answer to this paused booking is on its way.
    Answering { id: String },
    /// A change of this booking is on its way; `what` is its noun.
    Changing { id: String, what: &'static str },
    /// Another call that changes something is on its way.
    Sent { request: String },
    /// A webhook was posted to a consumer, whose answer has not come.
    Posted { what: String, to: String },
    /// The service texted a person the code of this session.
    CodeSent { session: String },
    /// Guests are being deleted, the oldest first.
    DeletingGuests,
    /// The guests are deleted, and the journal's file is being rewritten.
    ForgettingGuests,
}

#[derive(Debug)]
pub(crate) struct BatchProgress {
    /// What is done: "3 of 10 rows are done".
    pub(crate) done: String,
    pub(crate) hint: String,
}

impl BatchProgress {
    /// Adds to an interrupt what is done, what is in flight, and how to continue. Other errors pass unchanged.
    pub(crate) fn explain(&self, mut error: Error, in_flight: &InFlight) -> Error {
        if error.code == Code::Interrupted {
            error.message = format!("{}; {}", error.message, self.done);
            if let InFlight::Creating { key } = in_flight {
                error.message.push_str(", and the result of one is unknown");
                error.idempotency_key = Some(key.clone());
            }
            error.hint = Some(self.hint.clone());
        }
        error
    }
}

impl InFlight {
    pub(crate) fn known(booking: &Booking) -> Self {
        InFlight::Known {
            id: booking.id().to_owned(),
            status: booking.status(),
        }
    }

    /// Adds to an interrupt what the person needs to know. Other errors pass unchanged.
    pub(crate) fn explain(&self, mut error: Error) -> Error {
        if error.code != Code::Interrupted {
            return error;
        }
        let (said, hint) = match self {
            InFlight::Nothing => ("; nothing was changed".to_owned(), None),
            InFlight::Creating { key } => {
                error.idempotency_key = Some(key.clone());
                let said = " while the booking request was being sent; the outcome is unknown";
                (said.to_owned(), Some(resume_command(key)))
            }
            InFlight::Watching {
                id,
                status,
                command,
            } => {
                let said = match status {
                    Some(status) => format!("; booking {id} is {status}"),
                    None => format!(" before booking {id} was read; nothing was changed"),
                };
                (said, Some(command.clone()))
            }
            InFlight::Known { id, status } => {
                let next = match status {
                    Status::RequiresAction => shell::command("continue", id, ""),
                    Status::Processing => shell::command("watch", id, ""),
                    _ => show_command(id),
                };
                (format!("; booking {id} is {status}"), Some(next))
            }
            InFlight::Answering { id } => (
                format!(
                    " while the answer to booking {id} was being sent; check before you answer again"
                ),
                Some(show_command(id)),
            ),
            InFlight::Changing { id, what } => (
                format!(" while the {what} of booking {id} was being sent; the outcome is unknown"),
                Some(format!("check before trying again: {}", show_command(id))),
            ),
            InFlight::Sent { request } => (
                format!(" while {request} was being sent; the outcome is unknown"),
                Some("check before you send it again".to_owned()),
            ),
            InFlight::Posted { what, to } => (
                format!("; {what} posted to {to}, which may have handled it"),
                Some("check what it did before you send anything again".to_owned()),
            ),
            InFlight::DeletingGuests => (
                "; some guests may be deleted already".to_owned(),
                Some("run the same command again to delete the others".to_owned()),
            ),
            InFlight::ForgettingGuests => (
                "; the guests were deleted, but traces may remain in the journal's file".to_owned(),
                Some("run the same command again to overwrite them".to_owned()),
            ),
            InFlight::CodeSent { session } => (
                format!("; session {session} is waiting for its code"),
                Some(shell::command("session verify", session, "--code CODE")),
            ),
        };
        error.message.push_str(&said);
        error.hint = hint.or(error.hint.take());
        error
    }
}

/// The error where something was sent before a question. To leave it is then an interrupt: `declined` says that nothing
/// was sent.
pub(crate) fn once_sent(error: Error) -> Error {
    if error.code == Code::Declined {
        return Error::interrupted(Exit::Interrupted);
    }
    error
}

/// The command that finds out the outcome of an open attempt.
pub(crate) fn resume_command(key: &str) -> String {
    shell::command("attempts resume", key, "")
}

pub(crate) fn abandon_command(key: &str) -> String {
    shell::command("attempts abandon", key, "")
}

pub(crate) fn show_command(id: &str) -> String {
    shell::command("show", id, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_ends_with_the_bookings_id_its_state_and_the_command_that_resumes_it() {
        let in_flight = InFlight::Known {
            id: "bk_1".into(),
            status: Status::RequiresAction,
        };
        let error = in_flight.explain(Error::interrupted(Exit::Interrupted));
        assert_eq!(
            error.message,
            "interrupted; booking bk_1 is requires_action"
        );
        assert_eq!(error.hint.as_deref(), Some("bookctl continue bk_1"));
    }

    #[test]
    fn an_interrupted_create_names_its_key_and_never_says_that_nothing_happened() {
        let error =
            InFlight::Creating { key: "k".into() }.explain(Error::interrupted(Exit::Terminated));
        assert!(error.message.contains("unknown"));
        assert_eq!(error.idempotency_key.as_deref(), Some("k"));
        assert_eq!(error.exit, Exit::Terminated);
    }
}
