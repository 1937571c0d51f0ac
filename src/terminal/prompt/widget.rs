//! The state of a question: rows to choose from, a line to type, or both. It takes keys and draws frames, or takes lines, and
//! does not touch the terminal.

use console::measure_text_width;
use jiff::SignedDuration;

use super::line::Line;
use super::question::{AnswerCheck, Echo, Question};
use super::screen::{Frame, Size};
use super::theme::{Theme, title};
use crate::platform::key::Key;
use crate::service::documents::text_fold::fold;
use crate::terminal::output::cut;

/// The most further lines of the marked row.
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
    rows: &'a [String],
    /// What is typed, if anything can be: it filters the rows.
    line: Option<Line>,
    /// Set if what is typed may be the answer.
    check: Option<AnswerCheck<'a>>,
    /// The answer that an empty line stands for.
    default: Option<&'a str>,
    /// The rows that the filter leaves.
    found: Vec<usize>,
    at: usize,
    /// The row that was selected by an arrow key, or at first. A filter that hides it does not forget it.
    marked: usize,
    /// Why the last key or answer was rejected; cleared by the next key.
    problem: Option<String>,
    /// The row that was answered, if one was.
    pub(super) row: usize,
    /// The answer: the row as it was given, or what was typed.
    pub(super) text: String,
}

impl<'a> Widget<'a> {
    /// Rows alone. `first` is selected at first, unless there is a former answer.
    pub(super) fn new(question: &'a Question, rows: &'a [String], first: usize) -> Self {
        let is_former = |row: &String| Some(row) == question.former.as_ref();
        let at = rows.iter().position(is_former).unwrap_or(first);
        let at = at.min(rows.len().saturating_sub(1));
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
        let former = self.question.former.as_ref();
        let typed = former.filter(|former| !self.rows.contains(former));
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
        let default = default.filter(|_| typed.is_empty());
        default.unwrap_or(typed).clone_into(&mut self.text);
        self.check.map_or(Ok(()), |check| check(&self.text))
    }

