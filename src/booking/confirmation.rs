//! Confirmation before something that cannot be undone.

use crate::outcome::{Code, Error, Result};
use crate::terminal::prompt::{Prompter, Question};

pub(crate) struct Confirmation<'a> {
    /// What is about to be done, as the subject of a sentence: "cancelling".
    action: &'a str,
    pub(crate) question: String,
    /// What to say if the person declines: "nothing was cancelled".
    declined: &'a str,
}

impl<'a> Confirmation<'a> {
    pub(crate) fn new(action: &'a str, question: impl Into<String>, declined: &'a str) -> Self {
        Confirmation { action, question: question.into(), declined }
    }

    /// Refuses (2) where no person can be asked, and names `--yes`.
    pub(crate) fn check(&self, prompter: &Prompter<'_>) -> Result<()> {
        if prompter.interactive() {
            return Ok(());
        }
        let action = self.action;
        Err(Error::usage(format!("{action} needs confirmation, and prompts are disabled"))
            .hint("pass --yes"))
    }

    /// Asks; the default is no, which is an error: `declined` (17).
    pub(crate) async fn ask(&self, prompter: &Prompter<'_>) -> Result<()> {
        self.check(prompter)?;
        let question = Question::new(self.question.clone(), "--yes", "the confirmation");
        if prompter.confirm(&question, false).await? {
            return Ok(());
        }
        Err(Error::new(Code::Declined, self.declined))
    }
}
