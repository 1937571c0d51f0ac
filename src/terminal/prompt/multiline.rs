//! Live input of several lines, typed or pasted. An empty line or Ctrl-D ends it.

use jiff::SignedDuration;

use super::event_loop::{Step, Widget};
use super::frame::{Frame, Size};
use super::line_editor::LineEditor;
use super::question::Question;
use super::text_input::shown;
use super::theme::{Theme, fit};
use crate::platform::key::Key;

/// The number of earlier lines that stay visible.
const LINES_IN_VIEW: usize = 8;
const INDENT: usize = 2;

pub(super) struct Multiline<'a> {
    question: &'a Question,
    done: Vec<String>,
    line: LineEditor,
}

impl<'a> Multiline<'a> {
    pub(super) fn new(question: &'a Question) -> Self {
        Self {
            question,
            done: Vec::new(),
            line: LineEditor::new(question.echo),
        }
    }

    fn answer(&mut self) -> Step<String> {
        self.done.push(self.line.take());
        Step::Answer(self.done.join("\n").trim().to_owned())
    }
}

impl Widget for Multiline<'_> {
    type Answer = String;

    fn press(&mut self, key: Key) -> Step<String> {
        let empty = self.line.text().is_empty();
        match key {
            Key::EndOfInput if empty && self.done.is_empty() => return Step::Interrupted,
            Key::Enter if empty => return self.answer(),
            Key::EndOfInput => return self.answer(),
            // An empty line inside a paste is part of the text.
            Key::Enter | Key::PastedBreak => self.done.push(self.line.take()),
            _ => {
                self.line.press(key);
            }
        }
        Step::Stay
    }

    fn draw(&self, left: Option<SignedDuration>, size: Size, theme: &Theme) -> Frame {
        let columns = size.usable();
        let mut lines = vec![theme.heading(&self.question.text, left, columns)];
        let visible = LINES_IN_VIEW
            .min(size.rows.saturating_sub(4))
            .min(self.done.len());
        let above = self.done.len() - visible;
        for line in &self.done[above..] {
            let line = fit(
                &shown(line, self.question.echo),
                columns.saturating_sub(INDENT),
            );
            lines.push(format!("  {line}"));
        }
        let (typed, cursor) = self.line.view(columns.saturating_sub(INDENT));
        let cursor = Some((lines.len(), INDENT + cursor));
        lines.push(format!("  {typed}"));
        let hint = match above {
            0 => "end with an empty line".to_owned(),
            above => format!("{above} more above; end with an empty line"),
        };
        lines.push(theme.hint(&fit(&hint, columns)));
        Frame { lines, cursor }
    }

    fn question(&self) -> &Question {
        self.question
    }

    fn answered(&self, answer: &String) -> String {
        // Show only the number of lines; the text may be confidential.
        match answer.lines().count() {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::theme::columns_of;
    use super::*;

    fn press(pad: &mut Multiline<'_>, text: &str, line_break: Key) {
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
        let mut pad = Multiline::new(&question);
        press(&mut pad, "{\n\n\"a\": 1\n}", Key::PastedBreak);
        assert_eq!(
            pad.press(Key::Enter),
            Step::Stay,
            "the last line is done by Enter"
        );
        assert_eq!(
            pad.press(Key::Enter),
            Step::Answer("{\n\n\"a\": 1\n}".into())
        );
    }

    #[test]
    fn the_end_of_input_takes_what_is_there_and_is_a_way_out_where_nothing_is() {
        let question = Question::new("Payment answer", "--psp-response", "the payment response");
        let mut pad = Multiline::new(&question);
        assert_eq!(pad.press(Key::EndOfInput), Step::Interrupted);
        press(&mut pad, "{\n}", Key::Enter);
        assert_eq!(pad.press(Key::EndOfInput), Step::Answer("{\n}".into()));
    }

    #[test]
    fn a_long_text_keeps_its_end_in_view_and_never_wraps() {
        let question = Question::new("Payment answer", "--psp-response", "the payment response");
        let mut pad = Multiline::new(&question);
        press(
            &mut pad,
            &"東京 a line that is too long for a narrow terminal\n".repeat(30),
            Key::Enter,
        );
        press(&mut pad, "last", Key::Enter);
        for (rows, columns) in [(4, 20), (10, 40), (24, 80)] {
            let frame = pad.draw(None, Size { rows, columns }, &Theme::new(false));
            assert!(frame.lines.len() <= rows);
            assert!(frame.lines.iter().all(|line| columns_of(line) < columns));
            assert!(frame.lines.contains(&"  last".to_owned()));
        }
    }
}
