//! The rows of a table as records, for a terminal that is too narrow for its columns.

use unicode_width::UnicodeWidthStr;

use super::style::{StreamStyle, Tone};
use super::wrap::wrap;

/// Columns whose cells say what they are. Any other cell follows its header: `party 2`.
const SELF_EXPLANATORY: [&str; 9] = [
    "address", "guest", "meaning", "name", "status", "summary", "text", "venue", "when",
];
/// Between two cells of a record.
const SEPARATOR: &str = " · ";
const INDENT: usize = 4;

/// A column of a table.
pub(super) struct Field<'a> {
    pub(super) header: &'a str,
    /// A text and its colour in each row.
    pub(super) cells: &'a [(String, Option<Tone>)],
}

/// Lays out each row as a record: its number, id and status on the first line, and the other cells below, as many on a
/// line as have room.
pub(super) fn records(columns: &[Field<'_>], rows: usize, style: &StreamStyle) -> String {
    // `@1` and the id name a row. Without row numbers, the first cell does.
    let naming = 1 + usize::from(columns.first().is_some_and(|first| first.header.is_empty()));
    let (naming, others) = columns.split_at(naming.min(columns.len()));
    let (status, others) = match others.split_first() {
        Some((status, others)) if status.header == "status" => (Some(status), others),
        _ => (None, others),
    };
    let mut lines = Vec::new();
    for row in 0..rows {
        let names = naming.iter().filter_map(|column| column.cells.get(row));
        let names: Vec<&str> = names.map(|(text, _)| text.as_str()).collect();
        let mut first = style.paint(Tone::Strong, &names.join("  "));
        if let Some((text, tone)) = status.and_then(|status| status.cells.get(row)) {
            first.push_str("  ");
            first.push_str(&painted(text, *tone, style));
        }
        lines.push(first);
        lines.extend(below(others, row, style));
    }
    lines.join("\n")
}

/// The lines of a record below its first one.
fn below(columns: &[Field<'_>], row: usize, style: &StreamStyle) -> Vec<String> {
    let room = style.width.saturating_sub(INDENT).max(12);
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0);
    for column in columns {
        let Some((text, tone)) = column.cells.get(row).filter(|(text, _)| !text.is_empty()) else {
            continue;
        };
        let label = if SELF_EXPLANATORY.contains(&column.header) {
            String::new()
        } else {
            format!("{} ", column.header)
        };
        let width = label.width() + text.width();
        if used > 0 && used + SEPARATOR.width() + width > room {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if width > room {
            let parts = wrap(&format!("{label}{text}"), room);
            lines.extend(parts.iter().map(|part| painted(part, *tone, style)));
            continue;
        }
        if used > 0 {
            line.push_str(SEPARATOR);
            used += SEPARATOR.width();
        }
        if !label.is_empty() {
            line.push_str(&style.paint(Tone::Dim, &label));
        }
        line.push_str(&painted(text, *tone, style));
        used += width;
    }
    lines.push(line);
    lines.retain(|line| !line.is_empty());
    lines
        .iter()
        .map(|line| format!("{:INDENT$}{line}", ""))
        .collect()
}

fn painted(text: &str, tone: Option<Tone>, style: &StreamStyle) -> String {
    tone.map_or_else(|| text.to_owned(), |tone| style.paint(tone, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::output::ColorPrefs;

    #[test]
    fn a_record_has_its_status_on_the_first_line_and_as_many_cells_on_a_line_as_have_room() {
        let cells = [
            ("", "@4"),
            ("id", "bk_38g23bs46pvcp"),
            ("status", "requires_action"),
            ("venue", "The Harbourmaster's Table"),
            ("when", "Fri 27 Nov 2026, 19:30"),
            ("guest", "José Núñez"),
            ("party", "2"),
            ("last seen", "just now"),
        ];
        let cells = cells.map(|(header, text)| (header, vec![(text.to_owned(), None)]));
        let fields = cells
            .each_ref()
            .map(|(header, cells)| Field { header, cells });
        let at = |columns| {
            let style = StreamStyle::decide(ColorPrefs::default(), true, columns);
            console::strip_ansi_codes(&records(&fields, 1, &style)).into_owned()
        };
        assert_eq!(
            at(80),
            "@4  bk_38g23bs46pvcp  requires_action\n    \
             The Harbourmaster's Table · Fri 27 Nov 2026, 19:30 · José Núñez · party 2\n    \
             last seen just now"
        );
        assert_eq!(
            at(50),
            "@4  bk_38g23bs46pvcp  requires_action\n    \
             The Harbourmaster's Table\n    \
             Fri 27 Nov 2026, 19:30 · José Núñez · party 2\n    \
             last seen just now"
        );
        assert_eq!(
            at(24),
            "@4  bk_38g23bs46pvcp  requires_action\n    \
             The Harbourmaster's\n    Table\n    \
             Fri 27 Nov 2026,\n    19:30\n    \
             José Núñez · party 2\n    \
             last seen just now"
        );
    }
}
