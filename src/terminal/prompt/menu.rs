//! A live menu: arrow keys choose a row, and typing filters the rows.

use jiff::SignedDuration;

use super::event_loop::{KeyEffect, Widget};
use super::line::Line;
use super::question::{AnswerCheck, Question};
use super::screen::{Frame, Size};
use super::theme::{Theme, columns_of, fit};
use crate::platform::key::Key;
use crate::service::documents::text_fold::fold;

/// The most further lines of the marked row.
const MOST_MORE_LINES: usize = 2;
const MOST_ROWS: usize = 12;
/// The columns before each row, for the marker of the selected one.
const MARK: usize = 2;

/// The line of a row that is shown. Only the filter looks at further lines.
fn first_line(row: &str) -> &str {
    row.lines().next().unwrap_or_default()
}

pub(super) struct Menu<'a> {
    question: &'a Question,
    rows: &'a [String],
    filter: Option<Line>,
    found: Vec<usize>,
    at: usize,
    /// The row that was selected by an arrow key, or at first. A filter that hides it does not forget it.
    marked: usize,
    /// Set if an answer that is no row may be typed.
    typed: Option<AnswerCheck<'a>>,
    /// Why what was typed was rejected; cleared by the next key.
    problem: Option<String>,
    /// The row that was answered; one beyond the last if another answer was typed.
    pub(super) answer: usize,
}

impl<'a> Menu<'a> {
    /// `default` is selected at first, unless there is a former answer.
    pub(super) fn new(question: &'a Question, rows: &'a [String], default: usize) -> Self {
        let is_former = |row: &String| Some(row) == question.former.as_ref();
        let at = rows.iter().position(is_former).unwrap_or(default);
        let at = at.min(rows.len().saturating_sub(1));
        Self {
            question,
            rows,
            filter: None,
            found: (0..rows.len()).collect(),
            at,
            marked: at,
            typed: None,
            problem: None,
            answer: 0,
        }
    }

    pub(super) fn filtered(mut self) -> Self {
        self.filter = Some(Line::default());
        self
    }

    /// Adds a filter. What was typed is the answer if no row matches, and if `check` accepts it.
    pub(super) fn or_typed(mut self, check: AnswerCheck<'a>) -> Self {
        let former = self.question.former.as_ref();
        let typed = former.filter(|former| !self.rows.contains(former));
        self.filter = Some(Line::new(typed.map_or("", String::as_str), false));
        self.typed = Some(check);
        self.narrow();
        self
    }

    /// The text of the answer: that of the row, or what was typed.
    pub(super) fn text(&self) -> &str {
        let typed = || self.filter.as_ref().map_or("", |filter| filter.text.trim());
        let row = self.rows.get(self.answer).map(String::as_str);
        row.unwrap_or_else(typed)
    }

    fn enter(&mut self) -> KeyEffect {
        if let Some(row) = self.found.get(self.at) {
            self.answer = *row;
            return KeyEffect::Answered;
        }
        self.answer = self.rows.len();
        match self.typed.map(|check| check(self.text())) {
            Some(Ok(())) => return KeyEffect::Answered,
            Some(Err(problem)) => self.problem = Some(problem),
            None => {}
        }
        KeyEffect::Stay
    }

    /// Keeps the rows that contain every word of the filter, ignoring case and accents, and the marked row if it matches.
    fn narrow(&mut self) {
        let Some(filter) = &self.filter else { return };
        let filter = fold(&filter.text);
        let words: Vec<&str> = filter.split_whitespace().collect();
        let matches = |row: &usize| {
            let row = fold(&self.rows[*row]);
            words.iter().all(|word| row.contains(word))
        };
        self.found = (0..self.rows.len()).filter(matches).collect();
        let marked = self.found.iter().position(|row| *row == self.marked);
        self.at = marked.unwrap_or(0);
    }

    fn footer(&self) -> String {
        let (rows, noun) = (self.rows.len(), self.question.noun);
        let noun = noun.strip_suffix('s').filter(|_| rows == 1).unwrap_or(noun);
        let may_type = self.typed.is_some();
        match self.filter.as_ref().map(|filter| filter.text.as_str()) {
            None => format!("{rows} {noun}"),
            Some("") if may_type => format!("{rows} {noun}, or type another"),
            Some("") => format!("{rows} {noun}, type to filter"),
            Some(_) if !self.found.is_empty() => format!("{} of {rows} match", self.found.len()),
            Some(_) if may_type => "Enter uses what you typed".to_owned(),
            Some(text) => format!("no matches for {text:?}"),
        }
    }
}

