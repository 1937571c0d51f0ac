//! How questions look, fitted to the terminal's width.

use console::measure_text_width;
use jiff::SignedDuration;

use super::question::countdown;
use crate::terminal::output::{StreamStyle, Tone, cut, wrap};

const INDENT: usize = 2;

/// The marks (`?`, `❯`, `✔`, `✘`) stay without color: meaning never depends on it.
pub(super) struct Theme(StreamStyle);

/// A question with the time left, in at most `columns`. The question is shortened before the time.
pub(super) fn title(text: &str, left: Option<SignedDuration>, columns: usize) -> String {
    let Some(left) = left.map(countdown) else {
        return cut(text, columns);
    };
    let mut end = format!(" ({left} left)");
    // Keep four columns of the question, so that it can be recognized.
    if end.len() + 4 > columns {
        end = format!(" {left}");
    }
    let text = cut(text, columns.saturating_sub(end.len()));
    cut(&(text + &end), columns)
}

impl Theme {
    pub(super) fn new(color: bool) -> Self {
        Theme(StreamStyle { color, ..StreamStyle::default() })
    }

    /// `? Name (Ada) › `, with a trailing blank before what is typed.
    pub(super) fn input(&self, title: &str, default: Option<&str>) -> String {
        let default = default.map(|it| self.hint(&format!("({it})")) + " ");
        let suffix = self.hint("›");
        format!("{}{}{suffix} ", self.prefix(Tone::Warn, "?", title), default.unwrap_or_default())
    }

    /// `? Which venue? (19:52 left) ›` in at most `columns`.
    pub(super) fn heading(
        &self,
        text: &str,
        left: Option<SignedDuration>,
        columns: usize,
    ) -> String {
        let title = title(text, left, columns.saturating_sub("? › ".chars().count()));
        self.prefix(Tone::Warn, "?", &title) + &self.hint("›")
    }

    /// `? Name `; nothing without a question.
    fn prefix(&self, tone: Tone, mark: &str, question: &str) -> String {
        if question.is_empty() {
            return String::new();
        }
        format!("{} {} ", self.0.paint(tone, mark), self.0.paint(Tone::Strong, question))
    }

    /// The marked row of a menu. If it is wider than `columns`, it takes up to `most` lines.
    pub(super) fn marked_row(&self, row: &str, columns: usize, most: usize) -> Vec<String> {
        let room = columns.saturating_sub(INDENT);
        let mut lines = vec![cut(row, room)];
        if measure_text_width(row) > room && most > 1 {
            let room = room.saturating_sub(INDENT);
            lines = broken(row, room);
            if lines.len() > most {
                lines.truncate(most);
                lines[most - 1] = cut(&format!("{} …", lines[most - 1]), room);
            }
        }
        self.below(self.0.paint(Tone::Good, "❯") + " ", &lines, 2 * INDENT, Tone::Selected)
    }

    pub(super) fn problem(&self, text: &str, columns: usize) -> Vec<String> {
        let lines = broken(text, columns.saturating_sub(INDENT));
        self.below(self.0.paint(Tone::Bad, "✘") + " ", &lines, INDENT, Tone::Bad)
    }

    /// `✔ Name · Ada`: what stays on the screen. An answer without room on the line goes below it.
    pub(super) fn answered(&self, question: &str, answer: &str, columns: usize) -> Vec<String> {
        let start = self.prefix(Tone::Good, "✔", question) + &self.hint("·") + " ";
        let whole = start.clone() + &self.0.paint(Tone::Good, answer);
        if measure_text_width(&whole) <= columns {
            return vec![whole];
        }
        let lines = broken(answer, columns.saturating_sub(INDENT));
        let mut below = self.below(" ".repeat(INDENT), &lines, INDENT, Tone::Good);
        below.insert(0, cut(&start, columns));
        below
    }

    pub(super) fn hints(&self, text: &str, columns: usize) -> Vec<String> {
        let lines = broken(text, columns.saturating_sub(INDENT)).into_iter();
        lines.map(|line| self.hint(&format!("{:INDENT$}{line}", ""))).collect()
    }

    pub(super) fn hint(&self, text: &str) -> String {
        self.0.paint(Tone::Dim, text)
    }

    /// Lines of which the first follows `start`, and the others are indented.
    fn below(&self, start: String, lines: &[String], indent: usize, tone: Tone) -> Vec<String> {
        let starts = std::iter::once(start).chain(std::iter::repeat(" ".repeat(indent)));
        starts.zip(lines).map(|(start, line)| start + &self.0.paint(tone, line)).collect()
    }
}

/// Breaks at blanks into at least one line of at most `columns`. A longer word is cut.
fn broken(text: &str, columns: usize) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let lines = wrap(&words.join(" "), columns.max(1)).into_iter();
    lines.map(|line| cut(&line, columns.max(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: Option<SignedDuration> = Some(SignedDuration::from_secs(1192));

    #[test]
    fn the_time_left_outlives_the_question_when_columns_run_short() {
        assert_eq!(title("Code", LEFT, 80), "Code (19:52 left)");
        assert_eq!(title("Code from the text message", LEFT, 20), "Code f… (19:52 left)");
        assert_eq!(title("Code from the text message", LEFT, 12), "Code … 19:52");
        assert_eq!(title("Code", None, 80), "Code");
    }

    #[test]
    fn long_answer_continues_on_the_next_line_and_loses_nothing() {
        let plain = Theme::new(false);
        assert_eq!(
            plain.answered("Which venue?", "Bistro of the long name", 34),
            ["✔ Which venue? · ", "  Bistro of the long name"]
        );
        assert_eq!(
            plain.answered("Which venue in London?", "Bistro of the long name", 24),
            ["✔ Which venue in London…", "  Bistro of the long", "  name"]
        );
    }

    #[test]
    fn problem_is_shown_whole_on_a_narrow_terminal() {
        let text = "write it as 2026-12-01 19:30, tomorrow 19:30 or fri 8pm";
        for color in [false, true] {
            let theme = Theme::new(color);
            for columns in 20..70 {
                let lines = theme.problem(text, columns);
                assert!(lines.iter().all(|line| measure_text_width(line) <= columns), "{lines:?}");
                let wording = console::strip_ansi_codes(&lines.join(" ")).into_owned();
                let words: Vec<&str> = wording.split_whitespace().skip(1).collect();
                assert_eq!(words.join(" "), text);
            }
        }
        assert_eq!(Theme::new(false).problem("unbreakable", 8), ["✘ unbre…"]);
    }
}
