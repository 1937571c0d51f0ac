//! How questions look: dialoguer's colorful theme, fitted to the terminal's width.

use std::fmt;

use console::{Style, measure_text_width};
use dialoguer::theme::{ColorfulTheme, Theme as _};
use jiff::SignedDuration;

use super::question::countdown;
use crate::terminal::output::{cut, wrap};

const INDENT: usize = 2;

pub(super) struct Theme {
    styles: ColorfulTheme,
}

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
    /// The marks (`?`, `❯`, `✔`, `✘`) stay without color: meaning never depends on it.
    pub(super) fn new(color: bool) -> Self {
        let style = || Style::new().for_stderr().force_styling(color);
        let mark = |style: Style, mark: &str| style.apply_to(mark.to_owned());
        let styles = ColorfulTheme {
            prompt_style: style().bold(),
            prompt_prefix: mark(style().yellow(), "?"),
            // Dim instead of the theme's bright black, which is the background on some palettes.
            prompt_suffix: mark(style().dim(), "›"),
            success_prefix: mark(style().green(), "✔"),
            success_suffix: mark(style().dim(), "·"),
            error_prefix: mark(style().red(), "✘"),
            error_style: style().red(),
            hint_style: style().dim(),
            values_style: style().green(),
            active_item_style: style().cyan(),
            active_item_prefix: mark(style().green(), "❯"),
            ..ColorfulTheme::default()
        };
        Self { styles }
    }

    /// `? Name (Ada) › `, with a trailing blank before what is typed.
    pub(super) fn input(&self, title: &str, default: Option<&str>) -> String {
        drawn(|out| self.styles.format_input_prompt(out, title, default))
    }

    /// `? Which venue? (19:52 left) ›` in at most `columns`.
    pub(super) fn heading(
        &self,
        text: &str,
        left: Option<SignedDuration>,
        columns: usize,
    ) -> String {
        let title = title(text, left, columns.saturating_sub("? › ".chars().count()));
        drawn(|out| self.styles.format_select_prompt(out, &title))
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
        let first = drawn(|out| self.styles.format_select_prompt_item(out, &lines[0], true));
        let style = &self.styles.active_item_style;
        below(first, &lines[1..], 2 * INDENT, style)
    }

    pub(super) fn problem(&self, text: &str, columns: usize) -> Vec<String> {
        let lines = broken(text, columns.saturating_sub(INDENT));
        let first = drawn(|out| self.styles.format_error(out, &lines[0]));
        below(first, &lines[1..], INDENT, &self.styles.error_style)
    }

    /// `✔ Name · Ada`: what stays on the screen. An answer without room on the line goes below it.
    pub(super) fn answered(&self, question: &str, answer: &str, columns: usize) -> Vec<String> {
        let styles = &self.styles;
        let line =
            |answer: &str| drawn(|out| styles.format_input_prompt_selection(out, question, answer));
        let whole = line(answer);
        if measure_text_width(&whole) <= columns {
            return vec![whole];
        }
        let lines = broken(answer, columns.saturating_sub(INDENT));
        below(cut(&line(""), columns), &lines, INDENT, &styles.values_style)
    }

    pub(super) fn hints(&self, text: &str, columns: usize) -> Vec<String> {
        let lines = broken(text, columns.saturating_sub(INDENT)).into_iter();
        lines.map(|line| self.hint(&format!("{:INDENT$}{line}", ""))).collect()
    }

    pub(super) fn hint(&self, text: &str) -> String {
        self.styles.hint_style.apply_to(text).to_string()
    }
}

fn drawn(format: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = format(&mut out);
    out
}

/// Breaks at blanks into at least one line of at most `columns`. A longer word is cut.
fn broken(text: &str, columns: usize) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let lines = wrap(&words.join(" "), columns.max(1)).into_iter();
    lines.map(|line| cut(&line, columns.max(1))).collect()
}

fn below(first: String, others: &[String], indent: usize, style: &Style) -> Vec<String> {
    let others = others.iter().map(|line| format!("{:indent$}{}", "", style.apply_to(line)));
    std::iter::once(first).chain(others).collect()
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
