//! The human form of a result: a page made of blocks. Rendering is a pure function of the page and the stream's
//! style.

use unicode_width::UnicodeWidthStr;

use super::json;
use super::style::{StreamStyle, Tone};
use super::table::{self, Cell, cut};
use super::visible::{visible, visible_rows};
use super::wrap::{wrap, wrap_command};

/// Less of a text than this says nothing.
const LEAST_CUT: usize = 12;

#[derive(Debug)]
enum Block {
    /// The state, in colour, and what it is about.
    Heading {
        tone: Tone,
        state: String,
        about: String,
    },
    Field(&'static str, String),
    Line(String),
    /// A sentence about what the heading says.
    Sentence(String),
    /// A line after a coloured label.
    Labelled(Tone, &'static str, String),
    /// A table. The columns in `terminal_only` are left out in a pipe.
    Table {
        headers: Vec<&'static str>,
        rows: Vec<Vec<Cell>>,
        terminal_only: Vec<usize>,
    },
    /// One line of cells with their minimum widths; tab-separated in a pipe. For rows that arrive one by one, so that
    /// no table can be laid out.
    Columns(Vec<(Cell, usize)>),
    /// Like `Columns`, but never more than one line on a terminal: a cell without room is left out, and the last is cut.
    Row(Vec<(Cell, usize)>),
    /// A command to copy, among those that can be run next.
    Next(String),
    Command(String),
    /// A line that shows a secret on purpose.
    Secret(String),
    /// A JSON text: indented on a terminal, on one line in a pipe.
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
        state: impl Into<String>,
        about: impl Into<String>,
    ) -> &mut Self {
        self.push(Block::Heading {
            tone,
            state: state.into(),
            about: about.into(),
        })
    }

    pub(crate) fn field(&mut self, label: &'static str, value: impl Into<String>) -> &mut Self {
        self.push(Block::Field(label, value.into()))
    }

    pub(crate) fn field_if(
        &mut self,
        label: &'static str,
        value: Option<impl Into<String>>,
    ) -> &mut Self {
        match value {
            Some(value) => self.field(label, value),
            None => self,
        }
    }

    /// Adds a line of text. Leading blanks indent it.
    pub(crate) fn line(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Line(text.into()))
    }

    pub(crate) fn sentence(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Sentence(text.into()))
    }

    /// Adds a line after a coloured label.
    pub(crate) fn labelled(
        &mut self,
        tone: Tone,
        label: &'static str,
        text: impl Into<String>,
    ) -> &mut Self {
        self.push(Block::Labelled(tone, label, text.into()))
    }

    /// Adds a table. The columns with an index in `terminal_only` are left out in a pipe.
    pub(crate) fn table(
        &mut self,
        headers: Vec<&'static str>,
        rows: Vec<Vec<Cell>>,
        terminal_only: Vec<usize>,
    ) -> &mut Self {
        self.push(Block::Table {
            headers,
            rows,
            terminal_only,
        })
    }

    /// Adds a line of cells with their minimum widths.
    pub(crate) fn columns(&mut self, cells: Vec<(Cell, usize)>) -> &mut Self {
        self.push(Block::Columns(cells))
    }

    /// Adds a line of cells with their minimum widths, which a terminal shows on one line.
    pub(crate) fn row(&mut self, cells: Vec<(Cell, usize)>) -> &mut Self {
        self.push(Block::Row(cells))
    }

    /// Adds a command that can be run next.
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

    /// Adds a line that shows a secret on purpose.
    pub(crate) fn secret(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Secret(text.into()))
    }

    pub(crate) fn json(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Json(text.into()))
    }

    fn push(&mut self, block: Block) -> &mut Self {
        self.blocks.push(block);
        self
    }

    pub(crate) fn render(&self, style: &StreamStyle) -> String {
        let labels = self.blocks.iter().filter_map(|block| match block {
            Block::Field(label, _) => Some(label.len()),
            _ => None,
        });
        let label_width = labels.max().unwrap_or(0);
        let mut text = String::new();
        let mut lists_commands = false;
        for block in &self.blocks {
            if style.terminal {
                let is_command = matches!(block, Block::Next(_));
                if is_command && !lists_commands {
                    text.push_str(&format!("  {}\n", style.paint(Tone::Dim, "You can:")));
                }
                lists_commands = is_command;
                render_for_terminal(block, label_width, style, &mut text);
            } else {
                render_for_pipe(block, style, &mut text);
            }
        }
        text
    }
}

