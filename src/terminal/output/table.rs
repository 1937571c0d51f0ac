//! Tables on a terminal, laid out to its width. A narrow terminal gets a list of records instead.
//!
//! comfy-table shares out the width, wraps and pads plain text; its lines are colored afterwards.
//! It lacks what is here: unbroken ids and times, columns that give way on a narrow terminal, and
//! records, because below 60 columns a wide row takes more lines than a record.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::style::{StreamStyle, Tone};
use super::visible::visible;
use super::wrap::{cut, wrap};

/// Below this width a list of records is easier to read than a table.
const NARROWEST_TABLE: usize = 60;
/// Longer words are broken if there is no room.
const LONGEST_WORD: usize = 20;
/// The width at which words are read with ease. Columns give way until the others have it.
const COMFORTABLE: usize = 20;
const GAP: usize = 2;
const RECORD_INDENT: usize = 4;
/// The cells of a row that follows each row and is not printed: it shows where columns begin and
/// rows end. No other cell has a control character: they are made visible.
const RULER: char = '\u{1f}';

/// Columns of times, which are never broken. Parentheses after a header name their clock.
const TIMES: &str = "when,received,started,created,last seen,next try,expires,sent";
/// A narrow terminal does without these columns, the first of them first, so that a row takes two
/// lines instead of five. A pipe and the JSON have all columns.
const GIVES_WAY: &str = "last seen,waiting for,booking id,venue id,slot,tags,sent to,event id,took,exit,group,provider,min";
/// A narrow terminal does without these only once no name can be cut any more.
const GIVES_WAY_LAST: &str = "party,address,venue";
/// Columns of which each row has one line: names and terms, of which the beginning is enough.
const CUT: &str = "guest,venue,name,address,card,cancellation";
/// The width of such a column at which names differ.
const RECOGNIZABLE: usize = 16;
const LEGIBLE: usize = 10;
const LEAST_CUT: usize = 7;
/// The district of an address stands at its end.
const WHOLE_ADDRESS: usize = 32;

fn is_in(headers: &str, header: &str) -> bool {
    headers.split(',').any(|it| it == header)
}

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(super) text: String,
    short: Option<String>,
    pub(super) tone: Option<Tone>,
}

impl Cell {
    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Cell { tone: Some(tone), ..Cell::from(text) }
    }

    /// Sets a shorter text for terminals. A pipe gets the full text.
    pub(crate) fn in_short(self, short: Option<String>) -> Self {
        Cell { short, ..self }
    }

    pub(crate) fn visible_text(&self) -> String {
        visible(self.short.as_ref().unwrap_or(&self.text)).into_owned()
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell { text: text.into(), short: None, tone: None }
    }
}

/// A column that is not empty.
struct Column {
    header: &'static str,
    cells: Vec<(String, Option<Tone>)>,
    widest: usize,
    /// The width of its longest word, or cell if cells are not broken, as ids and times.
    least: usize,
}

impl Column {
    fn measure(index: usize, header: &'static str, rows: &[Vec<Cell>]) -> Option<Self> {
        let cell = |row: &Vec<Cell>| row.get(index).map(|cell| (cell.visible_text(), cell.tone));
        let cells: Vec<_> = rows.iter().map(|row| cell(row).unwrap_or_default()).collect();
        let longest = cells.iter().map(|(text, _)| text.width()).max()?;
        if longest == 0 {
            return None;
        }
        let widest = longest.max(header.len());
        let is_whole = is_in(TIMES, header.split(" (").next().unwrap_or(header))
            || cells.iter().all(|(text, _)| !text.contains(' '));
        let words = cells.iter().flat_map(|(text, _)| text.split(' '));
        let longest_word = words.map(UnicodeWidthStr::width).max().unwrap_or(0);
        let least = if is_in(CUT, header) {
            widest.min(LEAST_CUT)
        } else if is_whole {
            widest
        } else {
            longest_word.min(LONGEST_WORD).max(header.len())
        };
        Some(Column { header, cells, widest, least })
    }

    fn comfortable(&self) -> usize {
        let most = match self.header {
            "address" => WHOLE_ADDRESS,
            header if is_in(CUT, header) => RECOGNIZABLE,
            _ => COMFORTABLE,
        };
        self.least.max(self.widest.min(most))
    }
}

