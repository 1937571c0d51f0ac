//! The event loop of a live question: reads keys and redraws the question in place.

use std::cell::Cell;
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use tokio::signal::unix::{SignalKind, signal};

use super::deadline::{Deadline, Until};
use super::frame::{Frame, Screen, Size};
use super::keys::Key;
use super::question::PromptError;
use super::terminal::{self, Modes, Typed};
use super::theme::Theme;

/// How often the countdown, a moved clock and the terminal's size are checked. The size is polled because a handler
/// for the resize signal cannot be removed again.
const GLANCE: Duration = Duration::from_millis(200);

/// The state of a question. It takes keys and draws frames, and does not touch the terminal.
pub(super) trait Widget {
    type Answer;

    fn press(&mut self, key: Key) -> Step<Self::Answer>;

    /// Draws the question. No line is wider than `size.usable()`.
    fn draw(&self, left: Option<SignedDuration>, size: Size, theme: &Theme) -> Frame;

    /// The question and its answer, for the line that stays on the screen.
    fn answered(&self, answer: &Self::Answer) -> (&str, String);
}

/// The effect of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<T> {
    Stay,
    Answer(T),
    Interrupted,
}

/// How long after a key that answered alone an Enter still belongs to that answer.
const STRAY_ENTER: Duration = Duration::from_secs(1);

/// What the questions of a process share.
pub(super) struct Session {
    pub(super) theme: Theme,
    /// When a character answered the last question, without an Enter. Who presses Enter all the same means that
    /// question, not the default of the next one.
    answered_alone: Cell<Option<Instant>>,
}

impl Session {
    pub(super) fn new(theme: Theme) -> Self {
        Session {
            theme,
            answered_alone: Cell::new(None),
        }
    }

    /// Whether this first key of a question is an Enter that still belongs to the question before: it came before this
    /// question was seen, or right after that answer.
    fn is_stray(&self, key: Key, was_seen: bool) -> bool {
        let answered = self.answered_alone.take();
        key == Key::Enter && answered.is_some_and(|at| !was_seen || at.elapsed() < STRAY_ENTER)
    }
}

/// Asks until there is an answer, the deadline passes, or the person leaves: by Ctrl-C, Esc, SIGINT or closing the
/// terminal. `modes` is what made the terminal raw. It is restored on every way out, after the screen is tidied.
pub(super) async fn ask<W: Widget>(
    modes: Modes,
    widget: &mut W,
    deadline: Option<&Deadline<'_>>,
    session: &Session,
) -> Result<Until<W::Answer>, PromptError> {
    let _restored_last = modes;
    let theme = &session.theme;
    let mut screen = Screen::default();
    let mut typed = Typed::open()?;
    let mut was_seen = false;
    let mut interrupt = signal(SignalKind::interrupt())?;
    loop {
        let key = match typed.waiting().await? {
            // Take in a long paste first, and draw it once.
            Some(key) => Some(key),
            None => {
                let left = deadline.map(|deadline| deadline.left().unwrap_or_default());
                let size = terminal::size();
                screen.show(widget.draw(left, size, theme), size)?;
                was_seen = true;
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
            Some(key) if session.is_stray(key, was_seen) => Step::Stay,
            Some(key) => widget.press(key),
        };
        match step {
            Step::Stay => {}
            Step::Interrupted => return Err(PromptError::Interrupted),
            Step::Answer(answer) => {
                if matches!(key, Some(Key::Char(_))) {
                    session.answered_alone.set(Some(Instant::now()));
                }
                let (question, value) = widget.answered(&answer);
                let size = terminal::size();
                screen.finish(theme.answered(question, &value, size.usable()), size)?;
                return Ok(Until::Answered(answer));
            }
        }
    }
}
