//! What a command has in flight, so that Ctrl-C at any moment reports what is certain and how to continue.

use crate::outcome::{Code, Error, Exit};
use crate::platform::shell;
use crate::service::documents::booking::{Booking, Status};

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
    /// Anything else: what an interrupt adds to its message, and its hint.
    Other { said: String, hint: String },
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
    pub(crate) fn other(said: impl Into<String>, hint: impl Into<String>) -> Self {
        let (said, hint) = (said.into(), hint.into());
        InFlight::Other { said, hint }
    }

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
            InFlight::Other { said, hint } => (format!("; {said}"), Some(hint.clone())),
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