fn columns_of(headers: &[&'static str], rows: &[Vec<Cell>]) -> Vec<Column> {
    let headers = headers.iter().enumerate();
    headers.filter_map(|(index, header)| Column::measure(index, header, rows)).collect()
}

/// The columns that have room. Others give way to them.
fn fitting(columns: &[Column], width: usize) -> Vec<&Column> {
    let mut displayed: Vec<&Column> = columns.iter().collect();
    for (headers, most) in [(GIVES_WAY, usize::MAX), (GIVES_WAY_LAST, LEGIBLE)] {
        for header in headers.split(',') {
            if together(&displayed, |it| it.least.max(it.comfortable().min(most))) > width {
                displayed.retain(|column| column.header != header);
            }
        }
    }
    displayed
}

/// The widths of columns: what is left beside the others is shared out among those that are cut.
fn widths(columns: &[&Column], width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = columns.iter().map(|column| column.widest).collect();
    let is_cut = |index: &usize| is_in(CUT, columns[*index].header);
    let (mut cut, others): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(is_cut);
    cut.sort_by_key(|index| widths[*index]);
    let taken: usize = others.iter().map(|index| widths[*index]).sum();
    let mut left = width.saturating_sub(taken + GAP * columns.len().saturating_sub(1));
    for (place, index) in cut.iter().enumerate() {
        let share = (left / (cut.len() - place)).max(columns[*index].least);
        widths[*index] = widths[*index].min(share);
        left = left.saturating_sub(widths[*index]);
    }
    widths
}

/// The rows of a menu, each on one line of at most `width` columns where they fit.
pub(crate) fn lines(headers: &[&'static str], rows: &[Vec<Cell>], width: usize) -> Vec<String> {
    let mut columns = columns_of(headers, rows);
    // What is not cut is not wrapped here either.
    for column in columns.iter_mut().filter(|column| !is_in(CUT, column.header)) {
        column.least = column.widest;
    }
    let displayed = fitting(&columns, width);
    let widths = widths(&displayed, width);
    let line = |row: usize| {
        let cells = displayed.iter().zip(&widths).map(|(column, width)| {
            let text = cut(&column.cells[row].0, *width);
            format!("{text}{:1$}", "", width.saturating_sub(text.width()))
        });
        cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    (0..rows.len()).map(line).collect()
}

pub(super) fn lay_out(headers: &[&'static str], rows: &[Vec<Cell>], style: &StreamStyle) -> String {
    let columns = columns_of(headers, rows);
    let displayed = fitting(&columns, style.width);
    // A list of names and values takes no more lines as a table.
    let is_narrow = style.width < NARROWEST_TABLE && columns.len() > 2;
    if is_narrow || together(&displayed, |column| column.least) > style.width {
        let records = (0..rows.len()).flat_map(|row| record(&columns, row, style));
        return records.collect::<Vec<_>>().join("\n");
    }
    table(&displayed, rows.len(), style)
}

/// The total width of columns, gaps included.
fn together(columns: &[&Column], width: impl Fn(&Column) -> usize) -> usize {
    let widths: usize = columns.iter().map(|column| width(column) + GAP).sum();
    widths.saturating_sub(GAP)
}

fn table(columns: &[&Column], rows: usize, style: &StreamStyle) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(style.width).unwrap_or(u16::MAX));
    table.set_header(columns.iter().map(|column| column.header));
    let ruler = || columns.iter().map(|_| RULER);
    table.add_row(ruler());
    let widths = widths(columns, style.width);
    let is_cut = |column: &Column| is_in(CUT, column.header);
    for row in 0..rows {
        let cells = columns.iter().zip(&widths).map(|(column, width)| {
            let width = if is_cut(column) { *width } else { usize::MAX };
            cut(&column.cells[row].0, width)
        });
        table.add_row(cells);
        table.add_row(ruler());
    }
    for (index, (column, laid_out)) in columns.iter().zip(table.column_iter_mut()).enumerate() {
        let gap = if index + 1 < columns.len() { GAP } else { 0 };
        laid_out.set_padding((0, u16::try_from(gap).unwrap_or_default()));
        laid_out.set_constraint(if column.least == column.widest || is_cut(column) {
            ColumnConstraint::ContentWidth
        } else {
            let least = u16::try_from(column.least + gap).unwrap_or(u16::MAX);
            ColumnConstraint::LowerBoundary(Width::Fixed(least))
        });
    }
    let lines: Vec<String> = table.lines().collect();
    let ruler = lines.iter().find(|line| line.contains(RULER)).map_or("", String::as_str);
    let starts: Vec<usize> =
        ruler.match_indices(RULER).map(|(at, _)| ruler[..at].width()).collect();
    let mut colored = Vec::new();
    for (part, lines) in lines.split(|line| line.contains(RULER)).enumerate() {
        let tone = |column: &&Column| match part.checked_sub(1) {
            Some(row) => column.cells.get(row).and_then(|(_, tone)| *tone),
            None => Some(Tone::Dim),
        };
        let tones: Vec<_> = columns.iter().map(tone).collect();
        colored.extend(lines.iter().map(|line| color(line.trim_end(), &starts, &tones, style)));
    }
    colored.join("\n")
}

/// The line with each column in its tone. `starts` are the places at which columns begin.
fn color(line: &str, starts: &[usize], tones: &[Option<Tone>], style: &StreamStyle) -> String {
    let mut cells = vec![String::new(); starts.len()];
    let mut place = 0;
    for character in line.graphemes(true) {
        let column = starts.iter().rposition(|start| *start <= place).unwrap_or(0);
        cells[column].push_str(character);
        place += character.width();
    }
    let tinted = cells.iter().zip(tones).map(|(cell, tone)| {
        let text = cell.trim_end();
        let blanks = cell.len() - text.len();
        format!("{}{:blanks$}", style.paint(*tone, text), "")
    });
    tinted.collect()
}

/// The lines of a row: its number and id, and below them each other cell after its header.
fn record(columns: &[Column], row: usize, style: &StreamStyle) -> Vec<String> {
    // `@1` and the id name a row. Without row numbers, the first cell does.
    let naming = 1 + usize::from(columns.first().is_some_and(|first| first.header.is_empty()));
    let (naming, others) = columns.split_at(naming.min(columns.len()));
    let names: Vec<&str> = naming.iter().map(|it| it.cells[row].0.as_str()).collect();
    let names = wrap(&names.join("  "), style.width).into_iter();
    let mut lines: Vec<String> = names.map(|it| style.paint(Tone::Strong, &it)).collect();
    let room = style.width.saturating_sub(RECORD_INDENT).max(12);
    for column in others {
        let (text, tone) = &column.cells[row];
        if !text.is_empty() {
            let parts = wrap(&format!("{} {text}", column.header), room).into_iter();
            let parts =
                parts.map(|part| format!("{:RECORD_INDENT$}{}", "", style.paint(*tone, &part)));
            lines.extend(parts);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::output::ColorPrefs;
    use crate::terminal::output::style::ColorChoice;

    fn rows() -> Vec<Vec<Cell>> {
        let row = |number: &str, id: &str, name: &str| {
            vec![
                Cell::from(number),
                Cell::from(id),
                Cell::toned("requires_action", Tone::Warn),
                Cell::from(""),
                Cell::from(name).in_short(Some(format!("{name} in short"))),
            ]
        };
        vec![row("@1", "ven_1", "寿司 and something longer"), row("@2", "ven_22", "x")]
    }

    const HEADERS: [&str; 5] = ["", "venue", "status", "empty", "name"];

    #[test]
    fn names_and_addresses_are_cut_so_that_a_row_takes_one_line() {
        let headers = ["id", "name", "address", "provider"];
        let row = [
            "ven_1",
            "The Harbourmaster's Table",
            "5 Greenwich Church Street, Greenwich, SE10",
            "provider_a",
        ];
        let rows = vec![row.iter().map(|cell| Cell::from(*cell)).collect::<Vec<_>>()];
        let at = |columns| {
            let style = StreamStyle::decide(ColorPrefs::default(), true, columns);
            lay_out(&headers, &rows, &style)
        };
        for (columns, address, provider) in [
            (60, "5 Greenwich Church Str", false),
            (80, "5 Greenwich Church Street, Gree", true),
            (120, "SE10", true),
        ] {
            let text = at(columns);
            assert_eq!(text.lines().count(), 2, "{columns}\n{text}");
            assert!(text.contains(address), "{columns}\n{text}");
            assert_eq!(text.contains("provider_a"), provider, "{columns}\n{text}");
        }
    }

    #[test]
    fn color_changes_no_column_and_an_empty_column_takes_none() {
        let prefs = |color| ColorPrefs { color, ..ColorPrefs::default() };
        for columns in [30, 40, 60, 80, 200] {
            let plain = lay_out(
                &HEADERS,
                &rows(),
                &StreamStyle::decide(prefs(ColorChoice::Never), true, columns),
            );
            let colored = lay_out(
                &HEADERS,
                &rows(),
                &StreamStyle::decide(prefs(ColorChoice::Always), true, columns),
            );
            let bare = console::strip_ansi_codes(&colored);
            let trimmed: Vec<&str> = bare.lines().map(str::trim_end).collect();
            assert_eq!(trimmed.join("\n"), plain, "{columns}");
            assert!(colored.contains('\u{1b}'), "{columns}\n{plain}");
            assert!(!plain.contains("empty"), "{columns}\n{plain}");
            for line in plain.lines() {
                assert!(line.width() <= columns, "{columns}: {line:?}");
            }
            assert!(plain.contains("ven_22"), "{columns}\n{plain}");
            assert!(plain.contains("requires_action"), "{columns}\n{plain}");
            assert!(plain.contains("in short") || columns < 60, "{columns}\n{plain}");
        }
    }
}
