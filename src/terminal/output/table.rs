//! Tables on a terminal, laid out to its width. A narrow terminal gets a list of records instead.
//!
//! comfy-table shares out the width, wraps and pads. Its own colours would be written to the console of Windows, so cells
//! come coloured, and it counts no escape sequence (`custom_styling`). What it does not have is here: ids and times that are never
//! broken, the columns that give way on a narrow terminal, and records, because below 60 columns a row of six columns
//! takes more lines than a record.

use std::borrow::Cow;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::records::{Field, records};
use super::style::{StreamStyle, Tone};
use super::visible::visible;

/// Below this width a list of records is easier to read than a table.
const NARROWEST_TABLE: usize = 60;
/// Longer words are broken if there is no room.
const LONGEST_WORD: usize = 20;
/// The width at which words are read with ease. Columns give way until the others have it.
const COMFORTABLE: usize = 20;
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
/// Whether the cells below this header are times. What stands in parentheses names their clock.
fn holds_times(header: &str) -> bool {
    let name = header.split(" (").next().unwrap_or(header);
    TIMES.contains(&name)
}

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
    header: &'static str,
    cells: Vec<(String, Option<Tone>)>,
    /// The width of its longest cell.
    widest: usize,
    /// The width of its longest word; of its longest cell if cells are never broken, as ids, times and single words.
    least: usize,
}

impl Column {
    fn comfortable(&self) -> usize {
        self.least.max(self.widest.min(COMFORTABLE))
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
    let mut shown: Vec<&Column> = columns.iter().collect();
    for header in GIVE_WAY {
        if together(&shown, Column::comfortable) > style.width {
            shown.retain(|column| column.header != header);
        }
    }
    // A list of names and values takes no more lines as a table.
    let is_narrow = style.width < NARROWEST_TABLE && columns.len() > 2;
    if is_narrow || together(&shown, |column| column.least) > style.width {
        return records(&fields(&columns), rows.len(), style);
    }
    table(&shown, rows.len(), style)
}

fn fields(columns: &[Column]) -> Vec<Field<'_>> {
    let fields = columns.iter().map(|column| Field {
        header: column.header,
        cells: &column.cells,
    });
    fields.collect()
}

/// The total width of columns, gaps included.
fn together(columns: &[&Column], width: impl Fn(&Column) -> usize) -> usize {
    let widths: usize = columns.iter().map(|column| width(column) + GAP).sum();
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
    let longest = cells.iter().map(|(text, _)| text.width()).max()?;
    let widest = longest.max(header.len());
    let is_whole = holds_times(header) || cells.iter().all(|(text, _)| !text.contains(' '));
    let words = cells.iter().flat_map(|(text, _)| text.split(' '));
    let least = match words.map(UnicodeWidthStr::width).max() {
        Some(longest) if !is_whole => longest.min(LONGEST_WORD).max(header.len()),
        _ => widest,
    };
    (longest > 0).then_some(Column {
        header,
        cells,
        widest,
        least,
    })
}

fn table(columns: &[&Column], rows: usize, style: &StreamStyle) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .force_no_tty()
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(style.width).unwrap_or(u16::MAX));
    let headers = columns.iter();
    table.set_header(headers.map(|column| style.paint(Tone::Dim, column.header)));
    for row in 0..rows {
        let cells = columns.iter().filter_map(|column| {
            let (text, tone) = column.cells.get(row)?;
            Some(tone.map_or(text.clone(), |tone| style.paint(tone, text)))
        });
        table.add_row(cells);
    }
    for (index, (column, laid_out)) in columns.iter().zip(table.column_iter_mut()).enumerate() {
        let gap = if index + 1 < columns.len() { GAP } else { 0 };
        laid_out.set_padding((0, u16::try_from(gap).unwrap_or_default()));
        laid_out.set_constraint(if column.least == column.widest {
            ColumnConstraint::ContentWidth
        } else {
            let least = u16::try_from(column.least + gap).unwrap_or(u16::MAX);
            ColumnConstraint::LowerBoundary(Width::Fixed(least))
        });
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
        for (columns, provider) in [(60, false), (80, true)] {
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
