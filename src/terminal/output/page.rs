//! The human form of a result, as blocks; rendering is pure: the same page for a terminal, a phone and a pipe.

use unicode_width::UnicodeWidthStr;

use super::json;
use super::look::{Look, Tone};
use super::table::{self, Cell};
use super::visible::visible;

#[derive(Debug)]
enum Block {
    /// The state first: a toned word, and what it is about.
    Heading {
        tone: Tone,
        state: String,
        about: String,
    },
    /// Label and value.
    Field(&'static str, String),
    Line(String),
    /// A line behind a toned label.
    Labelled(Tone, &'static str, String),
    /// A row of the table; in a pipe the columns named `terminal_only` are left out.
    Table {
        headers: Vec<&'static str>,
        rows: Vec<Vec<Cell>>,
        terminal_only: Vec<usize>,
    },
    /// A line of cells, each at least as wide as its number says; tab-separated in a pipe. For lines that come one
    /// after the other, where a table would have to wait for the last.
    Columns(Vec<(Cell, usize)>),
    /// A command to copy.
    Next(String),
    /// A JSON text: laid out for a person, one line in a pipe.
    Json(String),
}

/// A page of blocks.
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

    /// A field where there is something to show.
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

    pub(crate) fn line(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Line(text.into()))
    }

    pub(crate) fn labelled(
        &mut self,
        tone: Tone,
        label: &'static str,
        text: impl Into<String>,
    ) -> &mut Self {
        self.push(Block::Labelled(tone, label, text.into()))
    }

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

    pub(crate) fn columns(&mut self, cells: Vec<(Cell, usize)>) -> &mut Self {
        self.push(Block::Columns(cells))
    }

    pub(crate) fn next(&mut self, command: impl Into<String>) -> &mut Self {
        self.push(Block::Next(command.into()))
    }

    pub(crate) fn json(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Json(text.into()))
    }

    fn push(&mut self, block: Block) -> &mut Self {
        self.blocks.push(block);
        self
    }

    /// The text for a stream that looks like this.
    pub(crate) fn render(&self, look: &Look) -> String {
        let labels = self.blocks.iter().filter_map(|block| match block {
            Block::Field(label, _) => Some(label.len()),
            _ => None,
        });
        let label_width = labels.max().unwrap_or(0).max("next".len());
        let mut text = String::new();
        for block in &self.blocks {
            if look.terminal {
                render_for_terminal(block, label_width, look, &mut text);
            } else {
                render_for_pipe(block, look, &mut text);
            }
        }
        text
    }
}

fn render_for_terminal(block: &Block, label_width: usize, look: &Look, text: &mut String) {
    match block {
        Block::Heading { tone, state, about } => {
            let state = visible(state);
            let room = look.width.saturating_sub(state.width() + 2);
            let about = visible(about);
            text.push_str(&look.paint(*tone, &state));
            if about.width() <= room {
                text.push_str(&format!("  {}\n", look.paint(Tone::Strong, &about)));
            } else {
                text.push('\n');
                wrapped(&about, 2, look.width, text);
            }
        }
        Block::Field(label, value) => {
            let label = format!("  {label:label_width$}  ");
            labelled(
                &look.paint(Tone::Dim, &label),
                label.len(),
                &visible(value),
                look.width,
                text,
            );
        }
        Block::Next(command) => {
            let label = format!("  {:label_width$}  ", "next");
            // A command is broken as a shell continues it, so that it can be copied whole.
            let room = look.width.saturating_sub(label.len() + 2).max(12);
            let command = visible(command);
            let command = wrap_words(with_their_flags(words(&command), room), room).join(" \\\n");
            let indent = format!("\n{:width$}", "", width = label.len());
            let command = command.replace('\n', &indent);
            text.push_str(&format!("{}{command}\n", look.paint(Tone::Dim, &label)));
        }
        Block::Line(line) => {
            let words = line.trim_start_matches(' ');
            wrapped(&visible(words), line.len() - words.len(), look.width, text);
        }
        Block::Labelled(tone, label, line) => {
            let painted = look.paint(*tone, label);
            let indent = label.len() + 1;
            labelled(
                &format!("{painted} "),
                indent,
                &visible(line),
                look.width,
                text,
            );
        }
        Block::Json(raw) => text.push_str(&format!("{}\n", json::pretty(raw, 2))),
        Block::Columns(cells) => render_columns(cells, look, text),
        Block::Table { headers, rows, .. } => {
            if !rows.is_empty() {
                text.push_str(&table::lay_out(headers, rows, look));
                text.push('\n');
            }
        }
    }
}

