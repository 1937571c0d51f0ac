//! Questions without redrawing, for screen readers and simple terminals: print a line, read a line.

use std::time::Duration;

use super::deadline::{Deadline, Until, countdown};
use super::frame::write;
use super::line_editor::Echo;
use super::menu::shown;
use super::question::{Check, PromptError, Question};
use super::text_input;
use crate::platform::system::signals::{QuestionSignal, QuestionSignals};
use crate::platform::system::tty::{self, Modes};

type Asked<T> = Result<Until<T>, PromptError>;

/// How often the deadline is checked.
const GLANCE: Duration = Duration::from_millis(200);

/// Asks for a line until it is accepted. Each question says the time left when it is printed.
pub(super) async fn text(
    question: &Question,
    default: Option<&str>,
    check: Check<'_>,
    deadline: Option<&Deadline<'_>>,
) -> Asked<String> {
    ask(question, default, deadline, |line| {
        text_input::answer(line, default, check)
    })
    .await
}

/// Lists the rows with numbers and asks for a number.
pub(super) async fn choose(
    question: &Question,
    header: Option<&str>,
    rows: &[String],
    default: Option<usize>,
    deadline: Option<&Deadline<'_>>,
) -> Asked<usize> {
    write(&listing(header, rows))?;
    let default = default.map(|row| (row + 1).to_string());
    ask(question, default.as_deref(), deadline, |line| {
        number(line, rows.len(), default.as_deref())
    })
    .await
}

/// Lists the rows with numbers and asks for a number, or for a text of the person's own.
pub(super) async fn choose_or_type(
    question: &Question,
    rows: &[String],
    check: Check<'_>,
) -> Asked<String> {
    write(&listing(None, rows))?;
    ask(
        question,
        question.former.as_deref(),
        None,
        |line| match number(line, rows.len(), None) {
            Ok(row) => Ok(rows[row].clone()),
            Err(_) => text_input::answer(line, question.former.as_deref(), check),
        },
    )
    .await
}

/// Reads lines until an empty one or the end of input.
pub(super) async fn paste(question: &Question, deadline: Option<&Deadline<'_>>) -> Asked<String> {
    write(&format!(
        "{} (end with an empty line)\n",
        prompt(question, None, deadline)
    ))?;
    let mut text = String::new();
    loop {
        match read(question.echo, deadline).await? {
            Until::TimedOut => return Ok(Until::TimedOut),
            Until::Answered(Some(line)) if !line.is_empty() => {
                text.push_str(&line);
                text.push('\n');
            }
            Until::Answered(None) if text.is_empty() => return Err(PromptError::Interrupted),
            Until::Answered(_) => return Ok(Until::Answered(text.trim().to_owned())),
        }
    }
}

async fn ask<T>(
    question: &Question,
    default: Option<&str>,
    deadline: Option<&Deadline<'_>>,
    answer: impl Fn(&str) -> Result<T, String>,
) -> Asked<T> {
    loop {
        if question.confirms {
            tty::discard()?;
        }
        write(&format!("{} ", prompt(question, default, deadline)))?;
        match read(question.echo, deadline).await? {
            Until::TimedOut => return Ok(Until::TimedOut),
            Until::Answered(None) => {
                write("\n")?;
                return Err(PromptError::Interrupted);
            }
            Until::Answered(Some(line)) => match answer(&line) {
                Ok(answer) => return Ok(Until::Answered(answer)),
                Err(problem) => write(&format!("{problem}\n"))?,
            },
        }
    }
}

/// Reads a line; `None` is the end of input. If there is no answer the cursor is moved to a fresh line.
async fn read(echo: Echo, deadline: Option<&Deadline<'_>>) -> Asked<Option<String>> {
    let unseen = match echo {
        Echo::Shown => None,
        // A plain terminal cannot erase what it has shown.
        Echo::Fleeting | Echo::Hidden => Some(Modes::unseen()?),
    };
    let mut signals = QuestionSignals::listen()?;
    let mut line = std::pin::pin!(tty::line());
    let ended = loop {
        if deadline.is_some_and(|deadline| deadline.left().is_none()) {
            break Ok(Until::TimedOut);
        }
        tokio::select! {
            line = &mut line => break line.map(Until::Answered).map_err(PromptError::from),
            signal = signals.next() => match signal {
                QuestionSignal::Interrupted => break Err(PromptError::Interrupted),
                QuestionSignal::Continued => {
                    // The shell that used the terminal in the meantime shows what is typed.
                    if let Some(unseen) = &unseen {
                        unseen.enter()?;
                    }
                }
            },
            () = tokio::time::sleep(GLANCE) => {}
        }
    };
    if let Ok(Until::TimedOut) = ended {
        // If this fails, the next question begins with the rest of the line.
        let _ = tty::discard();
    }
    if echo != Echo::Shown || !matches!(ended, Ok(Until::Answered(_))) {
        write("\n")?;
    }
    ended
}

/// `Code (19:52 left) [default]:`
fn prompt(question: &Question, default: Option<&str>, deadline: Option<&Deadline<'_>>) -> String {
    let mut prompt = question.text.clone();
    if let Some(deadline) = deadline {
        prompt += &format!(" ({} left)", countdown(deadline.left().unwrap_or_default()));
    }
    if let Some(source) = question.source.filter(|_| default.is_some()) {
        prompt += &format!(" [Enter uses the one from {source}]");
    } else if let Some(default) = default {
        prompt += &format!(" [{default}]");
    }
    // "Cancel it?" needs no colon.
    if !prompt.ends_with('?') {
        prompt.push(':');
    }
    prompt
}

fn listing(header: Option<&str>, rows: &[String]) -> String {
    let width = rows.len().to_string().len();
    let mut listing = String::new();
    if let Some(header) = header {
        listing += &format!("{:width$}  {header}\n", "");
    }
    for (row, text) in rows.iter().enumerate() {
        listing += &format!("{:>width$}) {}\n", row + 1, shown(text));
    }
    listing
}

fn number(line: &str, rows: usize, default: Option<&str>) -> Result<usize, String> {
    let line = match (line.trim(), default) {
        ("", Some(default)) => default,
        (line, _) => line,
    };
    match line.parse::<usize>() {
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
    fn a_listing_aligns_its_numbers_with_its_header() {
        let rows: Vec<String> = (1..=10).map(|row| format!("row {row}")).collect();
        let listing = listing(Some("name"), &rows);
        assert!(listing.starts_with("    name\n 1) row 1\n"));
        assert!(listing.ends_with("10) row 10\n"));
    }
}
