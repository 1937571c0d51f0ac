//! Live input of a line of text.

use jiff::SignedDuration;

use super::event_loop::{KeyEffect, Widget};
use super::line::Line;
use super::question::{AnswerCheck, Echo, Question};
use super::screen::{Frame, Size};
use super::theme::{Theme, columns_of, fit, title};
use crate::platform::key::Key;

/// If fewer columns than this are left for typing, the question moves to a line of its own.
const ROOM_TO_TYPE: usize = 16;

pub(super) struct TextInput<'a> {
    question: &'a Question,
    default: Option<&'a str>,
    check: AnswerCheck<'a>,
    line: Line,
    /// Why the last answer was rejected; cleared by the next key.
    problem: Option<String>,
    pub(super) answer: String,
}

impl<'a> TextInput<'a> {
    pub(super) fn new(
        question: &'a Question,
        default: Option<&'a str>,
        check: AnswerCheck<'a>,
    ) -> Self {
        let former = question.former.as_deref().unwrap_or_default();
        Self {
            question,
            default,
            check,
            line: Line::new(former, question.echo == Echo::Hidden),
            problem: None,
            answer: String::new(),
        }
    }

    /// Trims and checks an answer. An empty answer is the default.
    fn accept(&mut self, typed: &str, default: Option<&str>) -> Result<(), String> {
        let typed = typed.trim();
        let default = default.filter(|_| typed.is_empty());
        let answer = default.unwrap_or(typed);
        answer.clone_into(&mut self.answer);
        (self.check)(answer)
    }
}

impl Widget for TextInput<'_> {
    fn press(&mut self, key: Key) -> KeyEffect {
        self.problem = None;
        match key {
            Key::Enter => match self.accept(&self.line.text.clone(), self.default) {
                Ok(()) => return KeyEffect::Answered,
                Err(problem) => {
                    self.problem = Some(problem);
                    if self.question.confirms {
                        self.line.take();
                    }
                }
            },
            Key::EndOfInput if self.line.text.is_empty() => return KeyEffect::Interrupted,
            _ => {
                self.line.press(key);
            }
        }
        KeyEffect::Stay
    }

    fn draw(&self, left: Option<SignedDuration>, size: Size, theme: &Theme) -> Frame {
        let columns = size.usable();
        let text = &self.question.text;
        let mut lines = Vec::new();
        // The default of a secret is named in the hint below, which does not stay.
        let default = self.default.filter(|_| self.question.echo == Echo::Shown);
        let mut before = theme.input(&title(text, left, usize::MAX), default);
        if columns_of(&before) + ROOM_TO_TYPE > columns {
            lines.push(theme.heading(text, left, columns));
            let default = default.map(|default| fit(default, columns / 3));
            before = theme.input("", default.as_deref());
        }
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

    /// Of a secret, the length is hidden too.
    fn shown(&self) -> String {
        if self.question.echo == Echo::Shown {
            self.answer.clone()
        } else {
            "********".to_owned()
        }
    }

    fn default(&self) -> Option<String> {
        let former = self.question.former.as_deref();
        former.or(self.default).map(str::to_owned)
    }

    fn take_line(&mut self, line: &str) -> Result<(), String> {
        let default = self.default();
        self.accept(line, default.as_deref())
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
            assert_eq!(entry.press(Key::Char(character)), KeyEffect::Stay);
        }
    }

    fn draw(entry: &TextInput<'_>, columns: usize) -> Frame {
        entry.draw(LEFT, Size { rows: 24, columns }, &Theme::new(false))
    }

    #[test]
    fn an_answer_that_is_not_taken_says_why_until_the_next_key() {
        let question = Question::new("Code", "--otp", "the one-time code");
        let mut entry = TextInput::new(&question, None, &six_digits);
        press(&mut entry, "12345");
        assert_eq!(entry.press(Key::Enter), KeyEffect::Stay);
        assert_eq!(draw(&entry, 80).lines[1], "✘ the code has six digits");
        press(&mut entry, "6");
        assert_eq!(draw(&entry, 80).lines.len(), 1);
        assert_eq!(entry.press(Key::Enter), KeyEffect::Answered);
        assert_eq!(entry.answer, "123456");
    }

    #[test]
    fn an_empty_answer_is_the_default_and_the_end_of_input_only_on_an_empty_line_a_way_out() {
        let question = Question::new("Party size", "--party", "the party size");
        let mut entry = TextInput::new(&question, Some("2"), &|_| Ok(()));
        press(&mut entry, " ");
        assert_eq!(entry.press(Key::EndOfInput), KeyEffect::Stay);
        assert_eq!(entry.press(Key::Enter), KeyEffect::Answered);
        assert_eq!(entry.answer, "2");
        entry.press(Key::EraseLine);
        assert_eq!(entry.press(Key::EndOfInput), KeyEffect::Interrupted);
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
        assert_eq!(entry.press(Key::Enter), KeyEffect::Stay);
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
}
