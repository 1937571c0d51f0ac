//! A table on a terminal: laid out to its width, nothing cut, and a list of records where it is too narrow.

use comfy_table::{Attribute, Color, ColumnConstraint, ContentArrangement, Table, presets};

use unicode_width::UnicodeWidthStr;

use super::look::{Look, Tone};
use super::page::wrap;
use super::visible::visible;

/// Below this many columns a table is no overview any more.
const NARROWEST_TABLE: usize = 60;
/// A column of words is not made narrower than this.
const NARROWEST_WORDS: usize = 10;
/// What a narrower terminal does without, in this order; a pipe and the JSON have everything.
const GIVE_WAY: [&str; 3] = ["tags", "provider", "address"];
/// Blanks between two columns.
const GAP: usize = 2;

/// A cell: its text, how it is said in fewer words on a terminal, and what its colour says.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(super) text: String,
    short: Option<String>,
    pub(super) tone: Option<Tone>,
}

impl Cell {
    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Cell {
            tone: Some(tone),
            ..Cell::from(text)
        }
    }

    /// The same, in fewer words where a person looks at a table; a pipe gets the text.
    pub(crate) fn in_short(self, short: Option<String>) -> Self {
        Cell { short, ..self }
    }

    fn shown(&self) -> String {
        visible(self.short.as_ref().unwrap_or(&self.text)).into_owned()
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell {
            text: text.into(),
            short: None,
            tone: None,
        }
    }
}

/// One column that has something to show.
struct Column {
    header: &'static str,
    cells: Vec<(String, Option<Tone>)>,
    /// Its widest cell.
    width: usize,
    /// Whether it holds ids and single words, which are never broken.
    whole: bool,
}

/// The text of a table on a terminal.
pub(super) fn lay_out(headers: &[&'static str], rows: &[Vec<Cell>], look: &Look) -> String {
    let mut columns: Vec<Column> = headers
        .iter()
        .enumerate()
        .filter_map(|(index, header)| column(index, header, rows))
        .collect();
    if look.width < NARROWEST_TABLE {
        return records(&columns, rows.len(), look);
    }
    for heading in GIVE_WAY {
        if least(&columns) > look.width {
            columns.retain(|column| column.header != heading);
        }
    }
    if least(&columns) > look.width {
        records(&columns, rows.len(), look)
    } else {
        table(&columns, rows.len(), look)
    }
}

/// The width below which a table of these columns would break its ids.
fn least(columns: &[Column]) -> usize {
    let widths = columns.iter().map(|column| match column.whole {
        true => column.width,
        false => column.width.min(NARROWEST_WORDS),
    });
    widths.map(|width| width + GAP).sum()
}

fn column(index: usize, header: &'static str, rows: &[Vec<Cell>]) -> Option<Column> {
    let cells: Vec<(String, Option<Tone>)> = rows
        .iter()
        .map(|row| {
            row.get(index)
                .map(|cell| (cell.shown(), cell.tone))
                .unwrap_or_default()
        })
        .collect();
    let widest = cells.iter().map(|(text, _)| text.width()).max()?;
    let whole = cells.iter().all(|(text, _)| !text.contains(' '));
    (widest > 0).then(|| Column {
        header,
        cells,
        width: widest.max(header.len()),
        whole,
    })
}

fn table(columns: &[Column], rows: usize, look: &Look) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .force_no_tty()
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(look.width).unwrap_or(u16::MAX));
    if look.colour {
        table.enforce_styling();
    }
    table.set_header(
        columns
            .iter()
            .map(|column| styled(column.header, Some(Tone::Dim))),
    );
    for row in 0..rows {
        let cells = columns.iter().filter_map(|column| column.cells.get(row));
        table.add_row(cells.map(|(text, tone)| styled(text, *tone)));
    }
    for (column, laid_out) in columns.iter().zip(table.column_iter_mut()) {
        laid_out.set_padding((0, u16::try_from(GAP).unwrap_or_default()));
        if column.whole {
            laid_out.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table.trim_fmt()
}

/// Styled by the table's own hand: an escape sequence of ours would count as columns.
fn styled(text: &str, tone: Option<Tone>) -> comfy_table::Cell {
    let cell = comfy_table::Cell::new(text);
    match tone {
        None => cell,
        Some(Tone::Good) => cell.fg(Color::Green).add_attribute(Attribute::Bold),
        Some(Tone::Warn) => cell.fg(Color::Yellow).add_attribute(Attribute::Bold),
        Some(Tone::Bad) => cell.fg(Color::Red).add_attribute(Attribute::Bold),
        Some(Tone::Dim) => cell.add_attribute(Attribute::Dim),
        Some(Tone::Strong) => cell.add_attribute(Attribute::Bold),
    }
}

/// A row as a record: what names it in a line, the other cells below, each with its heading.
fn records(columns: &[Column], rows: usize, look: &Look) -> String {
    // `@1` and the id behind it name a row; without row numbers the first cell does.
    let naming = 1 + usize::from(columns.first().is_some_and(|first| first.header.is_empty()));
    let (naming, others) = columns.split_at(naming.min(columns.len()));
    let label = others
        .iter()
        .map(|column| column.header.len())
        .max()
        .unwrap_or(0);
    let mut lines = Vec::new();
    for row in 0..rows {
        let names = naming.iter().filter_map(|column| column.cells.get(row));
        let names: Vec<&str> = names.map(|(text, _)| text.as_str()).collect();
        lines.push(look.paint(Tone::Strong, &names.join("  ")));
        for column in others {
            let Some((text, tone)) = column.cells.get(row) else {
                continue;
            };
            if text.is_empty() {
                continue;
            }
            let heading = format!("  {:label$}  ", column.header);
            let room = look.width.saturating_sub(heading.len()).max(12);
            for (part, text) in wrap(text, room).into_iter().enumerate() {
                let text = tone.map_or(text.clone(), |tone| look.paint(tone, &text));
                lines.push(match part {
                    0 => format!("{}{text}", look.paint(Tone::Dim, &heading)),
                    _ => format!("{:indent$}{text}", "", indent = heading.len()),
                });
            }
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Wants;
    use crate::output::look::ColorChoice;

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
        vec![
            row("@1", "ven_1", "寿司 and something longer"),
            row("@2", "ven_22", "x"),
        ]
    }

    const HEADERS: [&str; 5] = ["", "venue", "status", "empty", "name"];

    #[test]
    fn colour_changes_no_column_and_an_empty_column_takes_none() {
        let wants = |color| Wants {
            color,
            ..Wants::default()
        };
        for columns in [30, 40, 60, 80, 200] {
            let plain = lay_out(
                &HEADERS,
                &rows(),
                &Look::decide(wants(ColorChoice::Never), true, columns),
            );
            let coloured = lay_out(
                &HEADERS,
                &rows(),
                &Look::decide(wants(ColorChoice::Always), true, columns),
            );
            let bare = console::strip_ansi_codes(&coloured);
            let trimmed: Vec<&str> = bare.lines().map(str::trim_end).collect();
            assert_eq!(trimmed.join("\n"), plain, "{columns}");
            assert!(
                coloured.contains('\u{1b}') && !plain.contains("empty"),
                "{columns}\n{plain}"
            );
            for line in plain.lines() {
                assert!(line.width() <= columns, "{columns}: {line:?}");
            }
            assert!(
                plain.contains("ven_22") && plain.contains("requires_action"),
                "{columns}\n{plain}"
            );
            assert!(
                plain.contains("in short") || columns < 60,
                "{columns}\n{plain}"
            );
        }
    }
}
