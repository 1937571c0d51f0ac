//! A question, and the reasons for which it may have no answer.

use std::borrow::Cow;
use std::fmt;
use std::io;

use super::interactivity::NonInteractiveReason;
use super::line_editor::Echo;
use crate::outcome::{Code, Error, Exit};

/// Checks an answer. The error is a sentence for the person.
pub(crate) type Check<'a> = &'a dyn Fn(&str) -> Result<(), String>;

/// What is asked, and the flag that answers it instead.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(super) text: String,
    pub(super) flag: Cow<'static, str>,
    pub(super) what: Cow<'static, str>,
    pub(super) echo: Echo,
    /// Whether a question comes before, to which Esc and Shift-Tab lead back.
    pub(super) goes_back: bool,
    /// The answer that was given before, to be changed or confirmed.
    pub(super) former: Option<String>,
    /// A line below the question, such as what its keys do.
    pub(super) hint: Option<Cow<'static, str>>,
    /// Where the default of a secret comes from, because a plain terminal must not show the secret itself.
    pub(super) source: Option<&'static str>,
    /// What the rows of a list are, in the plural.
    pub(super) noun: &'static str,
    /// Whether it asks for a go-ahead: what was typed before it was drawn is thrown away.
    pub(super) confirms: bool,
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
            goes_back: false,
            former: None,
            hint: None,
            source: None,
            noun: "rows",
            confirms: false,
        }
    }

    /// Lets Esc and Shift-Tab go back to the question before ([`PromptError::Back`]).
    pub(crate) fn back(self, goes_back: bool) -> Self {
        Self { goes_back, ..self }
    }

    /// Fills in the answer that was given before.
    pub(crate) fn former(self, former: Option<String>) -> Self {
        Self { former, ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// Says where the default comes from: "the sandbox's inbox".
    pub(crate) fn taken_from(self, source: &'static str) -> Self {
        Self {
            source: Some(source),
            ..self
        }
    }

    /// Says what the rows of a list are, in the plural: "slots".
    pub(crate) fn of(self, noun: &'static str) -> Self {
        Self { noun, ..self }
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
    /// The person pressed Esc: to go back to the question before, or to decline where none comes before.
    Back,
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
            Self::Back => f.write_str("left without an answer"),
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
            // Something may have been sent before this question.
            PromptError::Back => Error::new(Code::Declined, "Nothing more was done."),
            PromptError::Io(error) => Error::io("cannot use the terminal", error),
        }
    }
}

impl From<io::Error> for PromptError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
