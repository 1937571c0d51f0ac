//! What a command has in flight: Ctrl-C reports what is certain and how to continue.

use std::fmt;

use crate::outcome::{Code, Error, Exit};
use crate::platform::shell;
use crate::service::documents::booking::{Booking, Status};

/// The text for Ctrl-C: the known state, and how to continue. By default, nothing was sent.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    said: String,
    hint: Option<String>,
    /// The key of a booking request that is on its way.
    key: Option<String>,
}

#[derive(Debug)]
pub(crate) struct BatchProgress {
    /// What is done: "3 of 10 rows are done".
    pub(crate) done: String,
    pub(crate) hint: String,
}

impl BatchProgress {
    /// Adds the state, and how to continue, to an interrupt. Other errors pass unchanged.
    pub(crate) fn explain(&self, mut error: Error, in_flight: &InFlight) -> Error {
        if error.code == Code::Interrupted {
            error.message = format!("{}; {}", error.message, self.done);
            if in_flight.key.is_some() {
                error.message.push_str(", and the result of one is unknown");
                error.idempotency_key.clone_from(&in_flight.key);
            }
            error.hint = Some(self.hint.clone());
        }
        error
    }
}

impl InFlight {
    fn new(said: String, hint: String) -> Self {
        InFlight { said, hint: Some(hint), key: None }
    }

    pub(crate) fn other(said: impl fmt::Display, hint: impl Into<String>) -> Self {
        InFlight::new(format!("; {said}"), hint.into())
    }

    pub(crate) fn creating(key: &str) -> Self {
        let said = " while the booking request was being sent; the outcome is unknown";
        InFlight {
            key: Some(key.to_owned()),
            ..InFlight::new(said.to_owned(), resume_command(key))
        }
    }

    /// This command watches a booking, whose last seen status is `status`.
    pub(crate) fn watching(id: &str, status: Option<&Status>, command: String) -> Self {
        let said = match status {
            Some(status) => format!("; booking {id} has status {status}"),
            None => format!(" before booking {id} was read; nothing was changed"),
        };
        InFlight::new(said, command)
    }

    pub(crate) fn known(booking: &Booking) -> Self {
        let (id, status) = (booking.id(), booking.status());
        let next = match status {
            Status::RequiresAction => shell::command("continue", id, ""),
            Status::Processing => shell::command("watch", id, ""),
            _ => show_command(id),
        };
        InFlight::new(format!("; booking {id} has status {status}"), next)
    }

    /// An answer to this paused booking is on its way.
    pub(crate) fn answering(id: &str) -> Self {
        let said = format!(" while the answer to booking {id} was being sent");
        InFlight::new(said + "; check before you answer again", show_command(id))
    }

    pub(crate) fn changing(id: &str, what: &str) -> Self {
        let said = format!(" while the {what} of booking {id} was being sent");
        let hint = format!("check before trying again: {}", show_command(id));
        InFlight::new(said + "; the outcome is unknown", hint)
    }

    pub(crate) fn sent(request: &str) -> Self {
        let said = format!(" while {request} was being sent; the outcome is unknown");
        InFlight::new(said, "check before you send it again".to_owned())
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.said.is_empty()
    }

    /// Adds to an interrupt what the person needs to know. Other errors pass unchanged.
    pub(crate) fn explain(&self, mut error: Error) -> Error {
        if error.code == Code::Interrupted {
            let nothing = "; nothing was changed";
            error.message += if self.is_nothing() { nothing } else { &self.said };
            error.idempotency_key = self.key.clone().or(error.idempotency_key.take());
            error.hint = self.hint.clone().or(error.hint.take());
        }
        error
    }
}

/// After something was sent, leaving a question is an interrupt: `declined` means nothing was sent.
pub(crate) fn once_sent(error: Error) -> Error {
    if error.code == Code::Declined {
        return Error::interrupted(Exit::Interrupted);
    }
    error
}

pub(crate) fn resume_command(key: &str) -> String {
    shell::command("attempts resume", key, "")
}

pub(crate) fn abandon_command(key: &str) -> String {
    shell::command("attempts abandon", key, "")
}

pub(crate) fn show_command(id: &str) -> String {
    shell::command("show", id, "")
}
