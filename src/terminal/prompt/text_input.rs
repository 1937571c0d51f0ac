//! Live input of text: one line, or several, which an empty line or Ctrl-D ends.

use jiff::SignedDuration;

use super::event_loop::{Step, Widget};
use super::line::Line;
use super::question::{Check, Echo, Question};
use super::screen::{Frame, Size};
use super::theme::{Theme, columns_of, fit, title};
use crate::platform::key::Key;

/// If fewer columns than this are left for typing, the question moves to a line of its own.
const ROOM_TO_TYPE: usize = 16;
/// The number of earlier lines that stay visible.
const LINES_IN_VIEW: usize = 8;
const INDENT: usize = 2;

pub(super) struct TextInput<'a> {
    question: &'a Question,
    default: Option<&'a str>,
    check: Check<'a>,
    has_several_lines: bool,
    done: Vec<String>,
    line: Line,
    /// Why the last answer was rejected; cleared by the next key.
    problem: Option<String>,
    /// What was answered.
    pub(super) answer: String,
}

impl<'a> TextInput<'a> {
    pub(super) fn new(question: &'a Question, default: Option<&'a str>, check: Check<'a>) -> Self {
        let former = question.former.as_deref().unwrap_or_default();
        Self {
            question,
            default,
            check,
            has_several_lines: false,
            done: Vec::new(),
            line: Line::new(former, question.echo == Echo::Hidden),
            problem: None,
            answer: String::new(),
        }
    }

