//! A live question that one key answers with yes or no.

use jiff::SignedDuration;

use super::event_loop::{Step, Widget};
use super::frame::{Frame, Size};
use super::question::Question;
use super::theme::{Theme, columns_of, title};
use crate::platform::key::Key;

pub(super) struct YesNo<'a> {
    question: &'a Question,
    default: Option<bool>,
    /// Whether Enter was pressed where it answers nothing.
    unanswered: bool,
}

impl<'a> YesNo<'a> {
    /// Without a default, Enter answers nothing.
    pub(super) fn new(question: &'a Question, default: Option<bool>) -> Self {
        Self {
            question,
            default,
            unanswered: false,
        }
    }
}

impl Widget for YesNo<'_> {
    type Answer = bool;

    fn press(&mut self, key: Key) -> Step<bool> {
        match key {
            Key::Char('y' | 'Y') => Step::Answer(true),
            Key::Char('n' | 'N') => Step::Answer(false),
            Key::EndOfInput => Step::Interrupted,
            Key::Enter => match self.default {
                Some(default) => Step::Answer(default),
                None => {
                    self.unanswered = true;
                    Step::Stay
                }
            },
            _ => Step::Stay,
        }
    }

    fn draw(&self, left: Option<SignedDuration>, size: Size, theme: &Theme) -> Frame {
        let columns = size.usable();
        let question = &self.question.text;
        let whole = theme.yes_no(&title(question, left, usize::MAX), self.default);
        let mut lines = if columns_of(&whole) <= columns {
            vec![whole]
        } else {
            vec![
                theme.heading(question, left, columns),
                theme.yes_no("", self.default),
            ]
        };
        let cursor = lines.last().map(|line| (lines.len() - 1, columns_of(line)));
        if self.unanswered {
            lines.extend(theme.problem("press y or n", columns));
        } else if let Some(hint) = &self.question.hint {
            lines.extend(theme.hints(hint, columns));
        }
        Frame { lines, cursor }
    }

    fn question(&self) -> &Question {
        self.question
    }

    fn answered(&self, answer: &bool) -> String {
        if *answer { "yes" } else { "no" }.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_y_n_and_enter_answer() {
        let question = Question::new("Book it?", "--yes", "the confirmation");
        let mut ask = YesNo::new(&question, Some(false));
        assert_eq!(ask.press(Key::Char('Y')), Step::Answer(true));
        assert_eq!(ask.press(Key::Char('n')), Step::Answer(false));
        assert_eq!(ask.press(Key::Enter), Step::Answer(false));
        assert_eq!(ask.press(Key::EndOfInput), Step::Interrupted);
        for key in [Key::Char(' '), Key::Char('j'), Key::Up, Key::PastedBreak] {
            assert_eq!(ask.press(key), Step::Stay);
        }
        let mut ask = YesNo::new(&question, None);
        assert_eq!(ask.press(Key::Enter), Step::Stay);
        let size = Size {
            rows: 24,
            columns: 80,
        };
        let lines = ask.draw(None, size, &Theme::new(false)).lines;
        assert_eq!(lines, ["? Book it? (y/n) ›", "✘ press y or n"]);
        assert_eq!(ask.press(Key::Char('y')), Step::Answer(true));
    }

    #[test]
    fn a_long_question_leaves_a_line_of_its_own_to_the_answer() {
        let question = Question::new(
            "Book 東京タワー寿司 for four people?",
            "--yes",
            "the confirmation",
        );
        let ask = YesNo::new(&question, Some(false));
        let draw = |columns| {
            ask.draw(None, Size { rows: 24, columns }, &Theme::new(false))
                .lines
        };
        assert_eq!(
            draw(80),
            ["? Book 東京タワー寿司 for four people? (y/n) › no"]
        );
        assert_eq!(
            draw(40),
            ["? Book 東京タワー寿司 for four peopl… ›", "(y/n) › no"]
        );
        assert!(draw(20).iter().all(|line| columns_of(line) < 20));
    }
}