impl Widget for Menu<'_> {
    fn press(&mut self, key: Key) -> KeyEffect {
        let is_stray = self.problem.take().is_some() && self.filter.is_none();
        let last = self.found.len().saturating_sub(1);
        match key {
            Key::Up => self.at = self.at.checked_sub(1).unwrap_or(last),
            Key::Down => self.at = if self.at < last { self.at + 1 } else { 0 },
            Key::PageUp => self.at = self.at.saturating_sub(MOST_ROWS - 2),
            Key::PageDown => self.at = (self.at + MOST_ROWS - 2).min(last),
            // What was typed was not meant for this question, and neither is its end.
            Key::Enter if is_stray => return KeyEffect::Stay,
            Key::Enter => return self.enter(),
            Key::EndOfInput => return KeyEffect::Interrupted,
            Key::Home if self.filter.is_none() => self.at = 0,
            Key::End if self.filter.is_none() => self.at = last,
            Key::Char(_) if self.filter.is_none() => {
                self.problem = Some("choose with the arrow keys, then Enter".to_owned());
            }
            _ => {
                if self.filter.as_mut().is_some_and(|filter| filter.press(key)) {
                    self.narrow();
                }
                return KeyEffect::Stay;
            }
        }
        self.marked = self.found.get(self.at).copied().unwrap_or(self.marked);
        KeyEffect::Stay
    }

    fn draw(&self, left: Option<SignedDuration>, size: Size, theme: &Theme) -> Frame {
        let columns = size.usable();
        let heading = |room| theme.heading(&self.question.text, left, room);
        let (mut lines, mut cursor) = (Vec::new(), None);
        if let Some(filter) = &self.filter {
            let heading = heading(columns * 2 / 3) + " ";
            let start = columns_of(&heading);
            let (typed, at) = filter.view(columns.saturating_sub(start));
            lines.push(heading + &typed);
            cursor = Some((0, start + at));
        } else {
            lines.push(heading(columns));
        }
        let cut = |text: &str| fit(text, columns.saturating_sub(MARK));
        let below = |text: &str| theme.hint(&format!("  {}", cut(text)));

        // Keep the heading, the footer and one row for the shell's own line free.
        let room = size.rows.saturating_sub(3).max(1);
        let visible = room.min(MOST_ROWS.max(size.rows / 2)).min(self.found.len());
        // Keep the selected row in the middle, so that rows on both sides are visible.
        let top = self.at.saturating_sub(visible / 2);
        let top = top.min(self.found.len() - visible);
        // What a cut leaves out of the marked row stands below it, as far as there is room.
        let spare = room.saturating_sub(visible + 1).min(MOST_MORE_LINES);
        for (at, row) in self.found.iter().enumerate().skip(top).take(visible) {
            let row = first_line(&self.rows[*row]);
            if at == self.at {
                lines.extend(theme.marked_row(row, columns, 1 + spare));
            } else {
                lines.push(theme.row(&cut(row), false));
            }
        }
        if self.filter.is_some() || visible < self.found.len() {
            lines.push(below(&self.footer()));
        }
        if let Some(problem) = &self.problem {
            lines.extend(theme.problem(problem, columns));
        } else if let Some(hint) = self.question.hint.as_ref().filter(|_| room > 3) {
            lines.push(below(hint));
        }
        Frame { lines, cursor }
    }

    fn question(&self) -> &Question {
        self.question
    }

    fn shown(&self) -> String {
        // The blanks that align columns mean nothing in a single line.
        let words = first_line(self.text()).split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    }

    fn listing(&self) -> String {
        let width = self.rows.len().to_string().len();
        let rows = (1..).zip(self.rows);
        rows.map(|(number, row)| format!("{number:>width$}) {}\n", first_line(row)))
            .collect()
    }

    fn default(&self) -> Option<String> {
        if self.typed.is_some() {
            self.question.former.clone()
        } else {
            self.filter.as_ref().map(|_| (self.marked + 1).to_string())
        }
    }

    /// Takes the number of a row, or a text of the person's own.
    fn take_line(&mut self, line: &str) -> Result<(), String> {
        let default = self.default().filter(|_| line.trim().is_empty());
        let line = default.as_deref().unwrap_or(line.trim());
        let rows = self.rows.len();
        let number = line.parse().ok().filter(|it| (1..=rows).contains(it));
        match (number, self.typed) {
            (Some(number), _) => self.answer = number - 1,
            (None, Some(check)) => {
                check(line)?;
                self.filter = Some(Line::new(line, false));
                self.answer = rows;
            }
            (None, None) => return Err(format!("Please enter a number from 1 to {rows}.")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn venues() -> Vec<String> {
        let mut rows: Vec<String> = [
            "Café de Flore   Paris",
            "東京タワー寿司  Tokyo",
            "Bistro  Paris",
        ]
        .map(String::from)
        .to_vec();
        rows.extend((0..60).map(|number| format!("Venue {number}  London {}", "long ".repeat(40))));
        rows
    }

    fn question() -> Question {
        Question::new("Which venue?", "VENUE", "the venue")
    }

    fn press(menu: &mut Menu<'_>, text: &str) {
        for character in text.chars() {
            assert_eq!(menu.press(Key::Char(character)), KeyEffect::Stay);
        }
    }

    fn draw(menu: &Menu<'_>, rows: usize, columns: usize) -> Vec<String> {
        menu.draw(None, Size { rows, columns }, &Theme::new(false))
            .lines
    }

    #[test]
    fn every_typed_word_narrows_the_rows_in_any_order_and_case_without_accents() {
        let (rows, question) = (venues(), question());
        let mut menu = Menu::new(&question, &rows, 0).filtered();
        press(&mut menu, "paris CAFE");
        assert_eq!(menu.found, [0]);
        menu.press(Key::EraseWord);
        assert_eq!(menu.found, [0, 2]);
        menu.press(Key::Down);
        assert_eq!(menu.press(Key::Enter), KeyEffect::Answered);
        assert_eq!(menu.answer, 2, "the row's own index, not the filtered one");
    }

    #[test]
    fn where_nothing_is_found_enter_answers_nothing() {
        let (rows, question) = (venues(), question());
        let mut menu = Menu::new(&question, &rows, 1).filtered();
        press(&mut menu, "xyz");
        assert_eq!(menu.press(Key::Enter), KeyEffect::Stay);
        menu.press(Key::Up);
        menu.press(Key::PageDown);
        assert_eq!(draw(&menu, 24, 80)[1], "  no matches for \"xyz\"");
        menu.press(Key::EraseLine);
        assert_eq!(menu.found.len(), rows.len());
    }

    #[test]
    fn what_matches_no_row_is_an_answer_only_where_one_may_be_typed() {
        let (rows, question) = (venues(), question().former(Some("Lisbon".to_owned())));
        let check = |text: &str| match text {
            "" => Err("enter a place".to_owned()),
            _ => Ok(()),
        };
        let mut menu = Menu::new(&question, &rows, 0).or_typed(&check);
        menu.press(Key::Enter);
        assert_eq!(menu.answer, rows.len());
        assert_eq!(menu.shown(), "Lisbon");
        menu.press(Key::EraseLine);
        menu.press(Key::Enter);
        assert_eq!(menu.answer, 0);
        press(&mut menu, "   ");
        menu.press(Key::Enter);
        assert_eq!(menu.answer, 0);
    }

    #[test]
    fn the_marked_row_is_in_view_at_every_size_and_nothing_wraps_or_overflows() {
        let (rows, question) = (venues(), question());
        for (height, columns) in [(3, 20), (5, 20), (10, 40), (24, 80), (60, 200)] {
            let mut menu = Menu::new(&question, &rows, 0).filtered();
            for _ in 0..rows.len() {
                let lines = draw(&menu, height, columns);
                assert!(lines.len() <= height, "{height}: {lines:?}");
                assert!(
                    lines.iter().all(|line| columns_of(line) < columns),
                    "{columns}: {lines:?}"
                );
                assert_eq!(lines.iter().filter(|line| line.starts_with('❯')).count(), 1);
                menu.press(Key::Down);
            }
            assert_eq!(menu.at, 0, "after the last row comes the first");
            menu.press(Key::Up);
            assert_eq!(menu.at, rows.len() - 1);
        }
    }

    #[test]
    fn what_is_cut_off_the_marked_row_stands_below_it() {
        let rows = [
            "17:00 · card, 23.00 EUR held · free until Thu 17:00, then 23.00 EUR",
            "18:00 · no card",
        ];
        let (rows, question) = (rows.map(str::to_owned).to_vec(), question());
        let mut menu = Menu::new(&question, &rows, 0);
        let lines = draw(&menu, 24, 40);
        assert_eq!(
            lines[1..],
            [
                "❯ 17:00 · card, 23.00 EUR held · free",
                "    until Thu 17:00, then 23.00 EUR",
                "  18:00 · no card"
            ]
        );
        menu.press(Key::Down);
        assert_eq!(
            draw(&menu, 24, 40)[1],
            "  17:00 · card, 23.00 EUR held · free …"
        );
        assert_eq!(draw(&menu, 24, 40).len(), 3);
    }

    #[test]
    fn a_plain_menu_takes_the_numbers_of_its_rows_alone() {
        let rows: Vec<String> = (1..=12).map(|row| format!("row {row}\nguest")).collect();
        let question = question();
        let mut menu = Menu::new(&question, &rows, 2).filtered();
        assert!(menu.listing().starts_with(" 1) row 1\n 2)"));
        for (line, answer) in [(" 2 ", 1), ("", 2)] {
            assert_eq!(menu.take_line(line), Ok(()));
            assert_eq!(menu.answer, answer);
        }
        for wrong in ["0", "13", "-1", "two", "1.5"] {
            assert!(menu.take_line(wrong).unwrap_err().contains("1 to 12"));
        }
    }
}
