//! How questions look: dialoguer's colourful theme, fitted to the terminal's width.

use std::fmt;

use console::{Style, measure_text_width, truncate_str};
use dialoguer::theme::{ColorfulTheme, Theme as _};
use jiff::SignedDuration;

use super::deadline::countdown;

/// If fewer columns than this are left beside the question, its answer begins on a line of its own.
const ROOM_FOR_AN_ANSWER: usize = 16;
const ANSWER_INDENT: usize = 2;
/// The most further lines of an answer that stay on the screen.
const MOST_ANSWER_LINES: usize = 4;

pub(super) struct Theme {
    styles: ColorfulTheme,
}

/// Cuts `text` to `columns` and marks the cut with `…`. Handles wide characters and colours.
pub(super) fn fit(text: &str, columns: usize) -> String {
    truncate_str(text, columns, "…").into_owned()
}

/// A question with the time left, in at most `columns`. The question is shortened before the time.
pub(super) fn title(text: &str, left: Option<SignedDuration>, columns: usize) -> String {
    let Some(left) = left.map(countdown) else {
        return fit(text, columns);
    };
    let long = format!(" ({left} left)");
    // Keep four columns of the question, so that it can be recognized.
    let rest = if long.len() + 4 <= columns {
        long
    } else {
        format!(" {left}")
    };
    fit(
        &format!("{}{rest}", fit(text, columns.saturating_sub(rest.len()))),
        columns,
    )
}

