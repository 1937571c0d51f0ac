//! Reads the rows of a batch, JSON lines or CSV. All rows are checked before anything is sent.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::fields::booking;
use super::problem::{Place, Problem, unless_wrong};
use super::spreadsheet;
use super::unique_keys::UniqueKeys;
use crate::adapter::Adapter;
use crate::client::BookingRequest;
use crate::json::plain;
use crate::model::request::canonical;
use crate::outcome::{Error, Result};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BatchRow {
    /// Counted from 1, without blank lines and the header.
    pub(crate) number: usize,
    /// The request (spec, Booking: fields accepted when creating a booking).
    pub(crate) body: Value,
    pub(crate) idempotency_key: Option<String>,
}

impl BatchRow {
    pub(crate) fn guest(&self) -> String {
        let name = self.body.get("customer").and_then(|it| it.get("name"));
        name.map(plain).unwrap_or_default()
    }

    pub(crate) fn request(&self, adapter: &Adapter) -> Result<BookingRequest> {
        let asked = self.body.as_object().cloned().unwrap_or_default();
        BookingRequest::new(adapter, asked, &Map::new())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchFormat {
    JsonLines,
    Csv,
}

impl BatchFormat {
    /// Detects the format from the file's name, else from how the text begins. It has no byte order mark.
    pub(crate) fn of(name: &str, text: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let begins = text.trim_start();
        if name.ends_with(".csv") {
            BatchFormat::Csv
        } else if [".jsonl", ".ndjson", ".json"]
            .iter()
            .any(|end| name.ends_with(end))
            || begins.starts_with(['{', '['])
        {
            BatchFormat::JsonLines
        } else {
            BatchFormat::Csv
        }
    }
}

/// Parses every row of a text. `local_times` is whether times without an offset are the venue's own; the time of a slot may be
/// one anyway.
///
/// # Errors
///
/// `usage` (2) with everything that is wrong with any row, and if there is no row at all; nothing has been sent then.
pub(crate) fn read_rows(
    text: &str,
    format: BatchFormat,
    local_times: bool,
) -> Result<Vec<BatchRow>> {
    let (read, mut problems) = match format {
        BatchFormat::JsonLines => (json_lines(text)?, Vec::new()),
        BatchFormat::Csv => spreadsheet::read(text)?,
    };
    if read.is_empty() && problems.is_empty() {
        return Err(Error::usage("the batch has no rows; nothing was sent")
            .hint("check the file, or the command that writes it"));
    }
    let mut rows = Vec::new();
    for (place, fields) in read {
        let row = fields
            .map_err(|problem| vec![*problem])
            .and_then(|fields| booking(&fields, local_times));
        match row {
            Ok((body, idempotency_key)) => rows.push(BatchRow {
                number: place.row,
                body,
                idempotency_key,
            }),
            Err(wrong) => {
                // Each row lacks the columns that the header misspells.
                let told = wrong.into_iter().filter(|problem| {
                    problem.has_value() || !problems.iter().any(Problem::is_of_header)
                });
                let told: Vec<_> = told.map(|problem| problem.at(place)).collect();
                problems.extend(told);
            }
        }
    }
    let rows = unless_wrong(rows, &problems)?;
    one_key_one_row(&rows)?;
    Ok(rows)
}

fn json_lines(text: &str) -> Result<Vec<spreadsheet::Row>> {
    if text.trim_start().starts_with('[') {
        return Err(
            Error::usage("a batch has one JSON object per line, but this is an array")
                .hint("convert it with: jq -c '.[]' FILE"),
        );
    }
    let lines = text.lines().zip(1..);
    let lines = lines.filter(|(line, _)| !line.trim().is_empty());
    let rows = lines.zip(1..).map(|((text, line), row)| {
        let fields = serde_json::from_str::<Value>(text);
        let fields = fields.and_then(|fields| {
            serde_json::from_str::<UniqueKeys>(text)?;
            Ok(fields)
        });
        let place = Place { row, line };
        (
            place,
            fields.map_err(|error| Box::new(Problem::new(json_reason(&error)))),
        )
    });
    Ok(rows.collect())
}

/// The parser counts the lines of what it is given, which is one.
fn json_reason(error: &serde_json::Error) -> String {
    error
        .to_string()
        .replace(" at line 1 column ", " at column ")
}

/// Refuses rows that ask for the same booking, unless each names a key of its own.
///
/// # Errors
///
/// `usage` (2), with the numbers of the rows.
pub(crate) fn refuse_equal_rows(rows: &[BatchRow]) -> Result<()> {
    let mut equal: HashMap<String, Vec<&BatchRow>> = HashMap::new();
    for row in rows {
        equal.entry(canonical(&row.body)).or_default().push(row);
    }
    let is_meant = |rows: &[&BatchRow]| rows.iter().all(|row| row.idempotency_key.is_some());
    let refused = equal.into_values();
    let refused = refused.filter(|rows| rows.len() > 1 && !is_meant(rows));
    let refused = refused.map(|rows| rows.iter().map(|row| row.number).collect());
    let mut refused: Vec<Vec<usize>> = refused.collect();
    refused.sort();
    let refused = refused
        .iter()
        .map(|rows| format!("rows {} are equal", ranges(rows)));
    let refused: Vec<String> = refused.collect();
    if refused.is_empty() {
        return Ok(());
    }
    Err(
        Error::usage(format!("{}; nothing was sent", refused.join("; "))).hint(
            "remove the rows that are not meant; to book each of them: --equal-rows, or an idempotency_key in each",
        ),
    )
}

/// Refuses two rows that name the same key, because a key belongs to one booking.
fn one_key_one_row(rows: &[BatchRow]) -> Result<()> {
    let mut named: HashMap<&str, usize> = HashMap::new();
    for row in rows {
        let Some(key) = &row.idempotency_key else {
            continue;
        };
        if let Some(other) = named.insert(key, row.number) {
            let two = row.number;
            let what =
                format!("rows {other} and {two} use the same idempotency_key; nothing was sent");
            return Err(Error::usage(what).hint(
                "a key can be used for one booking only: give each row its own key, or none",
            ));
        }
    }
    Ok(())
}

/// Row numbers as people write them: `1-3, 7`.
pub(super) fn ranges(rows: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &row in rows {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == row => *last = row,
            _ => ranges.push((row, row)),
        }
    }
    let written = ranges.into_iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    written.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