fn render_for_terminal(block: &Block, label_width: usize, style: &StreamStyle, text: &mut String) {
    match block {
        Block::Heading { tone, state, about } => {
            let state = visible(state);
            let room = style.width.saturating_sub(state.width() + 2);
            let about = visible(about);
            text.push_str(&style.paint(*tone, &state));
            if about.width() <= room {
                text.push_str(&format!("  {}\n", style.paint(Tone::Strong, &about)));
            } else {
                text.push('\n');
                wrapped(&about, 2, style.width, text);
            }
        }
        Block::Field(label, value) => {
            let label = format!("  {label:label_width$}  ");
            labelled(
                &style.paint(Tone::Dim, &label),
                label.len(),
                &visible(value),
                style.width,
                text,
            );
        }
        Block::Next(command) | Block::Command(command) => {
            for line in wrap_command(&visible(command), style.width.saturating_sub(4)) {
                text.push_str(&format!("    {line}\n"));
            }
        }
        Block::Sentence(sentence) => wrapped(&visible(sentence), 2, style.width, text),
        Block::Line(line) => {
            let words = line.trim_start_matches(' ');
            wrapped(&visible(words), line.len() - words.len(), style.width, text);
        }
        Block::Labelled(tone, label, line) => {
            let painted = style.paint(*tone, label);
            let indent = label.len() + 1;
            labelled(
                &format!("{painted} "),
                indent,
                &visible(line),
                style.width,
                text,
            );
        }
        Block::Secret(line) => text.push_str(&format!("{}\n", visible_rows(line))),
        Block::Json(raw) => text.push_str(&format!("{}\n", json::pretty(raw, 2))),
        Block::Columns(cells) => render_columns(cells, style, text),
        Block::Row(cells) => render_row(cells, style, text),
        Block::Table { headers, rows, .. } => {
            if !rows.is_empty() {
                text.push_str(&table::lay_out(headers, rows, style));
                text.push('\n');
            }
        }
    }
}

/// Renders a block as tab-separated lines, uncut.
fn render_for_pipe(block: &Block, style: &StreamStyle, text: &mut String) {
    match block {
        Block::Heading { tone, state, about } => {
            text.push_str(&format!(
                "{}\t{}\n",
                style.paint(*tone, &visible(state)),
                visible(about)
            ));
        }
        Block::Field(label, value) => text.push_str(&format!("{label}\t{}\n", visible(value))),
        Block::Secret(line) => text.push_str(&format!("{}\n", visible_rows(line))),
        Block::Json(raw) => text.push_str(&format!("{}\n", json::compact(raw))),
        Block::Next(command) => text.push_str(&format!("next\t{}\n", visible(command))),
        Block::Command(command) => text.push_str(&format!("{}\n", visible(command))),
        Block::Columns(cells) | Block::Row(cells) => {
            let cells = cells
                .iter()
                .map(|(cell, _)| painted(cell, style, &visible(&cell.text)));
            text.push_str(&format!("{}\n", cells.collect::<Vec<_>>().join("\t")));
        }
        Block::Line(line) | Block::Sentence(line) => {
            text.push_str(&format!("{}\n", visible(line)));
        }
        Block::Labelled(tone, label, line) => {
            text.push_str(&format!(
                "{} {}\n",
                style.paint(*tone, label),
                visible(line)
            ));
        }
        Block::Table {
            rows,
            terminal_only,
            ..
        } => {
            for row in rows {
                let cells = row
                    .iter()
                    .enumerate()
                    .filter(|(column, _)| !terminal_only.contains(column));
                let cells: Vec<String> = cells
                    .map(|(_, cell)| painted(cell, style, &visible(&cell.text)))
                    .collect();
                text.push_str(&cells.join("\t"));
                text.push('\n');
            }
        }
    }
}