    /// Keeps the rows that contain every word of the line, ignoring case and accents, and the marked row if it matches.
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
        let marked = self.found.iter().position(|row| *row == self.marked);
        self.at = marked.unwrap_or(0);
    }

    /// Draws the question. No line is wider than `size.usable()`.
    pub(super) fn draw(&self, left: Option<SignedDuration>, size: Size, theme: &Theme) -> Frame {
        let (columns, text) = (size.usable(), &self.question.text);
        let (mut lines, mut cursor) = (Vec::new(), None);
        if let Some(line) = &self.line {
            // The default of a secret is named in the hint below, which does not stay.
            let default = self.default.filter(|_| self.question.echo == Echo::Shown);
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
            lines.extend(theme.problem(problem, columns));
        } else if let Some(hint) = &self.question.hint {
            lines.extend(theme.hints(hint, columns));
        }
        lines.truncate(size.rows.max(2));
        Frame { lines, cursor }
    }

    fn draw_rows(&self, lines: &mut Vec<String>, size: Size, theme: &Theme) {
        let columns = size.usable();
        // Keep the footer and one row for the shell's own line free.
        let room = size.rows.saturating_sub(lines.len() + 2).max(1);
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
                lines.push(cut(&format!("  {row}"), columns));
            }
        }
        let is_list = !self.rows.is_empty();
        if is_list && (self.line.is_some() || visible < self.found.len()) {
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
    pub(super) fn shown(&self) -> String {
        if self.question.echo != Echo::Shown {
            return "********".to_owned();
        }
        // The blanks that align columns mean nothing in a single line.
        let words = first_line(&self.text).split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    }

    /// What stands above a plain question: the rows that it offers.
    pub(super) fn listing(&self) -> String {
        let width = self.rows.len().to_string().len();
        let rows = (1..).zip(self.rows);
        rows.map(|(number, row)| format!("{number:>width$}) {}\n", first_line(row)))
            .collect()
    }

    /// What an empty line of a plain question stands for.
    pub(super) fn default(&self) -> Option<String> {
        let row = self.line.as_ref().map(|_| (self.marked + 1).to_string());
        match self.check {
            Some(_) => self
                .question
                .former
                .clone()
                .or(self.default.map(str::to_owned)),
            None => row,
        }
    }

    /// Takes a line of a plain question: the number of a row, or a text. The error is a sentence for the person.
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

fn first_line(row: &str) -> &str {
    row.lines().next().unwrap_or_default()
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

    fn press(menu: &mut Widget<'_>, text: &str) {
        for character in text.chars() {
            assert_eq!(menu.press(Key::Char(character)), KeyEffect::Stay);
        }
    }

    fn draw(menu: &Widget<'_>, rows: usize, columns: usize) -> Vec<String> {
        menu.draw(None, Size { rows, columns }, &Theme::new(false))
            .lines
    }

    #[test]
    fn every_typed_word_narrows_the_rows_in_any_order_and_case_without_accents() {
        let (rows, question) = (venues(), question());
        let mut menu = Widget::new(&question, &rows, 0).filtered();
        press(&mut menu, "paris CAFE");
        assert_eq!(menu.found, [0]);
        menu.press(Key::EraseWord);
        assert_eq!(menu.found, [0, 2]);
        menu.press(Key::Down);
        assert_eq!(menu.press(Key::Enter), KeyEffect::Answered);
        assert_eq!(menu.row, 2, "the row's own index, not the filtered one");
    }

    #[test]
    fn where_nothing_is_found_enter_answers_nothing() {
        let (rows, question) = (venues(), question());
        let mut menu = Widget::new(&question, &rows, 1).filtered();
        press(&mut menu, "xyz");
        assert_eq!(menu.press(Key::Enter), KeyEffect::Stay);
        menu.press(Key::Up);
        menu.press(Key::PageDown);
        assert_eq!(
            draw(&menu, 24, 80)[1],
            "  no matches for \"xyz\", Ctrl-U clears"
        );
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
        let mut menu = Widget::new(&question, &rows, 0).or_typed(None, &check);
        menu.press(Key::Enter);
        assert_eq!(menu.shown(), "Lisbon");
        for blank in ["", "   "] {
            menu.press(Key::EraseLine);
            press(&mut menu, blank);
            menu.press(Key::Enter);
            assert_eq!(menu.text, rows[0]);
        }
    }

    #[test]
    fn the_marked_row_is_in_view_at_every_size_and_nothing_wraps_or_overflows() {
        let (rows, question) = (venues(), question());
        for (height, columns) in [(3, 20), (5, 20), (10, 40), (24, 80), (60, 200)] {
            let mut menu = Widget::new(&question, &rows, 0).filtered();
            for _ in 0..rows.len() {
                let lines = draw(&menu, height, columns);
                assert!(lines.len() <= height, "{height}: {lines:?}");
                assert!(
                    lines.iter().all(|line| measure_text_width(line) < columns),
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
        let mut menu = Widget::new(&question, &rows, 0);
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
        let mut menu = Widget::new(&question, &rows, 2).filtered();
        assert!(menu.listing().starts_with(" 1) row 1\n 2)"));
        for (line, answer) in [(" 2 ", 1), ("", 2)] {
            assert_eq!(menu.take_line(line), Ok(()));
            assert_eq!(menu.row, answer);
        }
        for wrong in ["0", "13", "-1", "two", "1.5"] {
            assert!(menu.take_line(wrong).unwrap_err().contains("1 to 12"));
        }
    }

    const LEFT: Option<SignedDuration> = Some(SignedDuration::from_secs(1192));

    fn six_digits(text: &str) -> Result<(), String> {
        let digits = text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit());
        digits
            .then_some(())
            .ok_or_else(|| "the code has six digits".to_owned())
    }

    #[test]
    fn an_answer_that_is_not_taken_says_why_until_the_next_key() {
        let question = Question::new("Code", "--otp", "the one-time code");
        let mut entry = Widget::new(&question, &[], 0).or_typed(None, &six_digits);
        press(&mut entry, "12345");
        assert_eq!(entry.press(Key::Enter), KeyEffect::Stay);
        assert_eq!(draw(&entry, 24, 80)[1], "✘ the code has six digits");
        press(&mut entry, "6");
        assert_eq!(draw(&entry, 24, 80).len(), 1);
        assert_eq!(entry.press(Key::Enter), KeyEffect::Answered);
        assert_eq!(entry.text, "123456");
    }

    #[test]
    fn a_long_paste_is_drawn_at_its_end_and_answered_whole() {
        let paste = "0123456789".repeat(6_000);
        let question = Question::new("Note", "--note", "the note");
        let hidden = Question {
            echo: Echo::Hidden,
            ..Question::new("Key", "--key", "the key")
        };
        for (question, end) in [(&question, "456789"), (&hidden, "******")] {
            let mut entry = Widget::new(question, &[], 0).or_typed(None, &|_| Ok(()));
            press(&mut entry, &paste);
            let lines = draw(&entry, 24, 80);
            assert!(
                lines[0].contains('…') && lines[0].trim_end().ends_with(end),
                "{lines:?}"
            );
            assert!(measure_text_width(&lines[0]) < 80, "{lines:?}");
            assert_eq!(entry.press(Key::Enter), KeyEffect::Answered);
            assert_eq!(entry.text, paste);
        }
    }

    #[test]
    fn an_empty_answer_is_the_default_and_the_end_of_input_only_on_an_empty_line_a_way_out() {
        let question = Question::new("Party size", "--party", "the party size");
        let mut entry = Widget::new(&question, &[], 0).or_typed(Some("2"), &|_| Ok(()));
        press(&mut entry, " ");
        assert_eq!(entry.press(Key::EndOfInput), KeyEffect::Stay);
        assert_eq!(entry.press(Key::Enter), KeyEffect::Answered);
        assert_eq!(entry.text, "2");
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
        let default = Some("a default that is long itself");
        let mut entry = Widget::new(&question, &[], 0).or_typed(default, &six_digits);
        press(
            &mut entry,
            "名前 and far more text than any of the narrow ones could ever hold 999",
        );
        assert_eq!(entry.press(Key::Enter), KeyEffect::Stay);
        for columns in [20, 40, 80, 200] {
            let frame = entry.draw(LEFT, Size { rows: 24, columns }, &Theme::new(false));
            for line in &frame.lines {
                assert!(measure_text_width(line) < columns, "{columns}: {line:?}");
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
