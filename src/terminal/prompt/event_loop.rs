//! A question that is redrawn in place while it stands.

use std::time::Duration;

use jiff::SignedDuration;
use tokio::signal::unix::{SignalKind, signal};

use super::deadline::{Deadline, Until};
use super::frame::{Frame, Screen, Size};
use super::keys::Key;
use super::question::PromptError;
use super::terminal::{self, Modes, Typed};
use super::theme::Theme;

/// How soon a countdown, a moved clock or a resized terminal is noticed. Looking is cheap, and a
/// handler for the resize signal could never be taken back.
const GLANCE: Duration = Duration::from_millis(200);

/// A question's state: keys in, frames out, no terminal in between.
pub(super) trait Widget {
    type Answer;

    fn press(&mut self, key: Key) -> Step<Self::Answer>;

    /// What is to be seen; no line wider than `size.usable()`.
    fn draw(&self, left: Option<SignedDuration>, size: Size, theme: &Theme) -> Frame;

    /// Question and answer, for the line that stays.
    fn answered(&self, answer: &Self::Answer) -> (&str, String);
}

/// What a key led to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<T> {
    Stay,
    Answer(T),
    Interrupted,
}

/// Asks until there is an answer, the time is up, or the person wants out: Ctrl-C, Esc, the signal,
/// a terminal that goes away. `modes` is what made the terminal raw; it is restored on every way out,
/// after the screen was tidied.
pub(super) async fn ask<W: Widget>(
    modes: Modes,
    widget: &mut W,
    deadline: Option<&Deadline<'_>>,
    theme: &Theme,
) -> Result<Until<W::Answer>, PromptError> {
    let _restored_last = modes;
    let mut screen = Screen::default();
    let mut typed = Typed::open()?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    loop {
        let key = match typed.waiting().await? {
            // A long paste is taken in first and drawn once.
            Some(key) => Some(key),
            None => {
                let left = deadline.map(|deadline| deadline.left().unwrap_or_default());
                let size = terminal::size();
                screen.show(widget.draw(left, size, theme), size)?;
                if left.is_some_and(|left| left.is_zero()) {
                    return Ok(Until::TimedOut);
                }
                tokio::select! {
                    key = typed.key() => key?,
                    _ = interrupt.recv() => None,
                    () = tokio::time::sleep(GLANCE) => continue,
                }
            }
        };
        let step = match key {
            None | Some(Key::Interrupt | Key::Escape) => Step::Interrupted,
            Some(key) => widget.press(key),
        };
        match step {
            Step::Stay => {}
            Step::Interrupted => return Err(PromptError::Interrupted),
            Step::Answer(answer) => {
                let (question, value) = widget.answered(&answer);
                let size = terminal::size();
                screen.finish(theme.answered(question, &value, size.usable()), size)?;
                return Ok(Until::Answered(answer));
            }
        }
    }
}