/// Less room than this makes a column of one word a line.
const LEAST_COLUMN: usize = 24;

/// Renders one line. The last cell is wrapped within its column, or below the line if its column is narrow; if there is no
/// room at all, everything is wrapped at the margin.
fn render_columns(cells: &[(Cell, usize)], style: &StreamStyle, text: &mut String) {
    let Some(((last, _), before)) = cells.split_last() else {
        return;
    };
    let (mut start, mut width) = (String::new(), 0);
    for (cell, least) in before {
        let shown = cell.shown();
        let blanks = least.saturating_sub(shown.width()) + 1;
        width += shown.width() + blanks;
        start.push_str(&painted(cell, style, &shown));
        start.extend(std::iter::repeat_n(' ', blanks));
    }
    let shown = last.shown();
    let room = style.width.saturating_sub(width);
    let first = before
        .first()
        .map_or(0, |(cell, least)| cell.shown().width().max(*least) + 1);
    if room < LEAST_COLUMN && shown.width() > room && width <= style.width {
        text.push_str(&format!("{}\n", start.trim_end()));
        for line in wrap(&shown, style.width.saturating_sub(first).max(12)) {
            text.push_str(&format!("{:first$}{}\n", "", painted(last, style, &line)));
        }
    } else if width + 12 <= style.width {
        for (place, line) in wrap(&shown, style.width - width).iter().enumerate() {
            let blanks = " ".repeat(width);
            let start = if place == 0 { &start } else { &blanks };
            text.push_str(&format!("{start}{}\n", painted(last, style, line)));
        }
    } else {
        let words = before.iter().map(|(cell, _)| cell.shown());
        let words: Vec<_> = words.chain([shown]).filter(|it| !it.is_empty()).collect();
        wrapped(&words.join(" "), 0, style.width, text);
    }
}

/// Renders one line, whatever has room on it.
fn render_row(cells: &[(Cell, usize)], style: &StreamStyle, text: &mut String) {
    let (mut line, mut width) = (String::new(), 0);
    for (place, (cell, least)) in cells.iter().enumerate() {
        let shown = cell.shown();
        let room = style.width.saturating_sub(width);
        let is_last = place + 1 == cells.len();
        let shown = match shown.width() <= room {
            true => shown,
            false if is_last && room >= LEAST_CUT => cut(&shown, room).into_owned(),
            false => continue,
        };
        if shown.is_empty() && *least == 0 {
            continue;
        }
        let blanks = least.saturating_sub(shown.width()) + 1;
        width += shown.width() + blanks;
        line.push_str(&painted(cell, style, &shown));
        line.extend(std::iter::repeat_n(' ', blanks));
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

fn painted(cell: &Cell, style: &StreamStyle, text: &str) -> String {
    match cell.tone {
        Some(tone) => style.paint(tone, text),
        None => text.to_owned(),
    }
}

fn labelled(label: &str, indent: usize, value: &str, width: usize, text: &mut String) {
    let mut lines = wrap(value, width.saturating_sub(indent).max(12)).into_iter();
    text.push_str(&format!("{label}{}\n", lines.next().unwrap_or_default()));
    for line in lines {
        text.push_str(&format!("{:indent$}{line}\n", ""));
    }
}

fn wrapped(line: &str, indent: usize, width: usize, text: &mut String) {
    for line in wrap(line, width.saturating_sub(indent).max(12)) {
        text.push_str(&format!("{:indent$}{line}\n", ""));
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
    fn a_last_cell_without_room_in_its_column_is_wrapped_below_the_line() {
        let style = |columns| {
            let prefs = ColorPrefs {
                no_color: true,
                ..ColorPrefs::default()
            };
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

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for columns in [24, 40, 80, 200] {
            let style = StreamStyle::decide(
                ColorPrefs {
                    no_color: true,
                    ..ColorPrefs::default()
                },
                true,
                columns,
            );
            for line in page().render(&style).lines() {
                assert!(line.width() <= columns, "{columns}: {line:?}");
            }
        }
    }
}
