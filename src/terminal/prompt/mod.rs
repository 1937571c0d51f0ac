//! Everything that asks a person. Questions go to standard error; off a terminal nothing is asked,
//! and the refusal names the flag that would have answered.
//!
//! All live questions are one machine: keys in, a frame out (`live`), no thread and no blocking
//! read, so that a sandbox in the same process goes on serving and a deadline is kept to the second.
//! Esc, Ctrl-C, Ctrl-D on an empty line and a terminal that goes away are all one way out.

mod deadline;
mod editor;
mod entry;
mod frame;
mod gate;
mod keys;
mod line;
mod live;
mod look;
mod menu;
mod pad;
mod plain;
mod terminal;
mod yes_no;

use std::borrow::Cow;
use std::fmt;
use std::io;

pub(crate) use deadline::{Deadline, Until};
pub(crate) use gate::{Barrier, Facts};

use entry::Entry;
use gate::Manner;
use line::Echo;
use live::ask;
use look::Look;
use menu::Menu;
use pad::Pad;
use terminal::Modes;
use yes_no::YesNo;

use crate::outcome::{Error, Exit};

/// Says what is wrong with an answer, in a sentence for the person.
pub(crate) type Check<'a> = &'a dyn Fn(&str) -> Result<(), String>;

/// What is asked, and how else it could have been said.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    text: String,
    flag: Cow<'static, str>,
    what: Cow<'static, str>,
    echo: Echo,
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
        barrier: Barrier,
    },
    /// The person wants out, or is gone.
    Interrupted,
    /// The terminal, or an editor, failed.
    Io(io::Error),
}

impl fmt::Display for PromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused {
                flag,
                what,
                barrier,
            } => {
                write!(
                    f,
                    "{flag} is missing ({what}), and nothing may be asked here: {barrier}"
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
            PromptError::Refused {
                flag,
                what,
                barrier,
            } => Error::usage(format!(
                "{what} is missing, and nothing may be asked here: {barrier}"
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

impl<T> Until<T> {
    /// For questions without a deadline, whose time cannot be up.
    fn answered(self) -> Result<T, PromptError> {
        match self {
            Self::Answered(answer) => Ok(answer),
            Self::TimedOut => Err(PromptError::Interrupted),
        }
    }
}

/// Asks, or refuses to. Every `async` method wants a tokio runtime with I/O and time, and may be
/// dropped at any moment: the terminal is left as it was found.
pub(crate) struct Prompter {
    manner: Result<Manner, Barrier>,
    look: Look,
}

impl Prompter {
    pub(crate) fn new(facts: &Facts) -> Self {
        Self {
            manner: facts.manner(),
            look: Look::new(facts.colour),
        }
    }

    pub(crate) fn interactive(&self) -> bool {
        self.manner.is_ok()
    }

    /// One of many rows, narrowed by typing; its index. `header` names the columns of the rows;
    /// `default` is the row that is marked at first.
    pub(crate) async fn pick(
        &self,
        question: &Question,
        header: Option<&str>,
        rows: &[String],
        default: usize,
    ) -> Result<usize, PromptError> {
        match self.raw(question)? {
            Some(modes) => {
                let mut menu = Menu::new(question, rows).filtered(header, default);
                ask(modes, &mut menu, None, &self.look).await
            }
            None => plain::choose(question, header, rows, Some(default), None).await,
        }?
        .answered()
    }

    /// One of a few options, the first marked; its index.
    pub(crate) async fn choose(
        &self,
        question: &Question,
        options: &[&str],
    ) -> Result<usize, PromptError> {
        self.choose_until(question, options, None).await?.answered()
    }

    /// The same under a countdown.
    pub(crate) async fn choose_until(
        &self,
        question: &Question,
        options: &[&str],
        deadline: Option<&Deadline<'_>>,
    ) -> Result<Until<usize>, PromptError> {
        let rows: Vec<String> = options.iter().map(ToString::to_string).collect();
        match self.raw(question)? {
            Some(modes) => {
                let mut menu = Menu::new(question, &rows).filtered(None, 0);
                ask(modes, &mut menu, deadline, &self.look).await
            }
            None => plain::choose(question, None, &rows, None, deadline).await,
        }
    }

    /// A line of text, trimmed. An empty one is the default; one that `check` objects to is asked again.
    pub(crate) async fn text(
        &self,
        question: &Question,
        default: Option<&str>,
        check: Check<'_>,
    ) -> Result<String, PromptError> {
        self.line(question, default, check, None).await?.answered()
    }

    /// The same under a countdown.
    pub(crate) async fn text_until(
        &self,
        question: &Question,
        check: Check<'_>,
        deadline: Option<&Deadline<'_>>,
    ) -> Result<Until<String>, PromptError> {
        self.line(question, None, check, deadline).await
    }

    async fn line(
        &self,
        question: &Question,
        default: Option<&str>,
        check: Check<'_>,
        deadline: Option<&Deadline<'_>>,
    ) -> Result<Until<String>, PromptError> {
        match self.raw(question)? {
            Some(modes) => {
                ask(
                    modes,
                    &mut Entry::new(question, default, check),
                    deadline,
                    &self.look,
                )
                .await
            }
            None => plain::text(question, default, check, deadline).await,
        }
    }

    /// Several lines, until an empty one or Ctrl-D. Empty lines inside a paste belong to it.
    pub(crate) async fn paste_until(
        &self,
        question: &Question,
        deadline: Option<&Deadline<'_>>,
    ) -> Result<Until<String>, PromptError> {
        match self.raw(question)? {
            Some(modes) => ask(modes, &mut Pad::new(question), deadline, &self.look).await,
            None => plain::paste(question, deadline).await,
        }
    }

    /// Yes or no, by one key; Enter is `default`.
    pub(crate) async fn confirm(
        &self,
        question: &Question,
        default: bool,
    ) -> Result<bool, PromptError> {
        match self.raw(question)? {
            Some(modes) => ask(modes, &mut YesNo::new(question, default), None, &self.look).await,
            None => plain::confirm(question, default).await,
        }?
        .answered()
    }

    /// `initial` in the person's editor (`command`, from `$VISUAL` or `$EDITOR`); `None` when it
    /// comes back unchanged or empty.
    pub(crate) fn edit(
        &self,
        question: &Question,
        command: &str,
        initial: &str,
        suffix: &str,
    ) -> Result<Option<String>, PromptError> {
        self.manner(question)?;
        Ok(editor::edit(command, initial, suffix)?)
    }

    /// The terminal in raw mode where questions are live; `None` where they are plain, or where this
    /// terminal cannot be made raw.
    fn raw(&self, question: &Question) -> Result<Option<Modes>, PromptError> {
        Ok(match self.manner(question)? {
            Manner::Live => Modes::raw().ok(),
            Manner::Plain => None,
        })
    }

    fn manner(&self, question: &Question) -> Result<Manner, PromptError> {
        self.manner.map_err(|barrier| PromptError::Refused {
            flag: question.flag.clone(),
            what: question.what.clone(),
            barrier,
        })
    }
}