/// Tab-separated, one line a block or row, nothing cut.
fn render_for_pipe(block: &Block, look: &Look, text: &mut String) {
    match block {
        Block::Heading { tone, state, about } => {
            text.push_str(&format!(
                "{}\t{}\n",
                look.paint(*tone, &visible(state)),
                visible(about)
            ));
        }
        Block::Field(label, value) => text.push_str(&format!("{label}\t{}\n", visible(value))),
        Block::Json(raw) => text.push_str(&format!("{}\n", json::compact(raw))),
        Block::Next(command) => text.push_str(&format!("next\t{}\n", visible(command))),
        Block::Columns(cells) => {
            let cells = cells
                .iter()
                .map(|(cell, _)| painted(cell, look, &visible(&cell.text)));
            text.push_str(&format!("{}\n", cells.collect::<Vec<_>>().join("\t")));
        }
        Block::Line(line) => text.push_str(&format!("{}\n", visible(line))),
        Block::Labelled(tone, label, line) => {
            text.push_str(&format!("{} {}\n", look.paint(*tone, label), visible(line)));
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
                    .map(|(_, cell)| painted(cell, look, &visible(&cell.text)))
                    .collect();
                text.push_str(&cells.join("\t"));
                text.push('\n');
            }
        }
    }
}

/// One line; what does not fit goes on below the last cell, or at the margin where that has no room.
fn render_columns(cells: &[(Cell, usize)], look: &Look, text: &mut String) {
    let Some(((last, _), before)) = cells.split_last() else {
        return;
    };
    let (mut start, mut width) = (String::new(), 0);
    for (cell, least) in before {
        let shown = cell.shown();
        let blanks = least.saturating_sub(shown.width()) + 1;
        width += shown.width() + blanks;
        start.push_str(&painted(cell, look, &shown));
        start.extend(std::iter::repeat_n(' ', blanks));
    }
    let shown = last.shown();
    if width + 12 <= look.width {
        for (place, line) in wrap(&shown, look.width - width).iter().enumerate() {
            let blanks = " ".repeat(width);
            let start = if place == 0 { &start } else { &blanks };
            text.push_str(&format!("{start}{}\n", painted(last, look, line)));
        }
    } else {
        let words = before.iter().map(|(cell, _)| cell.shown());
        let words: Vec<_> = words.chain([shown]).filter(|it| !it.is_empty()).collect();
        wrapped(&words.join(" "), 0, look.width, text);
    }
}

fn painted(cell: &Cell, look: &Look, text: &str) -> String {
    match cell.tone {
        Some(tone) => look.paint(tone, text),
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

/// Breaks at blanks; a word that is longer than a line stays whole, so that ids and commands can be copied.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    wrap_words(text.split(' '), width)
}

/// A command in the words of a shell: a blank in quotes is no place to break it.
fn words(command: &str) -> Vec<&str> {
    let (mut words, mut start) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in command.char_indices() {
        match c {
            ' ' if !quoted && !escaped => {
                words.push(&command[start..at]);
                start = at + 1;
            }
            '\'' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = c == '\\' && !quoted && !escaped;
    }
    words.push(&command[start..]);
    words
}

/// A flag and its value as one word where a line has room for both, so that they are read together.
fn with_their_flags(words: Vec<&str>, room: usize) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for word in words {
        match joined.last_mut() {
            Some(flag)
                if flag.starts_with('-')
                    && !flag.contains(' ')
                    && !word.starts_with('-')
                    && flag.width() + 1 + word.width() <= room =>
            {
                flag.push(' ');
                flag.push_str(word);
            }
            _ => joined.push(word.to_owned()),
        }
    }
    joined
}

fn wrap_words(words: impl IntoIterator<Item = impl AsRef<str>>, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words {
        let word = word.as_ref();
        let line = lines.last_mut().map_or(0, |line| line.width());
        if line > 0 && line + 1 + word.width() > width {
            lines.push(word.to_owned());
        } else if let Some(last) = lines.last_mut() {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::output::Wants;

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
        let look = Look::decide(Wants::default(), false, 0);
        assert_eq!(
            page().render(&look),
            "confirmed\tbk_1\nwhen\tTue 1 Dec 2026, 19:30 (+01:00)\nven_1\tCafé \\u{1b}[31m\nven_22\t寿司\nnext\tbookctl show bk_1\n"
        );
    }

    #[test]
    fn a_command_is_broken_between_the_words_of_a_shell_alone() {
        assert_eq!(
            words(r"bookctl continue 'bk 1' -F 'it'\''s a'=VALUE"),
            ["bookctl", "continue", "'bk 1'", "-F", r"'it'\''s a'=VALUE"]
        );
    }

    #[test]
    fn a_flag_and_its_value_stay_on_one_line_where_there_is_room() {
        let command = words("bookctl slots ven_1 --at TIME --yes --party 2");
        assert_eq!(
            with_their_flags(command.clone(), 9),
            [
                "bookctl",
                "slots",
                "ven_1",
                "--at TIME",
                "--yes",
                "--party 2"
            ]
        );
        assert_eq!(with_their_flags(command.clone(), 8), command);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for columns in [24, 40, 80, 200] {
            let look = Look::decide(
                Wants {
                    no_color: true,
                    ..Wants::default()
                },
                true,
                columns,
            );
            for line in page().render(&look).lines() {
                assert!(line.width() <= columns, "{columns}: {line:?}");
            }
        }
    }
}
