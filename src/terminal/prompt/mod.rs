//! Everything that asks a person. Questions go to standard error; off a terminal nothing is asked,
//! and the refusal names the flag that would have answered.
//!
//! All live questions are one machine: keys in, a frame out (`live`), no thread and no blocking
//! read, so that a sandbox in the same process goes on serving and a deadline is kept to the second.
//! Esc, Ctrl-C, Ctrl-D on an empty line and a terminal that goes away are all one way out.

mod deadline;
mod editor;
mod event_loop;
mod fallback;
mod frame;
mod interactivity;
mod keys;
mod line_editor;
mod menu;
mod multiline;
mod question;
mod terminal;
mod text_input;
mod theme;
mod yes_no;

pub(crate) use deadline::{Deadline, Until};
pub(crate) use interactivity::{NonInteractiveReason, TerminalEnv};
pub(crate) use question::{PromptError, Question};

use event_loop::ask;
use interactivity::PromptMode;
use menu::Menu;
use multiline::Multiline;
use question::Check;
use terminal::Modes;
use text_input::TextInput;
use theme::Theme;
use yes_no::YesNo;

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
    mode: Result<PromptMode, NonInteractiveReason>,
    theme: Theme,
}

impl Prompter {
    pub(crate) fn new(environment: &TerminalEnv) -> Self {
        Self {
            mode: environment.mode(),
            theme: Theme::new(environment.colour),
        }
    }

    pub(crate) fn interactive(&self) -> bool {
        self.mode.is_ok()
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
                ask(modes, &mut menu, None, &self.theme).await
            }
            None => fallback::choose(question, header, rows, Some(default), None).await,
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
                ask(modes, &mut menu, deadline, &self.theme).await
            }
            None => fallback::choose(question, None, &rows, None, deadline).await,
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
                    &mut TextInput::new(question, default, check),
                    deadline,
                    &self.theme,
                )
                .await
            }
            None => fallback::text(question, default, check, deadline).await,
        }
    }

    /// Several lines, until an empty one or Ctrl-D. Empty lines inside a paste belong to it.
    pub(crate) async fn paste_until(
        &self,
        question: &Question,
        deadline: Option<&Deadline<'_>>,
    ) -> Result<Until<String>, PromptError> {
        match self.raw(question)? {
            Some(modes) => ask(modes, &mut Multiline::new(question), deadline, &self.theme).await,
            None => fallback::paste(question, deadline).await,
        }
    }

    /// Yes or no, by one key; Enter is `default`.
    pub(crate) async fn confirm(
        &self,
        question: &Question,
        default: bool,
    ) -> Result<bool, PromptError> {
        match self.raw(question)? {
            Some(modes) => ask(modes, &mut YesNo::new(question, default), None, &self.theme).await,
            None => fallback::confirm(question, default).await,
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
        self.mode(question)?;
        Ok(editor::edit(command, initial, suffix)?)
    }

    /// The terminal in raw mode where questions are live; `None` where they are plain, or where this
    /// terminal cannot be made raw.
    fn raw(&self, question: &Question) -> Result<Option<Modes>, PromptError> {
        Ok(match self.mode(question)? {
            PromptMode::Live => Modes::raw().ok(),
            PromptMode::Plain => None,
        })
    }

    fn mode(&self, question: &Question) -> Result<PromptMode, PromptError> {
        self.mode.map_err(|reason| PromptError::Refused {
            flag: question.flag.clone(),
            what: question.what.clone(),
            reason,
        })
    }
}
