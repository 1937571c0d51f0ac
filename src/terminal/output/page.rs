//! The human form of a result: a page of blocks, rendered by a pure function of page and style.

use unicode_width::UnicodeWidthStr;

use super::json;
use super::style::{StreamStyle, Tone};
use super::table::{self, Cell};
use super::visible::{visible, visible_rows};
use super::wrap::{wrap, wrap_command};

/// Less of a text than this says nothing.
const LEAST_CUT: usize = 12;
/// Less room than this makes a column of one word a line.
const LEAST_COLUMN: usize = 24;

#[derive(Debug)]
enum Block {
    Heading(Tone, Cell, String),
    Field(&'static str, String),
    Line(String),
    Sentence(String),
    Labelled(Tone, &'static str, String),
    Table {
        headers: Vec<&'static str>,
        rows: Vec<Vec<Cell>>,
        pipe: Vec<usize>,
    },
    Columns(Vec<(Cell, usize)>),
    Next(String),
    Command(String),
    /// Rows that are neither masked nor wrapped.
    Rows(String),
    Json(String),
}

#[derive(Debug, Default)]
pub(crate) struct Page {
    blocks: Vec<Block>,
}

impl Page {
    pub(crate) fn heading(
        &mut self,
        tone: Tone,
        state: impl Into<Cell>,
        about: impl Into<String>,
    ) -> &mut Self {
        self.push(Block::Heading(tone, state.into(), about.into()))
    }

    pub(crate) fn field(&mut self, label: &'static str, value: impl Into<String>) -> &mut Self {
        self.push(Block::Field(label, value.into()))
    }

    pub(crate) fn field_if(&mut self, label: &'static str, value: Option<impl Into<String>>) {
        self.blocks.extend(value.map(|value| Block::Field(label, value.into())));
    }

    /// Adds a line of text. Leading blanks indent it.
    pub(crate) fn line(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Line(text.into()))
    }

    pub(crate) fn sentence(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Sentence(text.into()))
    }

    pub(crate) fn labelled(
        &mut self,
        tone: Tone,
        label: &'static str,
        text: impl Into<String>,
    ) -> &mut Self {
        self.push(Block::Labelled(tone, label, text.into()))
    }

    /// Adds a table. `pipe` are the columns that a pipe gets, in its order; all if it names none.
    pub(crate) fn table(
        &mut self,
        headers: Vec<&'static str>,
        rows: Vec<Vec<Cell>>,
        pipe: Vec<usize>,
    ) -> &mut Self {
        self.push(Block::Table { headers, rows, pipe })
    }

    /// Adds one line of cells with their minimum widths, for rows that arrive one by one.
    pub(crate) fn columns(&mut self, cells: Vec<(Cell, usize)>) -> &mut Self {
        self.push(Block::Columns(cells))
    }

    pub(crate) fn next(&mut self, command: impl Into<String>) -> &mut Self {
        self.push(Block::Next(command.into()))
    }

    /// Leaves out the fields with this label. What is added next replaces them.
    pub(crate) fn without(&mut self, label: &str) -> &mut Self {
        let is_other = |it: &Block| !matches!(it, Block::Field(own, _) if *own == label);
        self.blocks.retain(is_other);
        self
    }

    /// Leaves out the commands that can be run next, where a question follows.
    pub(crate) fn without_commands(mut self) -> Self {
        self.blocks.retain(|block| !matches!(block, Block::Next(_)));
        self
    }

    pub(crate) fn command(&mut self, command: impl Into<String>) -> &mut Self {
        self.push(Block::Command(command.into()))
    }

