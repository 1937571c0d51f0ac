//! Where a command stands, so that Ctrl-C at any point ends with what is certain and how to go on.

use crate::model::booking::{Booking, Status};
use crate::model::shell;
use crate::outcome::{Code, Error};

/// What an interrupt would have to say now.
#[derive(Debug, Default)]
pub(crate) enum Situation {
    /// Nothing was sent that changes anything.
    #[default]
    Nothing,
    /// A create is on its way under this key.
    Creating { key: String },
    /// A booking is watched by this command: as it was last seen, if it was.
    Watching {
        id: String,
        status: Option<Status>,
        command: String,
    },
    /// A booking is known, in this state.
    Known { id: String, status: Status },
    /// An answer to this paused booking is on its way.
    Answering { id: String },
    /// A change of this booking is on its way: `what` is the noun for it.
    Changing { id: String, what: &'static str },
    /// A call that changes something, none of the above, is on its way.
    Sent { request: String },
    /// A consumer was sent this: whether it took it only its answer would have told.
    Posted { what: String, to: String },
    /// A person was texted the code of this session.
    Texted { session: String },
    /// Guests are forgotten; what remains of them in the journal's file is being overwritten.
    Forgotten,
}

/// How far a command that does many things has come.
#[derive(Debug)]
pub(crate) struct Course {
    /// What is done, as "3 of 10 rows are done".
    pub(crate) done: String,
    /// How to go on.
    pub(crate) hint: String,
}

impl Course {
    /// The error with what is done, what is on its way, and how to go on; other errors pass unchanged.
    pub(crate) fn explain(&self, mut error: Error, situation: &Situation) -> Error {
        if error.code == Code::Interrupted {
            error.message = format!("{}; {}", error.message, self.done);
            if let Situation::Creating { key } = situation {
                error.message.push_str(", and the result of one is unknown");
                error.idempotency_key = Some(key.clone());
            }
            error.hint = Some(self.hint.clone());
        }
        error
    }
}

impl Situation {
    pub(crate) fn known(booking: &Booking) -> Self {
        Situation::Known {
            id: booking.id().to_owned(),
            status: booking.status(),
        }
    }

    /// The error with what an interrupted person needs to know; other errors pass unchanged.
    pub(crate) fn explain(&self, mut error: Error) -> Error {
        if error.code != Code::Interrupted {
            return error;
        }
        let word = error.message.clone();
        match self {
            Situation::Nothing => error.message = format!("{word}; nothing was changed"),
            Situation::Creating { key } => {
                error.message = format!(
                    "{word} while the booking request was being sent; the outcome is unknown"
                );
                error.hint = Some(resume_command(key));
                error.idempotency_key = Some(key.clone());
            }
            Situation::Watching {
                id,
                status,
                command,
            } => {
                error.message = match status {
                    Some(status) => format!("{word}; booking {id} is {status}"),
                    None => format!("{word} before booking {id} was read; nothing was changed"),
                };
                error.hint = Some(command.clone());
            }
            Situation::Known { id, status } => {
                error.message = format!("{word}; booking {id} is {status}");
                error.hint = Some(match status {
                    Status::RequiresAction => format!("bookctl continue {}", shell::word(id)),
                    Status::Processing => format!("bookctl watch {}", shell::word(id)),
                    _ => show_command(id),
                });
            }
            Situation::Answering { id } => {
                error.message = format!(
                    "{word} while the answer to booking {id} was being sent; check before you answer again"
                );
                error.hint = Some(show_command(id));
            }
            Situation::Changing { id, what } => {
                error.message = format!(
                    "{word} while the {what} of booking {id} was being sent; the outcome is unknown"
                );
                error.hint = Some(format!("check before trying again: {}", show_command(id)));
            }
            Situation::Sent { request } => {
                error.message =
                    format!("{word} while {request} was being sent; the outcome is unknown");
                error.hint = Some("check before you send it again".to_owned());
            }
            Situation::Posted { what, to } => {
                error.message = format!("{word}; {what} posted to {to}, which may have handled it");
                error.hint = Some("check what it did before you send anything again".to_owned());
            }
            Situation::Forgotten => {
                error.message = format!(
                    "{word}; the guests were deleted, but traces may remain in the journal's file"
                );
                error.hint = Some("run the same command again to overwrite them".to_owned());
            }
            Situation::Texted { session } => {
                error.message = format!("{word}; session {session} is waiting for its code");
                let session = shell::word(session);
                error.hint = Some(format!("bookctl session verify {session} --code CODE"));
            }
        }
        error
    }
}

/// The one command that settles an open create.
pub(crate) fn resume_command(key: &str) -> String {
    format!("bookctl attempts resume {}", shell::word(key))
}

/// The command that gives an open attempt up.
pub(crate) fn abandon_command(key: &str) -> String {
    format!("bookctl attempts abandon {}", shell::word(key))
}

/// The command that shows a booking.
pub(crate) fn show_command(id: &str) -> String {
    format!("bookctl show {}", shell::word(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Exit;

    #[test]
    fn an_interrupt_ends_with_the_bookings_id_its_state_and_the_command_that_resumes_it() {
        let situation = Situation::Known {
            id: "bk_1".into(),
            status: Status::RequiresAction,
        };
        let error = situation.explain(Error::interrupted(Exit::Interrupted));
        assert_eq!(
            error.message,
            "interrupted; booking bk_1 is requires_action"
        );
        assert_eq!(error.hint.as_deref(), Some("bookctl continue bk_1"));
    }

    #[test]
    fn an_interrupted_create_names_its_key_and_never_says_that_nothing_happened() {
        let error =
            Situation::Creating { key: "k".into() }.explain(Error::interrupted(Exit::Terminated));
        assert!(error.message.contains("unknown"));
        assert_eq!(error.idempotency_key.as_deref(), Some("k"));
        assert_eq!(error.exit, Exit::Terminated);
    }
}
