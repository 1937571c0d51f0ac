//! Live input of one line of text.

use jiff::SignedDuration;

use super::event_loop::{Step, Widget};
use super::frame::{Frame, Size};
use super::line_editor::{Echo, LineEditor};
use super::question::{Check, Question};
use super::theme::{Theme, columns_of, fit, title};
use crate::platform::key::Key;

/// If fewer columns than this are left for typing, the question moves to a line of its own.
const ROOM_TO_TYPE: usize = 16;

pub(super) struct TextInput<'a> {
    question: &'a Question,
    default: Option<&'a str>,
    check: Check<'a>,
    line: LineEditor,
    /// Why the last answer was rejected; cleared by the next key.
    problem: Option<String>,
}

impl<'a> TextInput<'a> {
    pub(super) fn new(question: &'a Question, default: Option<&'a str>, check: Check<'a>) -> Self {
        let mut line = LineEditor::new(question.echo);
        line.fill(question.former.as_deref().unwrap_or_default());
        Self {
            question,
            default,
            check,
            line,
            problem: None,
        }
    }
}

/// Trims and checks an answer. An empty answer is the default.
pub(super) fn answer(
    typed: &str,
    default: Option<&str>,
    check: Check<'_>,
) -> Result<String, String> {
    let answer = match (typed.trim(), default) {
        ("", Some(default)) => default,
        (typed, _) => typed,
    };
    check(answer).map(|()| answer.to_owned())
}

/// The answer as it stays on the screen.
pub(super) fn shown(value: &str, echo: Echo) -> String {
    match echo {
        Echo::Shown => value.to_owned(),
        // Hide the length too.
        Echo::Fleeting | Echo::Hidden => "********".to_owned(),
    }
}

