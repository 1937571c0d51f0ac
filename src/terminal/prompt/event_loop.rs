//! The event loop of a live question: reads keys and redraws the question in place.

use std::time::Duration;

use super::question::{Deadline, PromptError, Result};
use super::screen::{Screen, Size};
use super::theme::Theme;
use super::widget::{KeyEffect, Widget};
use crate::platform::key::Key;
use crate::platform::signals::Continued;
use crate::platform::system::process;
use crate::platform::system::tty::{Modes, Typed};

/// How often the countdown, a moved clock and the size are checked, without a signal handler.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Completes when Esc is pressed. Ctrl-C ends it as it ends a question; other keys do nothing.
pub(super) async fn escaped(_restored_last: Modes) -> Result<()> {
    let mut typed = Typed::open()?;
    loop {
        match typed.key().await? {
            Some(Key::Escape) => return Ok(()),
            None | Some(Key::Interrupt) => return Err(PromptError::interrupted()),
            Some(_) => {}
        }
    }
}

/// Asks until there is an answer, the deadline passes, or the person leaves: by Ctrl-C, Esc, SIGINT
/// or closing the terminal. `modes` made the terminal raw, and is restored on every way out, after
/// the screen is tidied.
///
/// Ctrl-Z suspends the process, with the terminal restored. When it continues, the terminal is made
/// raw again and the question is redrawn, because a shell may have used both in the meantime.
pub(super) async fn ask(
    modes: Modes,
    widget: &mut Widget<'_>,
    deadline: Option<Deadline<'_>>,
    theme: &Theme,
) -> Result<()> {
    // Dropped in this order: first the screen.
    let restored_last = modes;
    let mut screen = Screen::default();
    let mut typed = Typed::open()?;
    let mut continued = Continued::listen()?;
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    let mut is_suspended = false;
    let question = widget.question;
    let (confirms, goes_back) = (question.confirms, question.goes_back);
    // Enter alone answers, so that one typed before must not count. Ctrl-C counts.
    if (confirms || !widget.rows.is_empty()) && typed.discard()? {
        return Err(PromptError::interrupted());
    }
    loop {
        // Take in a long paste first, and draw it once.
        let mut key = typed.waiting().await?;
        if key.is_none() {
            let left = deadline.map(|deadline| deadline.left());
            let size = Size::of_terminal();
            screen.show(widget.draw(left, size, theme), size)?;
            if left.is_some_and(|left| left.is_zero()) {
                return Err(PromptError::TooLate);
            }
            tokio::select! {
                pressed = typed.key() => key = pressed?,
                _ = &mut interrupted => {}
                () = continued.next() => {
                    if !std::mem::take(&mut is_suspended) {
                        screen.forget();
                    }
                    restored_last.enter()?;
                    continue;
                }
                () = tokio::time::sleep(POLL_INTERVAL) => continue,
            }
        }
        let step = match key {
            None | Some(Key::Interrupt) => KeyEffect::Interrupted,
            Some(key @ (Key::Escape | Key::BackTab)) if goes_back || key == Key::Escape => {
                screen.erase()?;
                return Err(PromptError::Back);
            }
            Some(Key::Suspend) => {
                screen = Screen::default();
                restored_last.leave()?;
                is_suspended = true;
                process::suspend()?;
                restored_last.enter()?;
                KeyEffect::Stay
            }
            Some(key) => widget.press(key),
        };
        match step {
            KeyEffect::Stay if confirms && key == Some(Key::Enter) => {
                if typed.discard()? {
                    return Err(PromptError::interrupted());
                }
            }
            KeyEffect::Stay => {}
            KeyEffect::Interrupted => return Err(PromptError::interrupted()),
            KeyEffect::Answered => {
                let size = Size::of_terminal();
                let lines = theme.answered(&question.text, &widget.visible_text(), size.usable());
                screen.finish(lines, size)?;
                return Ok(());
            }
        }
    }
}
