//! Tables on a terminal, laid out to its width. A narrow terminal gets a list of records instead.
//!
//! comfy-table wraps and pads. Its own colours would be written to the console of Windows, so cells come coloured, and it
//! counts no escape sequence (`custom_styling`). What it does not have is here: the width of each column, so that ids and times are
//! never broken and one long name does not take the room of all others; the columns that give way on a narrow terminal;
//! and records, because below 60 columns a row of six columns takes more lines than a record.

use std::borrow::Cow;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::records::{Field, records};
use super::style::{StreamStyle, Tone};
use super::visible::visible;
use super::wrap::wrap;

/// Below this width a list of records is easier to read than a table.
const NARROWEST_TABLE: usize = 60;
/// Longer words are broken if there is no room.
const LONGEST_WORD: usize = 20;
/// The widest that a column of words is at first.
const WIDEST_OF_TWO_LINES: usize = 32;
/// Columns of times, which are never broken.
const TIMES: [&str; 8] = [
    "when",
    "received",
    "started",
    "created",
    "last seen",
    "next try",
    "expires",
    "sent",
];
/// Columns of names, which have one line: a longer name is cut where there is no room. A pipe and the JSON have all of it.
const NAMES: [&str; 1] = ["guest"];

/// Whether the cells below this header are times. What stands in parentheses names their clock.
fn holds_times(header: &str) -> bool {
    let name = header.split(" (").next().unwrap_or(header);
    TIMES.contains(&name)
}

/// The width that a name has at least.
const LEAST_NAME: usize = 12;
/// The width that a name has before another column gives way to it.
const USUAL_NAME: usize = 20;
/// Columns that a narrow terminal leaves out, in this order, so that a row takes two lines instead of five. A pipe
/// and the JSON have all columns.
const GIVE_WAY: [&str; 13] = [
    "booking id",
    "sent to",
    "tags",
    "last seen",
    "waiting for",
    "group",
    "provider",
    "min",
    "address",
    "party",
    "exit",
    "took",
    "event id",
];
/// Blanks between two columns.
const GAP: usize = 2;

/// A table cell: its text, an optional shorter text for terminals, and its colour.
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

    /// Sets a shorter text for terminals. A pipe gets the full text.
    pub(crate) fn in_short(self, short: Option<String>) -> Self {
        Cell { short, ..self }
    }

    pub(super) fn shown(&self) -> String {
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

/// A column that is not empty.
struct Column {
    /// Its index among all columns.
    index: usize,
    header: &'static str,
    cells: Vec<(String, Option<Tone>)>,
    /// The width at which no cell takes more than two lines. Ids and single words are never broken.
    two_lines: usize,
    /// The width of its longest word, or of the longest cell if cells are never broken.
    least: usize,
    /// The width of its longest cell.
    widest: usize,
}

impl Column {
    /// A cell as this column shows it at that width.
    fn fitted<'a>(&self, text: &'a str, width: usize) -> Cow<'a, str> {
        match NAMES.contains(&self.header) {
            true => cut(text, width),
            false => Cow::Borrowed(text),
        }
    }
}

/// A text in at most `width` columns; `…` stands for what is cut off. A letter is never parted from its marks, nor an emoji.
pub(crate) fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let mut kept = "";
    for (start, cluster) in text.grapheme_indices(true) {
        let longer = &text[..start + cluster.len()];
        if longer.width() + 1 > width {
            break;
        }
        kept = longer;
    }
    Cow::Owned(format!("{}…", kept.trim_end()))
}