impl Widget for TextInput<'_> {
    type Answer = String;

    fn press(&mut self, key: Key) -> Step<String> {
        self.problem = None;
        match key {
            Key::Enter => match answer(self.line.text(), self.default, self.check) {
                Ok(answer) => return Step::Answer(answer),
                Err(problem) => {
                    self.problem = Some(problem);
                    if self.question.confirms {
                        self.line.press(Key::EraseLine);
                    }
                }
            },
            Key::EndOfInput if self.line.text().is_empty() => return Step::Interrupted,
            _ => {
                self.line.press(key);
            }
        }
        Step::Stay
    }

    fn draw(&self, left: Option<SignedDuration>, size: Size, theme: &Theme) -> Frame {
        let columns = size.usable();
        let text = &self.question.text;
        let mut lines = Vec::new();
        // The default of a secret is named in the hint below, which does not stay.
        let default = self.default.filter(|_| self.question.echo == Echo::Shown);
        let whole = theme.input(&title(text, left, usize::MAX), default);
        let before = if columns_of(&whole) + ROOM_TO_TYPE <= columns {
            whole
        } else {
            lines.push(theme.heading(text, left, columns));
            let default = default.map(|default| fit(default, columns / 3));
            theme.input("", default.as_deref())
        };
        let start = columns_of(&before);
        let (typed, cursor) = self.line.view(columns.saturating_sub(start));
        let cursor = Some((lines.len(), start + cursor));
        lines.push(before + &typed);
        if let Some(problem) = &self.problem {
            let room = size.rows.saturating_sub(lines.len()).max(1);
            lines.extend(theme.problem(problem, columns).into_iter().take(room));
        } else if let Some(hint) = &self.question.hint {
            lines.extend(theme.hints(hint, columns));
        }
        Frame { lines, cursor }
    }

    fn question(&self) -> &Question {
        self.question
    }

    fn answered(&self, answer: &String) -> String {
        shown(answer, self.question.echo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: Option<SignedDuration> = Some(SignedDuration::from_secs(1192));

    fn six_digits(text: &str) -> Result<(), String> {
        let digits = text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit());
        digits
            .then_some(())
            .ok_or_else(|| "the code has six digits".to_owned())
    }

    fn press(entry: &mut TextInput<'_>, text: &str) {
        for character in text.chars() {
            assert_eq!(entry.press(Key::Char(character)), Step::Stay);
        }
    }

    fn draw(entry: &TextInput<'_>, columns: usize) -> Frame {
        entry.draw(LEFT, Size { rows: 24, columns }, &Theme::new(false))
    }

    #[test]
    fn the_countdown_stands_before_what_is_typed() {
        let question = Question::new("Code", "--otp", "the one-time code");
        let mut entry = TextInput::new(&question, None, &six_digits);
        press(&mut entry, "12345");
        let line = "? Code (19:52 left) › 12345";
        let frame = draw(&entry, 80);
        assert_eq!(frame.lines, [line]);
        assert_eq!(frame.cursor, Some((0, columns_of(line))));
    }

    #[test]
    fn an_answer_that_is_not_taken_says_why_until_the_next_key() {
        let question = Question::new("Code", "--otp", "the one-time code");
        let mut entry = TextInput::new(&question, None, &six_digits);
        press(&mut entry, "12345");
        assert_eq!(entry.press(Key::Enter), Step::Stay);
        assert_eq!(draw(&entry, 80).lines[1], "✘ the code has six digits");
        press(&mut entry, "6");
        assert_eq!(draw(&entry, 80).lines.len(), 1);
        assert_eq!(entry.press(Key::Enter), Step::Answer("123456".into()));
    }

    #[test]
    fn an_empty_answer_is_the_default_and_the_end_of_input_only_on_an_empty_line_a_way_out() {
        let question = Question::new("Party size", "--party", "the party size");
        let mut entry = TextInput::new(&question, Some("2"), &|_| Ok(()));
        press(&mut entry, " ");
        assert_eq!(entry.press(Key::EndOfInput), Step::Stay);
        assert_eq!(entry.press(Key::Enter), Step::Answer("2".into()));
        entry.press(Key::EraseLine);
        assert_eq!(entry.press(Key::EndOfInput), Step::Interrupted);
    }

    #[test]
    fn at_every_width_nothing_wraps_and_time_and_typing_stay_in_view() {
        let question = Question::new(
            "Code that was texted to 東京 +81 3-1234-5678",
            "--otp",
            "the code",
        );
        let mut entry = TextInput::new(
            &question,
            Some("a default that is long itself"),
            &six_digits,
        );
        press(
            &mut entry,
            "名前 and far more text than any of the narrow ones could ever hold 999",
        );
        assert_eq!(entry.press(Key::Enter), Step::Stay);
        for columns in [20, 40, 80, 200] {
            let frame = draw(&entry, columns);
            for line in &frame.lines {
                assert!(columns_of(line) < columns, "{columns}: {line:?}");
            }
            let all = frame.lines.join("\n");
            assert!(
                all.contains("19:52") && all.contains("99"),
                "{columns}: {all}"
            );
            assert!(frame.cursor.unwrap().1 < columns);
        }
    }

    #[test]
    fn a_fleeting_answer_is_seen_while_it_is_typed_and_no_longer() {
        let question = Question::new("Code", "--otp", "the one-time code").fleeting();
        let mut entry = TextInput::new(&question, None, &six_digits);
        press(&mut entry, "12345");
        assert_eq!(draw(&entry, 80).lines, ["? Code (19:52 left) › 12345"]);
        assert_eq!(entry.answered(&"123456".into()), "********");
    }

    #[test]
    fn a_hidden_answer_stays_hidden_when_it_was_given() {
        let question = Question::new("API key", "--key-stdin", "the API key").hidden();
        let mut entry = TextInput::new(&question, None, &|_| Ok(()));
        press(&mut entry, "sk_live");
        assert_eq!(draw(&entry, 80).lines, ["? API key (19:52 left) › *******"]);
        assert_eq!(entry.answered(&"sk_live".into()), "********");
    }
}
