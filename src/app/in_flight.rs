//! What a command has in flight: Ctrl-C reports what is certain and how to continue.

use crate::outcome::{Code, Error, Exit};
use crate::platform::shell;
use crate::service::documents::booking::{Booking, Status};

/// What is under way.
#[derive(Clone, Debug, Default)]
pub(crate) enum InFlight {
    /// Nothing was sent that could change anything.
    #[default]
    Nothing,
    /// A booking request under this key.
    Creating(String),
    /// This is being sent, and this finds out what came of it.
    Sent(String, String),
    /// What is certain, and what to do.
    Other(String, String),
}

#[derive(Debug)]
pub(crate) struct BatchProgress {
    /// What is done: "3 of 10 rows are done".
    pub(crate) done: String,
    pub(crate) hint: String,
}

impl InFlight {
    /// This booking is there, with its status.
    pub(crate) fn known(booking: &Booking) -> Self {
        let (id, status) = (booking.id(), booking.status());
        let next = match status {
            Status::RequiresAction => shell::command("continue", id, ""),
            Status::Processing => shell::command("watch", id, ""),
            _ => show_command(id),
        };
        InFlight::Other(format!("booking {id} has status {status}"), next)
    }

    /// What is being sent, and how to find out what came of it where no answer says so.
    fn sent(&self) -> Option<(String, String)> {
        match self {
            InFlight::Creating(key) => {
                let check = format!("a booking may exist; check it: {}", resume_command(key));
                Some(("the booking request".to_owned(), check))
            }
            InFlight::Sent(noun, check) => Some((noun.clone(), check.clone())),
            _ => None,
        }
    }

    /// What is being sent.
    pub(crate) fn noun(&self) -> String {
        self.sent().map_or_else(|| "the request".to_owned(), |(noun, _)| noun)
    }

    /// Adds to an error after which its outcome is unknown how to find out.
    pub(crate) fn explain_unknown(&self, error: Error) -> Error {
        match self.sent() {
            Some((_, check)) => error.hint_before(check),
            None => error,
        }
    }

    /// Adds to an interrupt what the person needs to know, in a batch of all its rows. Other errors
    /// pass unchanged.
    pub(crate) fn explain(&self, mut error: Error, batch: Option<&BatchProgress>) -> Error {
        if error.code != Code::Interrupted {
            return error;
        }
        let (mut wording, hint) = match (batch, self.sent(), self) {
            (Some(batch), ..) => (format!("; {}", batch.done), batch.hint.clone()),
            (None, Some((noun, check)), _) => {
                (format!(" while {noun} was being sent; the outcome is unknown"), check)
            }
            (None, None, InFlight::Other(certain, next)) => (format!("; {certain}"), next.clone()),
            _ => ("; nothing was changed".to_owned(), String::new()),
        };
        if let InFlight::Creating(key) = self {
            wording += if batch.is_some() { ", and the result of one is unknown" } else { "" };
            error.idempotency_key = Some(key.clone());
        }
        error.message += &wording;
        if hint.is_empty() { error } else { error.hint(hint) }
    }
}

/// After something was sent, leaving a question is an interrupt: `declined` means nothing was sent.
pub(crate) fn declined_to_interrupted(error: Error) -> Error {
    if error.code == Code::Declined { Error::interrupted(Exit::Interrupted) } else { error }
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