    pub(crate) fn secret(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Rows(text.into()))
    }

    /// Adds a JSON text: indented on a terminal, on one line in a pipe.
    pub(crate) fn json(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Json(text.into()))
    }

    /// Adds the body of a message: as JSON if it is JSON, else as a line.
    pub(crate) fn body(&mut self, text: &str) -> &mut Self {
        match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => self.json(text),
            Err(_) => self.line(text),
        }
    }

    /// This page as Markdown, without the commands that can follow.
    pub(crate) fn in_markdown(&self) -> Page {
        // What a ticket would read as markup.
        let plain = |text: &str| {
            let marks = |c: char| "\\`*<[|".contains(c).then_some('\\').into_iter().chain([c]);
            visible(text).chars().flat_map(marks).collect::<String>()
        };
        let mut text = String::new();
        for block in &self.blocks {
            text += &match block {
                Block::Heading(_, state, about) => {
                    format!("### {} · {}\n\n", plain(&state.visible_text()), plain(about))
                }
                Block::Field(label, value) => format!("- {label}: {}\n", plain(value)),
                Block::Line(text) | Block::Sentence(text) => plain(text) + "\n",
                Block::Table { rows, .. } => {
                    let cells = |row: &Vec<Cell>| {
                        row.iter().map(|it| plain(&it.visible_text())).collect::<Vec<_>>().join(" ")
                    };
                    rows.iter().map(|row| format!("- {}\n", cells(row))).collect()
                }
                _ => continue,
            };
        }
        Page { blocks: vec![Block::Rows(text.trim_end().to_owned())] }
    }

    fn push(&mut self, block: Block) -> &mut Self {
        self.blocks.push(block);
        self
    }

    pub(crate) fn render(&self, style: &StreamStyle) -> String {
        let text = String::new();
        let mut sheet = Sheet { style, text };
        if !style.terminal {
            self.blocks.iter().for_each(|block| sheet.pipe(block));
            return sheet.text;
        }
        let labels = self.blocks.iter().filter_map(|block| match block {
            Block::Field(label, _) => Some(label.len()),
            _ => None,
        });
        let label_width = labels.max().unwrap_or(0);
        let mut lists_commands = false;
        for block in &self.blocks {
            let is_command = matches!(block, Block::Next(_));
            if is_command && !lists_commands {
                sheet.line(&format!("  {}", style.paint(Tone::Dim, "You can:")));
            }
            lists_commands = is_command;
            sheet.draw(block, label_width);
        }
        sheet.text
    }
}

struct Sheet<'a> {
    style: &'a StreamStyle,
    text: String,
}

