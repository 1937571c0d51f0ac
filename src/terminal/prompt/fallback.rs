//! Questions without redrawing, for screen readers and simple terminals: print a line, read a line.

use super::Answer;
use super::event_loop::POLL_INTERVAL;
use super::menu::first_line;
use super::question::{Check, Deadline, Echo, PromptError, Question, countdown};
use super::screen::write;
use super::text_input::checked;
use crate::platform::signals::Continued;
use crate::platform::system::tty::{self, Modes};

/// Asks for a line until it is accepted.
pub(super) async fn text(
    question: &Question,
    default: Option<&str>,
    check: Check<'_>,
    deadline: Option<&Deadline<'_>>,
) -> Answer<String> {
    let answer = |line: &str| checked(line, default, check);
    ask(question, default, deadline, answer).await
}

/// Lists the rows with numbers and asks for a number.
pub(super) async fn choose(
    question: &Question,
    rows: &[String],
    default: Option<usize>,
    deadline: Option<&Deadline<'_>>,
) -> Answer<usize> {
    write(&listing(rows))?;
    let default = default.map(|row| (row + 1).to_string());
    let answer = |line: &str| number(line, rows.len(), default.as_deref());
    ask(question, default.as_deref(), deadline, answer).await
}

/// Lists the rows with numbers and asks for a number, or for a text of the person's own.
pub(super) async fn choose_or_type(
    question: &Question,
    rows: &[String],
    check: Check<'_>,
) -> Answer<String> {
    write(&listing(rows))?;
    let former = question.former.as_deref();
    let answer = |line: &str| match number(line, rows.len(), None) {
        Ok(row) => Ok(rows[row].clone()),
        Err(_) => checked(line, former, check),
    };
    ask(question, former, None, answer).await
}

/// Reads lines until an empty one or the end of input.
pub(super) async fn paste(question: &Question, deadline: Option<&Deadline<'_>>) -> Answer<String> {
    let prompt = prompt(question, None, deadline);
    write(&format!("{prompt} (end with an empty line)\n"))?;
    let mut text = String::new();
    loop {
        match read(question.echo, deadline).await? {
            Read::Line(line) if !line.is_empty() => text = text + &line + "\n",
            Read::TimedOut => return Ok(None),
            Read::End if text.is_empty() => return Err(PromptError::interrupted()),
            Read::Line(_) | Read::End => return Ok(Some(text.trim().to_owned())),
        }
    }
}

async fn ask<T>(
    question: &Question,
    default: Option<&str>,
    deadline: Option<&Deadline<'_>>,
    answer: impl Fn(&str) -> Result<T, String>,
) -> Answer<T> {
    loop {
        if question.confirms {
            tty::discard()?;
        }
        write(&format!("{} ", prompt(question, default, deadline)))?;
        match read(question.echo, deadline).await? {
            Read::TimedOut => return Ok(None),
            Read::End => {
                write("\n")?;
                return Err(PromptError::interrupted());
            }
            Read::Line(line) => match answer(&line) {
                Ok(answer) => return Ok(Some(answer)),
                Err(problem) => write(&format!("{problem}\n"))?,
            },
        }
    }
}

enum Read {
    Line(String),
    End,
    TimedOut,
}

/// Reads a line. If there is none, the cursor is moved to a fresh line.
async fn read(echo: Echo, deadline: Option<&Deadline<'_>>) -> Result<Read, PromptError> {
    // A plain terminal cannot erase what it has shown.
    let unseen = (echo != Echo::Shown).then(Modes::unseen).transpose()?;
    let mut continued = Continued::listen()?;
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    let mut line = std::pin::pin!(tty::line());
    let read = loop {
        if deadline.is_some_and(|deadline| deadline.left().is_zero()) {
            // If this fails, the next question begins with the rest of the line.
            let _ = tty::discard();
            break Ok(Read::TimedOut);
        }
        tokio::select! {
            line = &mut line => break Ok(line?.map_or(Read::End, Read::Line)),
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
    if unseen.is_some() || !matches!(read, Ok(Read::Line(_) | Read::End)) {
        write("\n")?;
    }
    read
}

/// `Code (19:52 left) [default]:`
fn prompt(question: &Question, default: Option<&str>, deadline: Option<&Deadline<'_>>) -> String {
    let mut prompt = question.text.clone();
    if let Some(deadline) = deadline {
        prompt += &format!(" ({} left)", countdown(deadline.left()));
    }
    match (default, question.source) {
        (Some(_), Some(source)) => prompt += &format!(" [Enter uses the one from {source}]"),
        (Some(default), None) => prompt += &format!(" [{default}]"),
        (None, _) => {}
    }
    // "Cancel it?" needs no colon.
    if !prompt.ends_with('?') {
        prompt.push(':');
    }
    prompt
}

fn listing(rows: &[String]) -> String {
    let width = rows.len().to_string().len();
    let rows = rows.iter().enumerate();
    rows.map(|(row, text)| format!("{:>width$}) {}\n", row + 1, first_line(text)))
        .collect()
}

fn number(line: &str, rows: usize, default: Option<&str>) -> Result<usize, String> {
    let number = checked(line, default, &|_| Ok(()))?.parse::<usize>();
    match number {
        Ok(number) if (1..=rows).contains(&number) => Ok(number - 1),
        _ => Err(format!("Please enter a number from 1 to {rows}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::{SignedDuration, Timestamp};

    #[test]
    fn a_numbered_list_takes_its_numbers_alone() {
        assert_eq!(number(" 2 ", 12, None), Ok(1));
        assert_eq!(number("", 12, Some("3")), Ok(2));
        for wrong in ["", "0", "13", "-1", "two", "1.5"] {
            assert!(
                number(wrong, 12, None).unwrap_err().contains("1 to 12"),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn the_time_left_and_the_default_are_said_in_the_question() {
        let now = Timestamp::UNIX_EPOCH;
        let clock = || now;
        let deadline = Deadline::new(now + SignedDuration::from_secs(1192), &clock);
        let question = Question::new("Code", "--otp", "the code");
        assert_eq!(
            prompt(&question, Some("x"), Some(&deadline)),
            "Code (19:52 left) [x]:"
        );
        assert_eq!(
            prompt(
                &Question::new("Cancel this booking?", "--yes", ""),
                None,
                None
            ),
            "Cancel this booking?"
        );
    }

    #[test]
    fn a_listing_aligns_its_numbers() {
        let rows: Vec<String> = (1..=10).map(|row| format!("row {row}\nguest")).collect();
        let listing = listing(&rows);
        assert!(listing.starts_with(" 1) row 1\n 2)") && listing.ends_with("10) row 10\n"));
    }
}
