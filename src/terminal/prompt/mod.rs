//! Asking questions. They go to standard error. Without a terminal nothing is asked, and the error names the flag
//! that answers the question.
//!
//! Live questions share one event loop: it takes keys and draws frames, without a thread and without a blocking read.
//! A sandbox in the same process keeps serving, and a deadline is kept to the second. Ctrl-C, Ctrl-D on an empty
//! line and closing the terminal all end a question in the same way. Esc goes back a question, and declines where none
//! comes before.
//!
//! dialoguer draws the parts (see `theme`), and its widgets are not used. Each of them blocks its thread until there is an
//! answer: a deadline cannot count down beside it, and the sandbox in this process would stand still. Measured with
//! version 0.12 in a terminal: SIGTERM leaves it in raw mode after `Input` and `Select`, and without a cursor after
//! `Select`; Ctrl-C in `Password` ends the process by the signal, with the echo still off; `Select` with three rows of wide
//! characters in 40 columns erases its own question at the first arrow key, because it counts bytes as columns. The
//! fallback (see `fallback`) is for terminals that cannot be redrawn, which every widget of dialoguer does.

mod deadline;
mod editor;
mod event_loop;
mod fallback;
mod frame;
mod interactivity;
mod line_editor;
mod menu;
mod multiline;
mod question;
mod text_input;
mod theme;

pub(crate) use deadline::{Deadline, Until};
pub(crate) use interactivity::{NonInteractiveReason, TerminalEnv};
pub(crate) use question::{PromptError, Question};

use event_loop::ask;
use frame::Size;
use interactivity::PromptMode;
use menu::Menu;
use multiline::Multiline;
use question::Check;
use text_input::TextInput;
use theme::Theme;

use crate::platform::system::tty::Modes;
pub(crate) use crate::terminal::rows::Place;

impl<T> Until<T> {
    /// For questions without a deadline, which cannot time out.
    fn answered(self) -> Result<T, PromptError> {
        match self {
            Self::Answered(answer) => Ok(answer),
            Self::TimedOut => Err(PromptError::Interrupted),
        }
    }
}

