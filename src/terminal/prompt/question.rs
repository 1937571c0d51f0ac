//! A question, and when it expires.

use std::io;

use jiff::{SignedDuration, Timestamp};

use crate::outcome::{Code, Error, Exit};

/// Checks an answer. The error is a sentence for the person.
pub(super) type AnswerCheck<'a> = &'a dyn Fn(&str) -> Result<(), String>;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Echo {
    #[default]
    Shown,
    /// Shown while it is typed and masked once it is given. For one-time codes.
    Fleeting,
    /// Shown as one `*` per character. For keys.
    Hidden,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Question {
    pub(super) text: String,
    pub(super) flag: &'static str,
    pub(super) what: &'static str,
    pub(super) echo: Echo,
    pub(super) goes_back: bool,
    pub(super) previous_answer: Option<String>,
    pub(super) hint: Option<String>,
    pub(super) noun: &'static str,
    /// Whether it asks for a go-ahead: keys typed before it was drawn are dropped.
    pub(super) confirms: bool,
}

impl Question {
    /// `text` is what the person reads. `flag` (`--name`) and `what` (`the guest's name`) are for
    /// the error when nothing can be asked. The widget makes untrusted text visible.
    pub(crate) fn new(text: impl Into<String>, flag: &'static str, what: &'static str) -> Self {
        Self { text: text.into(), flag, what, noun: "rows", ..Self::default() }
    }

    /// Lets Esc and Shift-Tab go back to the question before ([`PromptError::Back`]).
    pub(crate) fn back(self, goes_back: bool) -> Self {
        Self { goes_back, ..self }
    }

    pub(crate) fn previous_answer(self, previous_answer: Option<String>) -> Self {
        Self { previous_answer, ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Says what the rows of a list are, in the plural: "slots".
    pub(crate) fn with_noun(self, noun: &'static str) -> Self {
        Self { noun, ..self }
    }

    /// Marks the answer as a short-lived secret: shown while it is typed, then masked.
    pub(crate) fn fleeting(self) -> Self {
        Self { echo: Echo::Fleeting, ..self }
    }

    pub(crate) fn hidden(self) -> Self {
        Self { echo: Echo::Hidden, ..self }
    }
}

pub(super) type Result<T, E = PromptError> = std::result::Result<T, E>;

#[derive(Debug)]
pub(crate) enum PromptError {
    /// Esc was pressed: to go back to the question before, or to decline the first.
    Back,
    TooLate,
    /// Nothing can be asked here, the person left, or the terminal or the editor failed.
    Failed(Error),
}

impl PromptError {
    pub(super) fn interrupted() -> Self {
        Self::Failed(Error::interrupted(Exit::Interrupted))
    }
}

impl From<PromptError> for Error {
    fn from(error: PromptError) -> Self {
        match error {
            // Something may have been sent before this question.
            PromptError::Back => Error::new(Code::Declined, "Nothing more was done."),
            PromptError::TooLate => Error::interrupted(Exit::Interrupted),
            PromptError::Failed(error) => error,
        }
    }
}

impl From<Error> for PromptError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<io::Error> for PromptError {
    fn from(error: io::Error) -> Self {
        Self::Failed(Error::io("cannot use the terminal", error))
    }
}

/// The time at which a question expires, by the service's clock, which may be moved.
#[derive(Clone, Copy)]
pub(crate) struct Deadline<'a> {
    pub(crate) at: Timestamp,
    pub(crate) clock: &'a dyn Fn() -> Timestamp,
}

impl Deadline<'_> {
    pub(super) fn left(&self) -> SignedDuration {
        self.at.duration_since((self.clock)()).max(SignedDuration::ZERO)
    }
}

/// `mm:ss` below an hour, `h:mm:ss` above. Rounds up, so `00:01` is shown until the very end.
pub(crate) fn countdown(left: SignedDuration) -> String {
    let seconds = left.as_secs() + i64::from(left.subsec_nanos() > 0);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours == 0 {
        format!("{minutes:02}:{seconds:02}")
    } else {
        format!("{hours}:{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_countdown_shows_its_last_second_until_it_is_over() {
        assert_eq!(countdown(SignedDuration::from_secs(1192)), "19:52");
        assert_eq!(countdown(SignedDuration::from_millis(200)), "00:01");
        assert_eq!(countdown(SignedDuration::from_millis(59_001)), "01:00");
        assert_eq!(countdown(SignedDuration::from_secs(3723)), "1:02:03");
    }
}
