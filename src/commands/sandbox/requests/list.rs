//! Requests as lines.

use serde_json::Value;

use crate::json::Document;
use crate::model::zone::system_zone;
use crate::terminal::output::{Page, TableCell, Tone, View};

/// The widths of the columns of `--follow`, so that a line fits into 80 columns, with what is said of it below.
const TIME: usize = 8;
const METHOD: usize = 6;
const PATH: usize = 38;

/// The list, newest first.
pub(super) struct List(pub(super) Document);

impl List {
    pub(super) fn rows(&self) -> impl Iterator<Item = &Value> {
        let requests = self.0.value().get("requests").and_then(Value::as_array);
        requests.into_iter().flatten()
    }
}

impl View for List {
    fn json(&self) -> Document {
        self.0.clone()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let rows = self.rows().enumerate().map(|(row, request)| {
            let cells = columns(request).into_iter().map(|(cell, _)| cell);
            std::iter::once(format!("@{}", row + 1).into())
                .chain(cells)
                .chain([said(request).into()])
                .collect()
        });
        let headings = vec!["", "at", "status", "method", "path", "took", "reason"];
        page.table(headings, rows.collect(), vec![]);
        page
    }
}

/// One of them, as it comes.
pub(super) struct Line(pub(super) Document);

impl View for Line {
    fn json(&self) -> Document {
        self.0.clone()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let mut cells = columns(self.0.value());
        cells.push((said(self.0.value()).into(), 0));
        page.columns(cells);
        page
    }
}

/// Why a request was refused or what it met, and what the service ignored.
fn said(request: &Value) -> String {
    let text = |field: &str| request.get(field).and_then(Value::as_str);
    let why = match (text("fault"), text("reason")) {
        (Some(fault), reason) => Some(format!("fault {fault}: {}", reason.unwrap_or_default())),
        (None, reason) => reason.map(str::to_owned),
    };
    let notes = request.get("notes").and_then(Value::as_array);
    let notes = notes.into_iter().flatten().filter_map(Value::as_str);
    let notes = notes.map(|it| format!("note: {it}"));
    why.into_iter().chain(notes).collect::<Vec<_>>().join(" ")
}

/// Time, status, request and duration.
fn columns(request: &Value) -> Vec<(TableCell, usize)> {
    let text = |field: &str| request.get(field).and_then(Value::as_str);
    let status = request.get("status").and_then(Value::as_u64);
    let shown = match status {
        None | Some(0) => "---".to_owned(),
        Some(status) => status.to_string(),
    };
    let took = request.get("duration_ms").and_then(Value::as_f64);
    vec![
        (time(text("at").unwrap_or_default()).into(), TIME),
        (TableCell::toned(shown, tone(status)), 3),
        (text("method").unwrap_or_default().into(), METHOD),
        (text("path").unwrap_or_default().into(), PATH),
        (format!("{:.1} ms", took.unwrap_or_default()).into(), 6),
    ]
}

/// The time of day of an RFC 3339 time, in this computer's zone.
pub(super) fn time(at: &str) -> String {
    match at.parse::<jiff::Timestamp>() {
        Ok(at) => at.to_zoned(system_zone()).strftime("%H:%M:%S").to_string(),
        Err(_) => at.to_owned(),
    }
}

pub(super) fn tone(status: Option<u64>) -> Tone {
    match status {
        Some(200..=299) => Tone::Good,
        Some(300..=499) => Tone::Warn,
        _ => Tone::Bad,
    }
}