/// Asks questions, or refuses to. Every `async` method needs a tokio runtime with I/O and time. It may be dropped at
/// any moment; the terminal is then restored.
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

    /// Whether this can be asked.
    ///
    /// # Errors
    /// Where nothing can be asked: the error names what answers the question instead.
    pub(crate) fn check(&self, question: &Question) -> Result<(), PromptError> {
        self.mode(question).map(drop)
    }

    /// Where the next question will stand.
    pub(crate) fn place(&self) -> Place {
        Place::next(Size::of_terminal().columns)
    }

    /// Clears the terminal from the place of a question that is asked again. Where that is out of reach, a line says that
    /// its answer was taken back.
    pub(crate) fn return_to(&self, place: Place) {
        let size = Size::of_terminal();
        let rows = place.rows_since(size.columns);
        let text = match rows.filter(|rows| *rows < size.rows) {
            Some(0) => return,
            Some(rows) => {
                place.clear();
                format!("\x1b[{rows}A\r\x1b[J")
            }
            None => {
                let hint = self.theme.hint("The last answer above was taken back.");
                format!("{hint}\r\n")
            }
        };
        // Nobody can be told if stderr is closed.
        let _ = frame::write(&text);
    }

    /// Asks to select one of many rows, which typing filters; further lines of a row are for the filter alone. Returns its
    /// index. `header` names the columns of the
    /// rows; `default` is selected at first.
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

    /// Asks to select one of the rows, or to type another answer, which `check` may reject.
    pub(crate) async fn pick_or_type(
        &self,
        question: &Question,
        rows: &[String],
        check: Check<'_>,
    ) -> Result<String, PromptError> {
        match self.raw(question)? {
            Some(modes) => {
                let mut menu = Menu::new(question, rows).or_typed(check);
                let row = ask(modes, &mut menu, None, &self.theme).await?;
                row.answered().map(|row| menu.text_of(row))
            }
            None => fallback::choose_or_type(question, rows, check)
                .await?
                .answered(),
        }
    }

    /// Asks to select one of a few options, the first by default. Returns its index. Typing does not filter them, so
    /// that no key can leave an option as the only one that Enter takes.
    pub(crate) async fn choose(
        &self,
        question: &Question,
        options: &[&str],
    ) -> Result<usize, PromptError> {
        self.choose_until(question, options, None).await?.answered()
    }

    pub(crate) async fn choose_until(
        &self,
        question: &Question,
        options: &[&str],
        deadline: Option<&Deadline<'_>>,
    ) -> Result<Until<usize>, PromptError> {
        let rows: Vec<String> = options.iter().map(ToString::to_string).collect();
        match self.raw(question)? {
            Some(modes) => {
                let mut menu = Menu::new(question, &rows);
                ask(modes, &mut menu, deadline, &self.theme).await
            }
            None => fallback::choose(question, None, &rows, None, deadline).await,
        }
    }

    /// Asks for a line of text, and trims it. An empty line is the default. A line that `check` rejects is asked for
    /// again.
    pub(crate) async fn text(
        &self,
        question: &Question,
        default: Option<&str>,
        check: Check<'_>,
    ) -> Result<String, PromptError> {
        self.line(question, default, check, None).await?.answered()
    }

    pub(crate) async fn text_until(
        &self,
        question: &Question,
        default: Option<&str>,
        check: Check<'_>,
        deadline: Option<&Deadline<'_>>,
    ) -> Result<Until<String>, PromptError> {
        self.line(question, default, check, deadline).await
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
            None => {
                let default = question.former.as_deref().or(default);
                fallback::text(question, default, check, deadline).await
            }
        }
    }

    /// Asks for several lines. An empty line or Ctrl-D ends them; empty lines inside a paste do not.
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

    /// Asks for yes or no, as a word and Enter. Enter alone is `default`, and Esc is no unless it goes back. What was typed
    /// before the question was drawn does not count.
    pub(crate) async fn confirm(
        &self,
        question: &Question,
        default: bool,
    ) -> Result<bool, PromptError> {
        self.confirm_until(question, default, None)
            .await?
            .answered()
    }

    pub(crate) async fn confirm_until(
        &self,
        question: &Question,
        default: bool,
        deadline: Option<&Deadline<'_>>,
    ) -> Result<Until<bool>, PromptError> {
        let question = Question {
            confirms: true,
            ..question.clone()
        };
        let default = if default { "yes" } else { "no" };
        let check = |line: &str| yes_or_no(line).map(drop);
        match self.line(&question, Some(default), &check, deadline).await {
            Ok(Until::Answered(line)) => Ok(Until::Answered(yes_or_no(&line) == Ok(true))),
            Ok(Until::TimedOut) => Ok(Until::TimedOut),
            Err(PromptError::Back) if !question.goes_back => Ok(Until::Answered(false)),
            Err(error) => Err(error),
        }
    }

    /// Opens `initial` in the user's editor (`command`, from `$VISUAL` or `$EDITOR`). Returns `None` if the text
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

    /// Makes the terminal raw for a live question. Returns `None` if questions are plain, or if the terminal cannot
    /// be made raw.
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

fn yes_or_no(line: &str) -> Result<bool, String> {
    match line.to_lowercase().as_str() {
        "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => Err("type yes or no, then Enter".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::yes_or_no;

    #[test]
    fn only_a_word_that_means_yes_is_a_yes() {
        for yes in ["y", "Y", "yes", "YES"] {
            assert_eq!(yes_or_no(yes), Ok(true));
        }
        assert_eq!(yes_or_no("No"), Ok(false));
        for other in ["", "yep", "modify", "y y", "ja", "yes, wrong one"] {
            assert!(yes_or_no(other).is_err(), "{other}");
        }
    }
}