impl Theme {
    /// The marks (`?`, `❯`, `✔`, `✘`) stay without colour, because meaning never depends on colour alone. The caller
    /// decides whether there is colour, not the libraries.
    pub(super) fn new(colour: bool) -> Self {
        let style = || Style::new().for_stderr().force_styling(colour);
        let mark = |style: Style, mark: &str| style.apply_to(mark.to_owned());
        let styles = ColorfulTheme {
            // Dim instead of the theme's bright black, which is the background on some palettes.
            defaults_style: style().cyan(),
            prompt_style: style().bold(),
            prompt_prefix: mark(style().yellow(), "?"),
            prompt_suffix: mark(style().dim(), "›"),
            success_prefix: mark(style().green(), "✔"),
            success_suffix: mark(style().dim(), "·"),
            error_prefix: mark(style().red(), "✘"),
            error_style: style().red(),
            hint_style: style().dim(),
            values_style: style().green(),
            active_item_style: style().cyan(),
            inactive_item_style: style(),
            active_item_prefix: mark(style().green(), "❯"),
            inactive_item_prefix: mark(style(), " "),
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
        let line = |text: &str| drawn(|out| self.styles.format_select_prompt(out, text));
        // The columns that the theme adds around a text of one column.
        let marks = columns_of(&line(" ")) - 1;
        line(&title(text, left, columns.saturating_sub(marks)))
    }

    /// A row of a menu, marked with `❯` if `active`.
    pub(super) fn row(&self, row: &str, active: bool) -> String {
        drawn(|out| self.styles.format_select_prompt_item(out, row, active))
    }

    /// The marked row of a menu. If it is wider than `columns`, it takes up to `most` lines.
    pub(super) fn marked_row(&self, row: &str, columns: usize, most: usize) -> Vec<String> {
        let room = columns.saturating_sub(ANSWER_INDENT);
        if columns_of(row) <= room || most < 2 {
            return vec![self.row(&fit(row, room), true)];
        }
        let indent = 2 * ANSWER_INDENT;
        let mut lines = broken_after(row, room, columns.saturating_sub(indent).max(1));
        if lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                *last = fit(&format!("{last} …"), columns.saturating_sub(indent));
            }
        }
        let lines = lines.iter().enumerate();
        lines
            .map(|(place, line)| match place {
                0 => self.row(line, true),
                _ => format!(
                    "{:indent$}{}",
                    "",
                    self.styles.active_item_style.apply_to(line)
                ),
            })
            .collect()
    }

    /// `✘ message`, wrapped to `columns`.
    pub(super) fn problem(&self, text: &str, columns: usize) -> Vec<String> {
        let mark = drawn(|out| self.styles.format_error(out, ""));
        let indent = columns_of(&mark);
        let lines = broken(text, columns.saturating_sub(indent).max(1)).into_iter();
        lines
            .enumerate()
            .map(|(row, line)| match row {
                0 => drawn(|out| self.styles.format_error(out, &line)),
                _ => format!("{:indent$}{}", "", self.styles.error_style.apply_to(line)),
            })
            .collect()
    }

    /// `✔ Name · Ada`: what stays on the screen. Takes several lines of at most `columns` if one is too short, so that
    /// nothing of an answer is lost.
    pub(super) fn answered(&self, question: &str, answer: &str, columns: usize) -> Vec<String> {
        let line = |question: &str, answer: &str| {
            drawn(|out| {
                self.styles
                    .format_input_prompt_selection(out, question, answer)
            })
        };
        let whole = line(question, answer);
        if columns_of(&whole) <= columns {
            return vec![whole];
        }
        // The columns in front of the answer.
        let before = columns_of(&line(question, ""));
        let others = columns.saturating_sub(ANSWER_INDENT).max(1);
        let (first, rest) = if before + ROOM_FOR_AN_ANSWER <= columns {
            let mut lines = broken_after(answer, columns - before, others);
            let rest = lines.split_off(lines.len().min(1));
            (line(question, &lines.concat()), rest)
        } else {
            (fit(&line(question, ""), columns), broken(answer, others))
        };
        let style = &self.styles.values_style;
        let rest = rest
            .into_iter()
            .take(MOST_ANSWER_LINES)
            .map(|text| format!("{:ANSWER_INDENT$}{}", "", style.apply_to(text)));
        std::iter::once(first).chain(rest).collect()
    }

    pub(super) fn hints(&self, text: &str, columns: usize) -> Vec<String> {
        let lines = broken(text, columns.saturating_sub(ANSWER_INDENT).max(1)).into_iter();
        lines
            .map(|line| self.hint(&format!("{:ANSWER_INDENT$}{line}", "")))
            .collect()
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

/// Breaks at blanks into lines of at most `columns`. A longer word is cut.
fn broken(text: &str, columns: usize) -> Vec<String> {
    broken_after(text, columns, columns)
}

/// Like [`broken`], with other columns for the first line.
fn broken_after(text: &str, first: usize, others: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let columns = if lines.len() <= 1 { first } else { others };
        match lines.last_mut() {
            Some(line) if columns_of(line) + 1 + columns_of(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(fit(word, first)),
            Some(_) => lines.push(fit(word, others)),
        }
    }
    lines
}

/// The width of a text in columns, ignoring colours.
pub(super) fn columns_of(text: &str) -> usize {
    measure_text_width(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: Option<SignedDuration> = Some(SignedDuration::from_secs(1192));

    #[test]
    fn the_time_left_outlives_the_question_when_columns_run_short() {
        assert_eq!(title("Code", LEFT, 80), "Code (19:52 left)");
        assert_eq!(
            title("Code from the text message", LEFT, 20),
            "Code f… (19:52 left)"
        );
        assert_eq!(
            title("Code from the text message", LEFT, 12),
            "Code … 19:52"
        );
        assert_eq!(title("Code", None, 80), "Code");
    }

    #[test]
    fn a_cut_never_splits_a_wide_character_or_passes_its_columns() {
        assert_eq!(fit("東京タワー", 5), "東京…");
        assert_eq!(fit("東京タワー", 6), "東京…");
        for columns in 1..30 {
            assert!(columns_of(&title("東京タワー Café", LEFT, columns)) <= columns);
        }
    }

    #[test]
    fn an_answer_that_is_too_long_for_a_line_goes_on_in_the_next_and_loses_nothing() {
        let plain = Theme::new(false);
        assert_eq!(
            plain.answered("Which venue?", "Bistro of the long name", 34),
            ["✔ Which venue? · Bistro of the", "  long name"]
        );
        assert_eq!(
            plain.answered("Which venue in London?", "Bistro of the long name", 24),
            ["✔ Which venue in London…", "  Bistro of the long", "  name"]
        );
    }

    #[test]
    fn what_is_wrong_is_said_whole_on_a_narrow_terminal() {
        let text = "write it as 2026-12-01 19:30, tomorrow 19:30 or fri 8pm";
        for colour in [false, true] {
            let theme = Theme::new(colour);
            for columns in 20..70 {
                let lines = theme.problem(text, columns);
                assert!(
                    lines.iter().all(|line| columns_of(line) <= columns),
                    "{lines:?}"
                );
                let said = console::strip_ansi_codes(&lines.join(" ")).into_owned();
                let words: Vec<&str> = said.split_whitespace().skip(1).collect();
                assert_eq!(words.join(" "), text);
            }
        }
        assert_eq!(Theme::new(false).problem("unbreakable", 8), ["✘ unbre…"]);
    }

    #[test]
    fn without_colour_the_marks_stay_and_no_escape_is_written() {
        let plain = Theme::new(false);
        assert_eq!(plain.row("Bistro", true), "❯ Bistro");
        assert_eq!(plain.row("Bistro", false), "  Bistro");
        assert_eq!(plain.input("Name", Some("Ada")), "? Name (Ada) › ");
        assert_eq!(plain.answered("Name", "Ada", 80), ["✔ Name · Ada"]);
        assert_eq!(plain.problem("too long", 80), ["✘ too long"]);
        assert!(Theme::new(true).row("Bistro", true).contains('\x1b'));
    }
}
