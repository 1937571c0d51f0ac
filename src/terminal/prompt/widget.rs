//! The state of a question: rows to choose from, a line to type, or both. It takes keys and draws
//! frames, or takes lines, and does not touch the terminal.

use std::borrow::Cow;

use console::measure_text_width;
use jiff::SignedDuration;

use super::line::Line;
use super::question::{AnswerCheck, Echo, Question};
use super::screen::{Frame, Size};
use super::theme::{Theme, title};
use crate::platform::key::Key;
use crate::service::documents::text_fold::fold;
use crate::terminal::output::{cut, visible};

const MOST_MORE_LINES: usize = 2;
const MOST_ROWS: usize = 12;
/// If fewer columns than this are left for typing, the question moves to a line of its own.
const ROOM_TO_TYPE: usize = 16;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum KeyEffect {
    Stay,
    Answered,
    Interrupted,
}

pub(super) struct Widget<'a> {
    pub(super) question: &'a Question,
    /// Only the first line of a row is shown. The filter looks at the others, too.
    pub(super) rows: &'a [String],
    /// What is typed, if anything can be: it filters the rows.
    line: Option<Line>,
    /// Set if what is typed may be the answer.
    check: Option<AnswerCheck<'a>>,
    default: Option<&'a str>,
    found: Vec<usize>,
    at: usize,
    /// The row that an arrow key selected, or the first. A filter that hides it keeps it.
    marked: usize,
    /// Why the last key or answer was rejected; cleared by the next key.
    problem: Option<String>,
    pub(super) row: usize,
    /// The answer: the row as it was given, or what was typed.
    pub(super) text: String,
}

impl<'a> Widget<'a> {
    /// Rows alone. `first` is selected at first, unless there is a former answer.
    pub(super) fn new(question: &'a Question, rows: &'a [String], first: usize) -> Self {
        let is_former = |row: &String| Some(row) == question.previous_answer.as_ref();
        let at = rows.iter().position(is_former).unwrap_or(first).min(rows.len().saturating_sub(1));
        Self {
            question,
            rows,
            line: None,
            check: None,
            default: None,
            found: (0..rows.len()).collect(),
            at,
            marked: at,
            problem: None,
            row: 0,
            text: String::new(),
        }
    }

    pub(super) fn filtered(mut self) -> Self {
        self.line = Some(Line::default());
        self
    }

    /// What is typed filters the rows. If none matches and `check` accepts it, it is the answer.
    pub(super) fn or_typed(mut self, default: Option<&'a str>, check: AnswerCheck<'a>) -> Self {
        let previous_answer = self.question.previous_answer.as_ref();
        let typed = previous_answer.filter(|previous_answer| !self.rows.contains(previous_answer));
        let is_hidden = self.question.echo == Echo::Hidden;
        self.line = Some(Line::new(typed.map_or("", String::as_str), is_hidden));
        (self.check, self.default) = (Some(check), default);
        self.narrow();
        self
    }

    pub(super) fn press(&mut self, key: Key) -> KeyEffect {
        let is_stray = self.problem.take().is_some() && self.line.is_none();
        if self.line.as_mut().is_some_and(|line| line.press(key)) {
            self.narrow();
            return KeyEffect::Stay;
        }
        let last = self.found.len().saturating_sub(1);
        match key {
            Key::Up => self.at = self.at.checked_sub(1).unwrap_or(last),
            Key::Down => self.at = if self.at < last { self.at + 1 } else { 0 },
            Key::PageUp => self.at = self.at.saturating_sub(MOST_ROWS - 2),
            Key::PageDown => self.at = (self.at + MOST_ROWS - 2).min(last),
            Key::Home => self.at = 0,
            Key::End => self.at = last,
            // What was typed was not meant for this question, and neither is its end.
            Key::Enter if is_stray => {}
            Key::Enter => return self.enter(),
            Key::EndOfInput if self.typed().is_empty() => return KeyEffect::Interrupted,
            Key::Char(_) => {
                self.problem = Some("choose with the arrow keys, then Enter".to_owned());
            }
            _ => {}
        }
        self.marked = self.found.get(self.at).copied().unwrap_or(self.marked);
        KeyEffect::Stay
    }

    fn typed(&self) -> &str {
        self.line.as_ref().map_or("", |line| &line.text)
    }

    fn enter(&mut self) -> KeyEffect {
        if let Some(row) = self.found.get(self.at).copied() {
            self.choose(row);
            return KeyEffect::Answered;
        }
        let typed = self.typed().to_owned();
        match self.check.map(|_| self.accept(&typed, self.default)) {
            Some(Ok(())) => return KeyEffect::Answered,
            Some(Err(problem)) => self.problem = Some(problem),
            None => {}
        }
        if let Some(line) = self.line.as_mut().filter(|_| self.question.confirms) {
            line.take();
        }
        KeyEffect::Stay
    }

    fn choose(&mut self, row: usize) {
        self.row = row;
        self.text.clone_from(&self.rows[row]);
    }

    /// Trims and checks an answer. An empty one is the default.
    fn accept(&mut self, typed: &str, default: Option<&str>) -> Result<(), String> {
        let typed = typed.trim();
        default.filter(|_| typed.is_empty()).unwrap_or(typed).clone_into(&mut self.text);
        self.check.map_or(Ok(()), |check| check(&self.text))
    }

