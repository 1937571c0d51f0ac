//! A question, and why it may have no answer.

use std::borrow::Cow;
use std::fmt;
use std::io;

use super::interactivity::NonInteractiveReason;
use super::line_editor::Echo;
use crate::outcome::{Error, Exit};

/// Says what is wrong with an answer, in a sentence for the person.
pub(crate) type Check<'a> = &'a dyn Fn(&str) -> Result<(), String>;

/// What is asked, and how else it could have been said.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(super) text: String,
    pub(super) flag: Cow<'static, str>,
    pub(super) what: Cow<'static, str>,
    pub(super) echo: Echo,
}

impl Question {
    /// `text` is what the person reads; `flag` (`--name`) and `what` (`the guest's name`) are for
    /// where nothing may be asked. Text from outside is made visible by the caller.
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

    /// The same, for a secret of the moment: it is seen while it is typed, and does not stay on the screen.
    pub(crate) fn fleeting(self) -> Self {
        Self {
            echo: Echo::Fleeting,
            ..self
        }
    }

    /// The same, for a secret that outlives the moment: what is typed is not shown.
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
    /// Nothing may be asked here; `flag` would have said it.
    Refused {
        flag: Cow<'static, str>,
        what: Cow<'static, str>,
        reason: NonInteractiveReason,
    },
    /// The person wants out, or is gone.
    Interrupted,
    /// The terminal, or an editor, failed.
    Io(io::Error),
}

impl fmt::Display for PromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { flag, what, reason } => {
                write!(
                    f,
                    "{flag} is missing ({what}), and nothing may be asked here: {reason}"
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
                "{what} is missing, and nothing may be asked here: {reason}"
            ))
            .hint(format!("give {flag}")),
            PromptError::Interrupted => Error::interrupted(Exit::Interrupted),
            PromptError::Io(error) => Error::io("the terminal cannot be used", &error),
        }
    }
}

impl From<io::Error> for PromptError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