    pub(super) fn of_several_lines(question: &'a Question) -> Self {
        Self {
            has_several_lines: true,
            ..Self::new(question, None, &|_| Ok(()))
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

    fn press_in_several_lines(&mut self, key: Key) -> Step {
        let is_empty = self.line.text.is_empty();
        match key {
            Key::EndOfInput if is_empty && self.done.is_empty() => return Step::Interrupted,
            Key::Enter if !is_empty => self.done.push(self.line.take()),
            Key::Enter | Key::EndOfInput => {
                self.done.push(self.line.take());
                self.join();
                return Step::Answered;
            }
            // An empty line inside a paste is part of the text.
            Key::PastedBreak => self.done.push(self.line.take()),
            _ => {
                self.line.press(key);
            }
        }
        Step::Stay
    }

    fn join(&mut self) {
        self.done.join("\n").trim().clone_into(&mut self.answer);
    }

    fn draw_several_lines(&self, left: Option<SignedDuration>, size: Size, theme: &Theme) -> Frame {
        let columns = size.usable();
        let room = columns.saturating_sub(INDENT);
        let mut lines = vec![theme.heading(&self.question.text, left, columns)];
        let most = LINES_IN_VIEW.min(size.rows.saturating_sub(4));
        let above = self.done.len().saturating_sub(most);
        for line in &self.done[above..] {
            lines.push(format!(
                "  {}",
                fit(&masked(line, self.question.echo), room)
            ));
        }
        let (typed, cursor) = self.line.view(room);
        let cursor = Some((lines.len(), INDENT + cursor));
        lines.push(format!("  {typed}"));
        let hint = if above == 0 {
            "end with an empty line".to_owned()
        } else {
            format!("{above} more above; end with an empty line")
        };
        lines.push(theme.hint(&fit(&hint, columns)));
        Frame { lines, cursor }
    }
}

/// An answer as it stays on the screen. Of a secret, the length is hidden too.
fn masked(answer: &str, echo: Echo) -> String {
    if echo == Echo::Shown {
        answer.to_owned()
    } else {
        "********".to_owned()
    }
}

impl Widget for TextInput<'_> {
    fn press(&mut self, key: Key) -> Step {
        if self.has_several_lines {
            return self.press_in_several_lines(key);
        }
        self.problem = None;
        match key {
            Key::Enter => match self.accept(&self.line.text.clone(), self.default) {
                Ok(()) => return Step::Answered,
                Err(problem) => {
                    self.problem = Some(problem);
                    if self.question.confirms {
                        self.line.take();
                    }
                }
            },
            Key::EndOfInput if self.line.text.is_empty() => return Step::Interrupted,
            _ => {
                self.line.press(key);
            }
        }
        Step::Stay
    }

    fn draw(&self, left: Option<SignedDuration>, size: Size, theme: &Theme) -> Frame {
        if self.has_several_lines {
            return self.draw_several_lines(left, size, theme);
        }
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

    fn shown(&self) -> String {
        match self.answer.lines().count() {
            // Of several lines, show only the number; the text may be confidential.
            1 if self.has_several_lines => "1 line".to_owned(),
            lines if self.has_several_lines => format!("{lines} lines"),
            _ => masked(&self.answer, self.question.echo),
        }
    }

    fn ending(&self) -> &'static str {
        if self.has_several_lines {
            " (end with an empty line)\n"
        } else {
            " "
        }
    }

    fn default(&self) -> Option<String> {
        let former = self.question.former.as_deref();
        former.or(self.default).map(str::to_owned)
    }

    fn take_line(&mut self, line: &str) -> Result<bool, String> {
        if !self.has_several_lines {
            let default = self.default();
            return self.accept(line, default.as_deref()).map(|()| true);
        }
        self.done.push(line.to_owned());
        self.join();
        Ok(line.is_empty())
    }

    fn takes_end(&self) -> bool {
        !self.done.is_empty()
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
    fn an_answer_that_is_not_taken_says_why_until_the_next_key() {
        let question = Question::new("Code", "--otp", "the one-time code");
        let mut entry = TextInput::new(&question, None, &six_digits);
        press(&mut entry, "12345");
        assert_eq!(entry.press(Key::Enter), Step::Stay);
        assert_eq!(draw(&entry, 80).lines[1], "✘ the code has six digits");
        press(&mut entry, "6");
        assert_eq!(draw(&entry, 80).lines.len(), 1);
        assert_eq!(entry.press(Key::Enter), Step::Answered);
        assert_eq!(entry.answer, "123456");
    }

    #[test]
    fn an_empty_answer_is_the_default_and_the_end_of_input_only_on_an_empty_line_a_way_out() {
        let question = Question::new("Party size", "--party", "the party size");
        let mut entry = TextInput::new(&question, Some("2"), &|_| Ok(()));
        press(&mut entry, " ");
        assert_eq!(entry.press(Key::EndOfInput), Step::Stay);
        assert_eq!(entry.press(Key::Enter), Step::Answered);
        assert_eq!(entry.answer, "2");
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
        let mut entry = TextInput::new(&question, None, &|_| Ok(()));
        press(&mut entry, "12345");
        assert_eq!(draw(&entry, 80).lines, ["? Code (19:52 left) › 12345"]);
        entry.press(Key::Enter);
        assert_eq!(entry.shown(), "********");
    }

    fn write(pad: &mut TextInput<'_>, text: &str, line_break: Key) {
        for character in text.chars() {
            let key = if character == '\n' {
                line_break
            } else {
                Key::Char(character)
            };
            assert_eq!(pad.press(key), Step::Stay);
        }
    }

    #[test]
    fn an_empty_line_ends_what_is_typed_but_not_what_is_pasted() {
        let question = Question::new("Payment answer", "--psp-response", "the payment response");
        let mut pad = TextInput::of_several_lines(&question);
        write(&mut pad, "{\n\n\"a\": 1\n}", Key::PastedBreak);
        assert_eq!(
            pad.press(Key::Enter),
            Step::Stay,
            "the last line is done by Enter"
        );
        assert_eq!(pad.press(Key::Enter), Step::Answered);
        assert_eq!(pad.answer, "{\n\n\"a\": 1\n}");
    }

    #[test]
    fn a_long_text_keeps_its_end_in_view_and_never_wraps() {
        let question = Question::new("Payment answer", "--psp-response", "the payment response");
        let mut pad = TextInput::of_several_lines(&question);
        write(
            &mut pad,
            &"東京 a line that is too long for a narrow terminal\n".repeat(30),
            Key::Enter,
        );
        write(&mut pad, "last", Key::Enter);
        for (rows, columns) in [(4, 20), (10, 40), (24, 80)] {
            let frame = pad.draw(None, Size { rows, columns }, &Theme::new(false));
            assert!(frame.lines.len() <= rows);
            assert!(frame.lines.iter().all(|line| columns_of(line) < columns));
            assert!(frame.lines.contains(&"  last".to_owned()));
        }
    }
}