    /// Keeps the rows that contain every word of the line, ignoring case and accents, and the mark.
    fn narrow(&mut self) {
        // Without rows there is nothing to fold each character of a long paste for.
        if self.rows.is_empty() {
            return;
        }
        let filter = fold(self.typed());
        let words: Vec<&str> = filter.split_whitespace().collect();
        let matches = |row: &usize| {
            let row = fold(&self.rows[*row]);
            words.iter().all(|word| row.contains(word))
        };
        self.found = (0..self.rows.len()).filter(matches).collect();
        self.at = self.found.iter().position(|row| *row == self.marked).unwrap_or(0);
    }

    /// Draws the question. No line is wider than `size.usable()`.
    pub(super) fn draw(&self, left: Option<SignedDuration>, size: Size, theme: &Theme) -> Frame {
        let (columns, text) = (size.usable(), &*visible(&self.question.text));
        let (mut lines, mut cursor) = (Vec::new(), None);
        if let Some(line) = &self.line {
            // The default of a secret is named in the hint below, which does not stay.
            let default = self.default.filter(|_| self.question.echo == Echo::Shown).map(visible);
            let default = default.as_deref();
            let mut before = theme.input(&title(text, left, usize::MAX), default);
            if measure_text_width(&before) + ROOM_TO_TYPE > columns {
                lines.push(theme.heading(text, left, columns));
                let default = default.map(|default| cut(default, columns / 3));
                before = theme.input("", default.as_deref());
            }
            let start = measure_text_width(&before);
            let (typed, at) = line.view(columns.saturating_sub(start));
            cursor = Some((lines.len(), start + at));
            lines.push(before + &typed);
        } else {
            lines.push(theme.heading(text, left, columns));
        }
        self.draw_rows(&mut lines, size, theme);
        if let Some(problem) = &self.problem {
            lines.extend(theme.problem(&visible(problem), columns));
        } else if let Some(hint) = &self.question.hint {
            lines.extend(theme.hints(&visible(hint), columns));
        }
        lines.truncate(size.rows.max(2));
        Frame { lines, cursor }
    }

    fn draw_rows(&self, lines: &mut Vec<String>, size: Size, theme: &Theme) {
        let columns = size.usable();
        // Keep the footer and one row for the shell's own line free.
        let room = size.rows.saturating_sub(lines.len() + 2).max(1);
        let displayed = room.min(MOST_ROWS.max(size.rows / 2)).min(self.found.len());
        // Keep the selected row in the middle, so that rows on both sides are visible.
        let top = self.at.saturating_sub(displayed / 2).min(self.found.len() - displayed);
        // What a cut leaves out of the marked row stands below it, as far as there is room.
        let spare = room.saturating_sub(displayed + 1).min(MOST_MORE_LINES);
        for (at, row) in self.found.iter().enumerate().skip(top).take(displayed) {
            let row = &first_line(&self.rows[*row]);
            if at == self.at {
                lines.extend(theme.marked_row(row, columns, 1 + spare));
            } else {
                lines.push(cut(&format!("  {row}"), columns));
            }
        }
        let is_list = !self.rows.is_empty();
        if is_list && (self.line.is_some() || displayed < self.found.len()) {
            lines.extend(theme.hints(&self.footer(), columns));
        }
    }

    fn footer(&self) -> String {
        let (rows, noun) = (self.rows.len(), self.question.noun);
        let noun = noun.strip_suffix('s').filter(|_| rows == 1).unwrap_or(noun);
        let found = self.found.len();
        match (self.typed(), self.check) {
            _ if self.line.is_none() => format!("{rows} {noun}"),
            ("", Some(_)) => format!("{rows} {noun}, or type another"),
            ("", None) => format!("{rows} {noun}, type to filter"),
            (_, Some(_)) if found == 0 => "Enter uses what you typed".to_owned(),
            (text, None) if found == 0 => format!("no matches for {text:?}, Ctrl-U clears"),
            _ => format!("{found} of {rows} match, Ctrl-U clears"),
        }
    }

    /// The answer, for the line that stays on the screen. Of a secret, the length is hidden too.
    pub(super) fn visible_text(&self) -> String {
        if self.question.echo != Echo::Shown {
            return "********".to_owned();
        }
        // The blanks that align columns mean nothing in a single line.
        first_line(&self.text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What stands above a plain question: the rows that it offers.
    pub(super) fn listing(&self) -> String {
        let width = self.rows.len().to_string().len();
        let rows = (1..).zip(self.rows);
        rows.map(|(number, row)| format!("{number:>width$}) {}\n", first_line(row))).collect()
    }

    /// What an empty line of a plain question stands for.
    pub(super) fn default(&self) -> Option<String> {
        if self.check.is_some() {
            return self.question.previous_answer.clone().or(self.default.map(str::to_owned));
        }
        self.line.as_ref().map(|_| (self.marked + 1).to_string())
    }

    /// Takes a line of a plain question: the number of a row, or a text.
    pub(super) fn take_line(&mut self, line: &str) -> Result<(), String> {
        let default = self.default().filter(|_| line.trim().is_empty());
        let line = default.as_deref().unwrap_or(line.trim());
        let rows = self.rows.len();
        match line.parse().ok().filter(|it| (1..=rows).contains(it)) {
            Some(number) => self.choose(number - 1),
            None if self.check.is_some() => return self.accept(line, None),
            None => return Err(format!("Please enter a number from 1 to {rows}.")),
        }
        Ok(())
    }
}

fn first_line(row: &str) -> Cow<'_, str> {
    visible(row.lines().next().unwrap_or_default())
}

#[cfg(test)]
mod tests;