pub(super) fn lay_out(headers: &[&'static str], rows: &[Vec<Cell>], style: &StreamStyle) -> String {
    let columns: Vec<Column> = headers
        .iter()
        .enumerate()
        .filter_map(|(index, header)| column(index, header, rows))
        .collect();
    // A list of names and values takes no more lines as a table.
    if style.width < NARROWEST_TABLE && columns.len() > 2 {
        return records(&fields(&columns), rows.len(), style);
    }
    let left_out = left_out(&columns, style.width);
    let (columns, others): (Vec<Column>, Vec<Column>) = columns
        .into_iter()
        .partition(|column| !left_out.contains(&column.header));
    if together(&columns, |column| column.least) <= style.width {
        return table(&columns, rows.len(), style);
    }
    let mut columns: Vec<Column> = columns.into_iter().chain(others).collect();
    columns.sort_by_key(|column| column.index);
    records(&fields(&columns), rows.len(), style)
}

fn fields(columns: &[Column]) -> Vec<Field<'_>> {
    let fields = columns.iter().map(|column| Field {
        header: column.header,
        cells: &column.cells,
    });
    fields.collect()
}

/// The headers of the columns to leave out so that the others fit into `width`; as few as possible.
fn left_out(columns: &[Column], width: usize) -> Vec<&'static str> {
    let fits = |left_out: &[&str]| {
        let shown = columns
            .iter()
            .filter(|column| !left_out.contains(&column.header));
        together(shown, |column| column.two_lines) <= width
    };
    let mut left_out = Vec::new();
    for heading in GIVE_WAY {
        if fits(&left_out) {
            break;
        }
        left_out.push(heading);
    }
    // A column that was left out early may fit after all.
    for heading in GIVE_WAY.iter().rev() {
        let without: Vec<_> = left_out
            .iter()
            .copied()
            .filter(|it| it != heading)
            .collect();
        if fits(&without) {
            left_out = without;
        }
    }
    left_out
}

/// The total width of columns, gaps included.
fn together<'a>(
    columns: impl IntoIterator<Item = &'a Column>,
    width: impl Fn(&Column) -> usize,
) -> usize {
    let widths: usize = columns.into_iter().map(|column| width(column) + GAP).sum();
    widths.saturating_sub(GAP)
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
    let width = widest.max(header.len());
    let texts = || cells.iter().map(|(text, _)| text.as_str());
    let (least, two_lines) = if NAMES.contains(&header) {
        (width.min(LEAST_NAME), width.min(USUAL_NAME))
    } else if holds_times(header) || texts().all(|text| !text.contains(' ')) {
        (width, width)
    } else {
        let words = texts().flat_map(|text| text.split(' ').map(UnicodeWidthStr::width));
        let least = words.max().unwrap_or(0).max(header.len());
        let least = least.min(LONGEST_WORD);
        let enough = |room: &usize| texts().all(|text| wrap(text, *room).len() <= 2);
        let two_lines = (least..=WIDEST_OF_TWO_LINES.min(width)).find(enough);
        (least, two_lines.unwrap_or(WIDEST_OF_TWO_LINES.min(width)))
    };
    (widest > 0).then_some(Column {
        index,
        header,
        cells,
        two_lines,
        least,
        widest: width,
    })
}

/// The width of each column. The narrowest grow first, so that the long ones share what is left.
fn shared_out(columns: &[Column], total: usize) -> Vec<usize> {
    let in_two_lines = together(columns, |column| column.two_lines) <= total;
    let at_first = columns.iter().map(|column| match in_two_lines {
        true => column.two_lines,
        false => column.least,
    });
    let mut widths: Vec<usize> = at_first.collect();
    let used = together(columns, |column| match in_two_lines {
        true => column.two_lines,
        false => column.least,
    });
    for _ in used..total {
        let growing = widths.iter_mut().zip(columns);
        let growing = growing.filter(|(width, column)| **width < column.widest);
        let Some((width, _)) = growing.min_by_key(|(width, _)| **width) else {
            break;
        };
        *width += 1;
    }
    widths
}

