//! Questions without redrawing, for screen readers and simple terminals: print a line, read a line.

use super::event_loop::POLL_INTERVAL;
use super::question::{Deadline, Echo, PromptError, Question, Result, countdown};
use super::screen::write;
use super::widget::Widget;
use crate::platform::signals::Continued;
use crate::platform::system::tty::{self, Modes};
use crate::terminal::output::visible;

pub(super) async fn ask(widget: &mut Widget<'_>, deadline: Option<Deadline<'_>>) -> Result<()> {
    let Question { confirms, echo, .. } = *widget.question;
    write(&widget.listing())?;
    loop {
        if confirms || !widget.rows.is_empty() {
            tty::discard()?;
        }
        write(&prompt(widget.question, widget.default(), deadline))?;
        let Some(line) = read(echo, deadline).await? else {
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
async fn read(echo: Echo, deadline: Option<Deadline<'_>>) -> Result<Option<String>> {
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
fn prompt(question: &Question, default: Option<String>, deadline: Option<Deadline<'_>>) -> String {
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
        let requested = prompt(&question, Some("x".to_owned()), Some(deadline));
        assert_eq!(requested, "Code (19:52 left) [x]: ");
        let question = Question::new("Cancel this booking?", "--yes", "");
        assert_eq!(prompt(&question, None, None), "Cancel this booking? ");
    }
}
