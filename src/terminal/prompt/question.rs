//! A question, and the reasons for which it may have no answer.

use std::borrow::Cow;
use std::fmt;
use std::io;

use super::interactivity::NonInteractiveReason;
use super::line_editor::Echo;
use crate::outcome::{Error, Exit};

/// Checks an answer. The error is a sentence for the person.
pub(crate) type Check<'a> = &'a dyn Fn(&str) -> Result<(), String>;

/// What is asked, and the flag that answers it instead.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(super) text: String,
    pub(super) flag: Cow<'static, str>,
    pub(super) what: Cow<'static, str>,
    pub(super) echo: Echo,
}

impl Question {
    /// `text` is what the person reads. `flag` (`--name`) and `what` (`the guest's name`) are for the error when
    /// nothing can be asked. The caller makes untrusted text visible first.
    pub(crate) fn new(
        text: impl Into<String>,
        flag: impl Into<Cow<'static, str>>,
        what: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            text: text.into(),
            flag: flag.into(),
            what: what.into(),
            echo: Echo::Shown,
        }
    }

    /// Marks the answer as a short-lived secret: shown while it is typed, then masked.
    pub(crate) fn fleeting(self) -> Self {
        Self {
            echo: Echo::Fleeting,
            ..self
        }
    }

    /// Marks the answer as a lasting secret: never shown.
    pub(crate) fn hidden(self) -> Self {
        Self {
            echo: Echo::Hidden,
            ..self
        }
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum PromptError {
    /// Nothing can be asked here; `flag` answers the question.
    Refused {
        flag: Cow<'static, str>,
        what: Cow<'static, str>,
        reason: NonInteractiveReason,
    },
    /// The person left, or the terminal was closed.
    Interrupted,
    /// The terminal or the editor failed.
    Io(io::Error),
}

impl fmt::Display for PromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { flag, what, reason } => {
                write!(
                    f,
                    "{flag} is missing ({what}), and prompts are disabled: {reason}"
                )
            }
            Self::Interrupted => f.write_str("interrupted"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PromptError {}

impl From<PromptError> for Error {
    fn from(error: PromptError) -> Self {
        match error {
            PromptError::Refused { flag, what, reason } => Error::usage(format!(
                "{what} is missing, and prompts are disabled: {reason}"
            ))
            .hint(format!("pass {flag}")),
            PromptError::Interrupted => Error::interrupted(Exit::Interrupted),
            PromptError::Io(error) => Error::io("cannot use the terminal", error),
        }
    }
}

impl From<io::Error> for PromptError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
