//! Asking a question: live, with keys and a question redrawn in place, or without redrawing, for
//! screen readers and simple terminals: print a line, read a line.

use std::time::Duration;

use super::question::{Deadline, Echo, PromptError, Question, Result, countdown};
use super::screen::{Screen, Size, write};
use super::theme::Theme;
use super::widget::{KeyEffect, Widget};
use crate::platform::key::Key;
use crate::platform::signals::Continued;
use crate::platform::system::process;
use crate::platform::system::tty::{self, Modes, Typed};
use crate::terminal::output::visible;

/// How often the countdown, a moved clock and the size are checked, without a signal handler.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

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
pub(super) async fn ask_live(
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

pub(super) async fn ask_plainly(
    widget: &mut Widget<'_>,
    deadline: Option<Deadline<'_>>,
) -> Result<()> {
    let Question { confirms, echo, .. } = *widget.question;
    write(&widget.listing())?;
    loop {
        if confirms || !widget.rows.is_empty() {
            tty::discard()?;
        }
        write(&plain_prompt(widget.question, widget.default(), deadline))?;
        let Some(line) = read_line(echo, deadline).await? else {
            write("\n")?;
            return Err(PromptError::interrupted());
        };
        match widget.take_line(&line) {
            Ok(()) => return Ok(()),
            Err(problem) => write(&format!("{}\n", visible(&problem)))?,
        }
    }
}

/// Reads a line, `None` at the end of input. If there is neither, moves to a fresh line.
async fn read_line(echo: Echo, deadline: Option<Deadline<'_>>) -> Result<Option<String>> {
    // A plain terminal cannot erase what it has shown.
    let unseen = (echo != Echo::Shown).then(Modes::unseen).transpose()?;
    let mut continued = Continued::listen()?;
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    let mut line = std::pin::pin!(tty::line());
    let read = loop {
        if deadline.is_some_and(|deadline| deadline.left().is_zero()) {
            // If this fails, the next question begins with the rest of the line.
            let _ = tty::discard();
            break Err(PromptError::TooLate);
        }
        tokio::select! {
            line = &mut line => break Ok(line?),
            _ = &mut interrupted => break Err(PromptError::interrupted()),
            () = continued.next() => {
                // The shell that used the terminal in the meantime shows what is typed.
                if let Some(unseen) = &unseen {
                    unseen.enter()?;
                }
            }
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    };
    if unseen.is_some() || read.is_err() {
        write("\n")?;
    }
    if echo == Echo::Hidden {
        // Further lines of a paste answer no other question.
        let _ = tty::discard();
    }
    read
}

/// `Code (19:52 left) [default]: `
fn plain_prompt(
    question: &Question,
    default: Option<String>,
    deadline: Option<Deadline<'_>>,
) -> String {
    let mut prompt = visible(&question.text).into_owned();
    if let Some(deadline) = deadline {
        prompt += &format!(" ({} left)", countdown(deadline.left()));
    }
    match default {
        Some(default) if question.echo == Echo::Shown => {
            prompt += &format!(" [{}]", visible(&default))
        }
        // A plain terminal must not show a secret.
        Some(_) => prompt += " [Enter uses the one from the sandbox's inbox]",
        None => {}
    }
    // "Cancel it?" needs no colon.
    if !prompt.ends_with('?') {
        prompt.push(':');
    }
    prompt + " "
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::{SignedDuration, Timestamp};

    #[test]
    fn question_shows_the_time_left_and_the_default() {
        let now = Timestamp::UNIX_EPOCH;
        let clock = || now;
        let deadline = Deadline { at: now + SignedDuration::from_secs(1192), clock: &clock };
        let question = Question::new("Code", "--otp", "the code");
        let requested = plain_prompt(&question, Some("x".to_owned()), Some(deadline));
        assert_eq!(requested, "Code (19:52 left) [x]: ");
        let question = Question::new("Cancel this booking?", "--yes", "");
        assert_eq!(plain_prompt(&question, None, None), "Cancel this booking? ");
    }
}