fn table(columns: &[Column], rows: usize, style: &StreamStyle) -> String {
    let widths = shared_out(columns, style.width);
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .force_no_tty()
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(style.width).unwrap_or(u16::MAX));
    let headers = columns.iter();
    table.set_header(headers.map(|column| style.paint(Tone::Dim, column.header)));
    for row in 0..rows {
        let cells = columns.iter().zip(&widths).filter_map(|(column, width)| {
            let (text, tone) = column.cells.get(row)?;
            let text = column.fitted(text, *width);
            Some(tone.map_or(text.to_string(), |tone| style.paint(tone, &text)))
        });
        table.add_row(cells);
    }
    for (index, (width, laid_out)) in widths.iter().zip(table.column_iter_mut()).enumerate() {
        let gap = if index + 1 < columns.len() { GAP } else { 0 };
        laid_out.set_padding((0, u16::try_from(gap).unwrap_or_default()));
        let width = u16::try_from(width + gap).unwrap_or(u16::MAX);
        laid_out.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
    }
    table.trim_fmt()
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
        vec![
            row("@1", "ven_1", "寿司 and something longer"),
            row("@2", "ven_22", "x"),
        ]
    }

    const HEADERS: [&str; 5] = ["", "venue", "status", "empty", "name"];

    #[test]
    fn a_narrow_terminal_does_without_a_column_before_a_row_takes_more_than_two_lines() {
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
        assert_eq!(at(120).lines().count(), 2, "{}", at(120));
        for (columns, provider) in [(60, false), (64, true), (80, true)] {
            let text = at(columns);
            assert_eq!(text.lines().count(), 3, "{columns}\n{text}");
            assert!(text.contains("SE10"), "{columns}\n{text}");
            assert_eq!(text.contains("provider_a"), provider, "{columns}\n{text}");
        }
    }

    #[test]
    fn a_name_is_cut_between_whole_letters_and_whole_emoji() {
        for (text, width, shown) in [
            ("Ada Lovelace", 12, "Ada Lovelace"),
            ("Ada Lovelace", 11, "Ada Lovela…"),
            ("Ada Lovelace", 5, "Ada…"),
            ("寿司寿司", 6, "寿司…"),
            (
                "👨\u{200d}👩\u{200d}👧 Smith",
                7,
                "👨\u{200d}👩\u{200d}👧 Smi…",
            ),
            ("👨\u{200d}👩\u{200d}👧 Smith", 2, "…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ] {
            let cut = cut(text, width);
            assert_eq!(cut, shown);
            assert!(cut.width() <= width, "{cut}");
        }
    }

    #[test]
    fn one_long_name_takes_no_room_of_a_time_and_a_time_is_never_broken() {
        let headers = ["id", "status", "venue", "when", "guest", "party"];
        let row = |guest: &str| {
            let cells = [
                "bk_0001_long_id",
                "confirmed",
                "The Corner Table",
                "Tue 1 Dec 2026, 20:00",
                guest,
                "2",
            ];
            cells.map(Cell::from).to_vec()
        };
        let long = "عبد الرحمن بن محمد بن عبد العزيز آل سعود الكبير القرشي";
        let mut rows = vec![row("Ada Lovelace"); 99];
        rows.push(row(long));
        for columns in [80, 100, 120, 200] {
            let style = StreamStyle::decide(ColorPrefs::default(), true, columns);
            let text = lay_out(&headers, &rows, &style);
            let text = console::strip_ansi_codes(&text);
            assert_eq!(
                text.matches("Tue 1 Dec 2026, 20:00").count(),
                100,
                "{columns}\n{text}"
            );
            assert_eq!(
                text.matches("Ada Lovelace").count(),
                99,
                "{columns}\n{text}"
            );
            assert_eq!(text.contains('…'), columns < 200, "{columns}\n{text}");
            assert!(text.lines().all(|line| line.width() <= columns), "{text}");
        }
    }

    #[test]
    fn colour_changes_no_column_and_an_empty_column_takes_none() {
        let prefs = |color| ColorPrefs {
            color,
            ..ColorPrefs::default()
        };
        for columns in [30, 40, 60, 80, 200] {
            let plain = lay_out(
                &HEADERS,
                &rows(),
                &StreamStyle::decide(prefs(ColorChoice::Never), true, columns),
            );
            let coloured = lay_out(
                &HEADERS,
                &rows(),
                &StreamStyle::decide(prefs(ColorChoice::Always), true, columns),
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
