//! The event loop of a live question: reads keys and redraws the question in place.

use std::time::Duration;

use jiff::SignedDuration;

use super::deadline::{Deadline, Until};
use super::frame::{Frame, Screen, Size};
use super::question::{PromptError, Question};
use super::theme::Theme;
use crate::platform::key::Key;
use crate::platform::system::process;
use crate::platform::system::signals::{QuestionSignal, QuestionSignals};
use crate::platform::system::tty::{self, Modes, Typed};

/// How often the countdown, a moved clock and the terminal's size are checked. The size is polled because a handler
/// for the resize signal cannot be removed again.
const GLANCE: Duration = Duration::from_millis(200);

/// The state of a question. It takes keys and draws frames, and does not touch the terminal.
pub(super) trait Widget {
    type Answer;

    fn press(&mut self, key: Key) -> Step<Self::Answer>;

    /// Draws the question. No line is wider than `size.usable()`.
    fn draw(&self, left: Option<SignedDuration>, size: Size, theme: &Theme) -> Frame;

    fn question(&self) -> &Question;

    /// The answer, for the line that stays on the screen.
    fn answered(&self, answer: &Self::Answer) -> String;
}

/// The effect of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<T> {
    Stay,
    Answer(T),
    Interrupted,
}

/// Asks until there is an answer, the deadline passes, or the person leaves: by Ctrl-C, Esc, SIGINT or closing the
/// terminal. `modes` is what made the terminal raw. It is restored on every way out, after the screen is tidied.
///
/// Ctrl-Z suspends the process, with the terminal restored. When the process continues, however it was stopped, the
/// terminal is made raw again and the question is redrawn, because a shell may have used both in the meantime.
pub(super) async fn ask<W: Widget>(
    modes: Modes,
    widget: &mut W,
    deadline: Option<&Deadline<'_>>,
    theme: &Theme,
) -> Result<Until<W::Answer>, PromptError> {
    let restored_last = modes;
    let mut screen = Screen::default();
    let mut typed = Typed::open()?;
    let mut signals = QuestionSignals::listen()?;
    let mut suspended = false;
    let confirms = widget.question().confirms;
    if confirms {
        tty::discard()?;
    }
    loop {
        let key = match typed.waiting().await? {
            // Take in a long paste first, and draw it once.
            Some(key) => Some(key),
            None => {
                let left = deadline.map(|deadline| deadline.left().unwrap_or_default());
                let size = Size::of_terminal();
                screen.show(widget.draw(left, size, theme), size)?;
                if left.is_some_and(|left| left.is_zero()) {
                    return Ok(Until::TimedOut);
                }
                tokio::select! {
                    key = typed.key() => key?,
                    signal = signals.next() => match signal {
                        QuestionSignal::Interrupted => None,
                        QuestionSignal::Continued => {
                            if !std::mem::take(&mut suspended) {
                                screen.forget();
                            }
                            restored_last.enter()?;
                            continue;
                        }
                    },
                    () = tokio::time::sleep(GLANCE) => continue,
                }
            }
        };
        let goes_back = widget.question().goes_back;
        let step = match key {
            Some(key @ (Key::Escape | Key::BackTab)) if goes_back || key == Key::Escape => {
                screen.erase()?;
                return Err(PromptError::Back);
            }
            None | Some(Key::Interrupt) => Step::Interrupted,
            Some(Key::Suspend) => {
                screen = Screen::default();
                restored_last.leave()?;
                suspended = true;
                process::suspend()?;
                restored_last.enter()?;
                Step::Stay
            }
            Some(key) => widget.press(key),
        };
        match step {
            Step::Stay if confirms && key == Some(Key::Enter) => tty::discard()?,
            Step::Stay => {}
            Step::Interrupted => return Err(PromptError::Interrupted),
            Step::Answer(answer) => {
                let value = widget.answered(&answer);
                let size = Size::of_terminal();
                let question = &widget.question().text;
                screen.finish(theme.answered(question, &value, size.usable()), size)?;
                return Ok(Until::Answered(answer));
            }
        }
    }
}
