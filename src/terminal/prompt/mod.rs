//! Asking questions, on standard error. Without a terminal nothing is asked, and the error names
//! the flag that answers.
//!
//! Live questions share one event loop: it takes keys and draws frames, without a thread and
//! without a blocking read. A sandbox in the same process keeps serving, and a deadline is kept to
//! the second. Ctrl-C, Ctrl-D on an empty line and closing the terminal all end a question. Esc
//! goes back a question, and declines where none comes before.
//!
//! dialoguer draws the parts (see `theme`). Its widgets, measured with version 0.12, block their
//! thread, leave the terminal raw after SIGTERM, and count bytes as columns. The fallback is for
//! terminals that cannot be redrawn.

mod editor;
mod event_loop;
mod line;
mod question;
mod screen;
mod theme;
mod widget;

pub(crate) use line::Line;
pub(crate) use question::{Deadline, PromptError, Question, countdown};
pub(crate) use screen::{FullScreen, Size, discard, wait_for_enter, write};

use question::{AnswerCheck, Result};
use theme::Theme;
use widget::Widget;

use crate::outcome::Error;
use crate::platform::system::tty::Modes;

/// Asks questions, or refuses to. Dropping an `async` method restores the terminal.
pub(crate) struct Prompter<'a> {
    refusal: Option<&'static str>,
    /// Whether a question is printed and its answer read as a line, with nothing redrawn.
    is_plain: bool,
    color: bool,
    deadline: Option<Deadline<'a>>,
}

impl Prompter<'_> {
    pub(crate) fn new(refusal: Option<&'static str>, is_plain: bool, color: bool) -> Self {
        Prompter { refusal, is_plain, color, deadline: None }
    }

    /// A prompter for questions that end with [`PromptError::TooLate`] at the deadline.
    pub(crate) fn until<'a>(&self, deadline: Option<Deadline<'a>>) -> Prompter<'a> {
        Prompter { deadline, ..*self }
    }

    pub(crate) fn interactive(&self) -> bool {
        self.refusal.is_none()
    }

    pub(crate) fn why_no_screen(&self) -> Option<&'static str> {
        let plain = "TERM is dumb or not set, or BOOKCTL_ACCESSIBLE is set";
        self.refusal.or(self.is_plain.then_some(plain))
    }

    /// Whether this can be asked; else the error names what answers the question instead.
    pub(crate) fn check(&self, question: &Question) -> Result<()> {
        self.refusal.map_or(Ok(()), |reason| {
            let what = &question.what;
            let why = format!("{what} is missing, and prompts are disabled: {reason}");
            let hint = format!("pass {}", question.flag);
            Err(PromptError::Failed(Error::usage(why).hint(hint)))
        })
    }

    pub(crate) fn announce_back(&self) {
        let hint = Theme::new(self.color).hint("You went back: the last answer above is not used.");
        // A closed stderr cannot be reported.
        let _ = write(&format!("{hint}\r\n"));
    }

    /// Asks for one of many rows, which typing filters. Returns its index.
    pub(crate) async fn pick(
        &self,
        question: &Question,
        rows: &[String],
        default: usize,
    ) -> Result<usize> {
        if rows.is_empty() {
            let what = format!("there are no {} to choose from", question.noun);
            return Err(PromptError::Failed(Error::usage(what)));
        }
        let mut menu = Widget::new(question, rows, default).filtered();
        self.ask(&mut menu).await?;
        Ok(menu.row)
    }

    /// Asks to select one of the rows, or to type another answer, which `check` may reject.
    pub(crate) async fn pick_or_type(
        &self,
        question: &Question,
        rows: &[String],
        check: AnswerCheck<'_>,
    ) -> Result<String> {
        let mut menu = Widget::new(question, rows, 0).or_typed(None, check);
        self.ask(&mut menu).await?;
        Ok(menu.text)
    }

    /// Asks for one of a few options. Typing does not filter: no key leaves one alone for Enter.
    pub(crate) async fn choose(
        &self,
        question: &Question,
        options: &[impl ToString],
    ) -> Result<usize> {
        let rows: Vec<String> = options.iter().map(ToString::to_string).collect();
        let mut menu = Widget::new(question, &rows, 0);
        self.ask(&mut menu).await?;
        Ok(menu.row)
    }

    /// Asks for a line of text until `check` accepts it. An empty line is the default.
    pub(crate) async fn text(
        &self,
        question: &Question,
        default: Option<&str>,
        check: AnswerCheck<'_>,
    ) -> Result<String> {
        let mut input = Widget::new(question, &[], 0).or_typed(default, check);
        self.ask(&mut input).await?;
        Ok(input.text)
    }

    /// Asks for yes or no, as a word and Enter; Enter alone is `default`, Esc is no unless it goes
    /// back. What was typed before the question was drawn does not count.
    pub(crate) async fn confirm(&self, question: &Question, default: bool) -> Result<bool> {
        let question = Question { confirms: true, ..question.clone() };
        let default = if default { "yes" } else { "no" };
        let check = |line: &str| yes_or_no(line).map(drop);
        match self.text(&question, Some(default), &check).await {
            Ok(line) => Ok(yes_or_no(&line) == Ok(true)),
            Err(PromptError::Back) if !question.goes_back => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Completes when Esc is pressed during a wait; pending forever if prompts are disabled.
    pub(crate) async fn escape(&self) -> Result<()> {
        let is_live = self.interactive() && !self.is_plain;
        match is_live.then(Modes::raw) {
            Some(Ok(modes)) => event_loop::escaped(modes).await,
            _ => std::future::pending().await,
        }
    }

    /// Opens a JSON text in the user's editor. `None` if it comes back unchanged or empty.
    pub(crate) fn edit(
        &self,
        question: &Question,
        command: &str,
        initial: &str,
    ) -> Result<Option<String>> {
        self.check(question)?;
        Ok(editor::edit(command, initial)?)
    }

    async fn ask(&self, widget: &mut Widget<'_>) -> Result<()> {
        self.check(widget.question)?;
        let theme = Theme::new(self.color);
        match (!self.is_plain).then(Modes::raw) {
            Some(Ok(modes)) => event_loop::ask_live(modes, widget, self.deadline, &theme).await,
            _ => event_loop::ask_plainly(widget, self.deadline).await,
        }
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
