//! A list from the sandbox's control endpoints, as a table of selected fields.

use jiff::Timestamp;
use serde_json::Value;

use crate::app::Context;
use crate::json::{Document, plain};
use crate::model::time_text::{human, to_the_second};
use crate::outcome::{Exit, Result};
use crate::terminal::output::{Page, TableCell, View};

/// A column: its heading and its field, or several with `|` between them, of which an element has one.
pub(super) type Column = (&'static str, &'static str);

/// The array `field` of a document; each element is a row.
pub(super) struct Listing {
    pub(super) document: Document,
    pub(super) field: &'static str,
    /// Whether the document has the oldest element first. The table has the newest first.
    pub(super) is_oldest_first: bool,
    pub(super) columns: &'static [Column],
}

impl Listing {
    /// Writes the list, or `none` for a person if it is empty.
    pub(super) fn emit(&self, context: &Context, none: &str) -> Result<Exit> {
        let is_empty = self.rows().next().is_none();
        context.out.emit_list(self, is_empty, none)?;
        Ok(Exit::Done)
    }

    fn rows(&self) -> impl Iterator<Item = &Value> {
        self.document
            .value()
            .get(self.field)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    }
}

impl View for Listing {
    fn json(&self) -> Document {
        self.document.clone()
    }

    fn page(&self) -> Page {
        let cells = |element: &Value| {
            let columns = self.columns.iter();
            columns
                .map(|(heading, field)| {
                    let value = field.split('|').find_map(|it| element.get(it));
                    let text = value.and_then(Value::as_str);
                    let short = text.filter(|_| *heading == "sent").and_then(in_short);
                    TableCell::from(cell(field, value)).in_short(short)
                })
                .collect()
        };
        let mut page = Page::default();
        let mut rows: Vec<_> = self.rows().map(cells).collect();
        if self.is_oldest_first {
            rows.reverse();
        }
        let headings = self.columns.iter().map(|(heading, _)| *heading);
        page.table(headings.collect(), rows, vec![]);
        page
    }
}

/// A time beside a text, which needs the room of a terminal.
fn in_short(at: &str) -> Option<String> {
    let at: Timestamp = at.parse().ok()?;
    Some(at.strftime("%-d %b %T").to_string())
}

fn cell(field: &str, value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::Array(elements)) if elements.iter().all(|element| !element.is_object()) => {
            elements.iter().map(plain).collect::<Vec<_>>().join(", ")
        }
        // The number of elements, such as attempts. The JSON form has all of them.
        Some(Value::Array(elements)) => elements.len().to_string(),
        Some(Value::String(text)) if field.ends_with("_at") => to_the_second(text),
        Some(Value::String(text)) if field == "datetime" => human(text),
        Some(value) => plain(value),
    }
}