impl Sheet<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes a text that is indented by `indent` columns; its first line follows `start`, as wide.
    fn hanging(&mut self, mut start: String, indent: usize, text: &str, tone: Option<Tone>) {
        for line in wrap(text, self.style.width.saturating_sub(indent).max(LEAST_CUT)) {
            self.line(&(start + &self.style.paint(tone, &line)));
            start = " ".repeat(indent);
        }
    }

    fn indented(&mut self, indent: usize, text: &str) {
        self.hanging(" ".repeat(indent), indent, text, None);
    }

    fn draw(&mut self, block: &Block, label_width: usize) {
        let style = self.style;
        match block {
            Block::Heading(tone, state, about) => {
                let (state, about) = (state.visible_text(), visible(about));
                let painted = style.paint(*tone, &state);
                if state.width() + 2 + about.width() <= style.width {
                    self.line(&format!("{painted}  {}", style.paint(Tone::Strong, &about)));
                } else {
                    self.line(&painted);
                    self.indented(2, &about);
                }
            }
            Block::Field(label, value) => {
                let label = format!("  {label:label_width$}  ");
                let start = style.paint(Tone::Dim, &label);
                self.hanging(start, label.len(), &visible(value), None);
            }
            Block::Next(command) | Block::Command(command) => {
                for line in wrap_command(&visible(command), style.width.saturating_sub(4)) {
                    self.line(&format!("    {line}"));
                }
            }
            Block::Sentence(sentence) => self.indented(2, &visible(sentence)),
            Block::Line(line) => {
                let words = line.trim_start_matches(' ');
                self.indented(line.len() - words.len(), &visible(words));
            }
            Block::Labelled(tone, label, line) => {
                let start = format!("{} ", style.paint(*tone, label));
                self.hanging(start, label.len() + 1, &visible(line), None);
            }
            Block::Rows(line) => self.line(&visible_rows(line)),
            Block::Json(raw) => self.line(&json::pretty(raw)),
            Block::Columns(cells) => self.columns(cells),
            Block::Table { rows, .. } if rows.is_empty() => {}
            Block::Table { headers, rows, .. } => {
                self.line(&table::lay_out(headers, rows, style));
            }
        }
    }

    /// Writes a block as tab-separated lines, uncut.
    fn pipe(&mut self, block: &Block) {
        let style = self.style;
        match block {
            Block::Heading(tone, state, about) => {
                let state = style.paint(*tone, &visible(&state.text));
                self.line(&format!("{state}\t{}", visible(about)));
            }
            Block::Field(label, value) => self.line(&format!("{label}\t{}", visible(value))),
            Block::Next(command) => self.line(&format!("next\t{}", visible(command))),
            Block::Line(text) | Block::Sentence(text) | Block::Command(text) => {
                self.line(&visible(text));
            }
            Block::Labelled(tone, label, line) => {
                let label = style.paint(*tone, label);
                self.line(&format!("{label} {}", visible(line)));
            }
            Block::Rows(line) => self.line(&visible_rows(line)),
            Block::Json(raw) => self.line(&json::compact(raw)),
            Block::Columns(cells) => self.tabs(cells.iter().map(|(cell, _)| cell)),
            Block::Table { rows, pipe, .. } => {
                for row in rows {
                    match pipe.as_slice() {
                        [] => self.tabs(row.iter()),
                        order => self.tabs(order.iter().filter_map(|column| row.get(*column))),
                    }
                }
            }
        }
    }

    fn tabs<'a>(&mut self, cells: impl Iterator<Item = &'a Cell>) {
        let cells = cells.map(|cell| self.style.paint(cell.tone, &visible(&cell.text)));
        let cells = cells.collect::<Vec<_>>();
        self.line(&cells.join("\t"));
    }

    /// Writes one line. The last cell is wrapped in its column, or below if that is narrow.
    fn columns(&mut self, cells: &[(Cell, usize)]) {
        let is_shown = |(cell, _): &(Cell, usize)| !cell.visible_text().is_empty();
        let displayed = cells.iter().rposition(is_shown).map_or(0, |at| at + 1);
        let Some(((last, _), before)) = cells[..displayed].split_last() else {
            return;
        };
        let (mut start, mut width, mut indent) = (String::new(), 0, 0);
        for (cell, least) in before {
            let displayed = cell.visible_text();
            let blanks = least.saturating_sub(displayed.width()) + 1;
            width += displayed.width() + blanks;
            let displayed = self.style.paint(cell.tone, &displayed);
            start += &format!("{displayed}{:blanks$}", "");
            if indent == 0 {
                indent = width;
            }
        }
        let displayed = last.visible_text();
        let room = self.style.width.saturating_sub(width);
        if room < LEAST_COLUMN && displayed.width() > room {
            if width <= self.style.width {
                self.line(start.trim_end());
            } else {
                let words: Vec<_> = before.iter().map(|(cell, _)| cell.visible_text()).collect();
                self.indented(0, &words.join(" "));
            }
            start = " ".repeat(indent);
        } else {
            indent = width;
        }
        self.hanging(start, indent, &displayed, last.tone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::output::ColorPrefs;

    fn page() -> Page {
        let mut page = Page::default();
        page.heading(Tone::Good, "confirmed", "bk_1");
        page.field("when", "Tue 1 Dec 2026, 19:30 (+01:00)");
        page.table(
            vec!["id", "name"],
            vec![
                vec!["ven_1".into(), "Café \u{1b}[31m".into()],
                vec!["ven_22".into(), "寿司".into()],
            ],
            vec![],
        );
        page.next("bookctl show bk_1");
        page
    }

    #[test]
    fn a_pipe_gets_tab_separated_lines_without_cuts_or_headers() {
        let style = StreamStyle::decide(ColorPrefs::default(), false, 0);
        assert_eq!(
            page().render(&style),
            "confirmed\tbk_1\nwhen\tTue 1 Dec 2026, 19:30 (+01:00)\nven_1\tCafé \\u{1b}[31m\nven_22\t寿司\nnext\tbookctl show bk_1\n"
        );
    }

    #[test]
    fn last_cell_without_room_in_its_column_is_wrapped_below_line() {
        let style = |columns| {
            let prefs = ColorPrefs { no_color: true, ..ColorPrefs::default() };
            StreamStyle::decide(prefs, true, columns)
        };
        let mut page = Page::default();
        let why = "party_size must be 1 to 20";
        let cells = [("12:00:00", 8), ("/v1/bookings", 38), (why, 0)];
        page.columns(cells.map(|(text, least)| (text.into(), least)).to_vec());
        let path = "12:00:00 /v1/bookings";
        assert_eq!(page.render(&style(60)), format!("{path}\n         {why}\n"));
        let blanks = " ".repeat(27);
        assert_eq!(page.render(&style(100)), format!("{path}{blanks}{why}\n"));
    }
}
