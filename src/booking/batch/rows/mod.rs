//! Reads the rows of a batch, JSON lines or CSV: a line is a row. All rows are checked before anything is sent.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::json::plain;
use crate::outcome::{Error, Result};
use crate::service::client::VENDOR_PAYMENT;
use crate::service::client::call::fields_of;
use crate::service::time::document_time::DocumentTime;
use crate::terminal::output::cut;

/// The most mistakes that are written out. The others are counted.
const MOST_SHOWN: usize = 20;

/// The fields whose values are checked, and what each must be. A row must have the first ones.
const FORMS: [(&str, &str); 7] = [
    ("venue_id", "an id"),
    ("datetime", "a time with an offset, e.g. 2026-12-01T19:30:00+01:00"),
    ("party_size", "a whole number from 1"),
    ("customer.name", "text"),
    ("availability_id", "an id"),
    ("payment_collection", VENDOR_PAYMENT),
    ("idempotency_key", "1 to 255 ASCII characters without spaces"),
];
const REQUIRED: usize = 4;

/// The characters that may separate columns: the one that the header has most of does, and of several the last.
const SEPARATORS: [u8; 3] = [b';', b'\t', b','];

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
        let name = self.body.pointer("/customer/name");
        name.map(plain).unwrap_or_default()
    }
}

/// A row as it stands in the file, and without its key the request. A field that is missing is `null`.
#[derive(Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
struct RowFields {
    venue_id: Value,
    provider: Option<String>,
    datetime: Value,
    #[serde(skip_serializing_if = "is_blank")]
    availability_id: Value,
    party_size: Value,
    customer: RowCustomer,
    end_user: Option<String>,
    webhook_url: Option<String>,
    #[serde(skip_serializing_if = "is_blank")]
    payment_collection: Value,
    #[serde(skip_serializing)]
    idempotency_key: Value,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
struct RowCustomer {
    name: Value,
    email: Option<String>,
    phone: Option<String>,
}

/// What is wrong, as a script gets it: a `message` and, where they are known, the `field`, its `value`, the `row` and its `line`.
/// A mistake without a row is one of the header.
type Mistake = Map<String, Value>;

fn mistake(field: &str, message: String) -> Mistake {
    let field = (!field.is_empty()).then(|| ("field".to_owned(), field.into()));
    let message = ("message".to_owned(), message.into());
    field.into_iter().chain([message]).collect()
}

fn told(mistake: &Mistake) -> String {
    let message = mistake.get("message").map(plain).unwrap_or_default();
    match (mistake.get("row"), mistake.get("line")) {
        (Some(row), Some(line)) => format!("row {row} (line {line}): {message}"),
        _ => format!("the header: {message}"),
    }
}

/// Reads every row of a text without a byte order mark. The name of its file, or else its first character, says whether it is
/// CSV. `local_times` is whether times without an offset are the venue's own; the time of a slot may be one anyway. A file without
/// a row is refused (2), and so is one with mistakes, with all of them.
pub(crate) fn read_rows(name: &str, text: &str, local_times: bool) -> Result<Vec<BatchRow>> {
    let name = name.to_ascii_lowercase();
    let mut ends = [".jsonl", ".ndjson", ".json"].into_iter();
    let is_json = ends.any(|end| name.ends_with(end));
    let read = if is_json || !name.ends_with(".csv") && text.trim_start().starts_with(['{', '[']) {
        json_lines(text)
    } else {
        csv_lines(text)?
    };
    if read.is_empty() {
        return Err(Error::usage("the batch has no rows; nothing was sent")
            .hint("check the file, or the command that writes it"));
    }
    let (mut rows, mut mistakes) = (Vec::new(), Vec::new());
    for ((line, fields), number) in read.into_iter().zip(1..) {
        let fields = fields.map_err(|mistake| vec![mistake]);
        match fields.and_then(|fields| checked(&fields, number, local_times)) {
            Ok(row) => rows.push(row),
            Err(wrong) => mistakes.extend(wrong.into_iter().map(|mut mistake| {
                mistake.insert("row".to_owned(), number.into());
                mistake.insert("line".to_owned(), line.into());
                mistake
            })),
        }
    }
    if !mistakes.is_empty() {
        return Err(report(&mistakes));
    }
    Ok(rows)
}

/// The rows as they were read, with their lines, counted from 1.
type Lines = Vec<(usize, Result<RowFields, Mistake>)>;

fn json_lines(text: &str) -> Lines {
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(line, text)| (line, json_row(text))).collect()
}

/// Reads a JSON object. A field that stands in it twice is a mistake: which of the two is meant cannot be known.
fn json_row(text: &str) -> Result<RowFields, Mistake> {
    // An array would be read as the fields in their order.
    if !text.trim_start().starts_with('{') {
        return Err(mistake("", "it is not a JSON object".to_owned()));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let fields = typed(&mut reader)?;
    let end = reader.end();
    end.map_err(|error| mistake("", in_a_line(&error)))?;
    Ok(fields)
}

/// The parser counts the lines of what it is given, which is one.
fn in_a_line(why: &impl fmt::Display) -> String {
    why.to_string().replace(" at line 1 column ", " at column ")
}

/// The fields of a row. The mistake names the first that cannot be read.
fn typed<'de, D: serde::Deserializer<'de>>(row: D) -> Result<RowFields, Mistake> {
    serde_path_to_error::deserialize(row).map_err(|error| {
        let path = error.path().to_string();
        let why = in_a_line(error.inner());
        match path.as_str() {
            "." | "?" => mistake("", why),
            field if why.contains(field) => mistake(field, why),
            field => mistake(field, format!("{field}: {why}")),
        }
    })
}

/// CSV as people and spreadsheets write it: separated by commas, semicolons or tabs, with any line ends. Rows without any
/// value are left out, as blank lines are. A value has no line break: one that seems to have is a quote that is not closed,
/// and would swallow the rows after it.
fn csv_lines(text: &str) -> Result<Lines> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let header = text.trim_start_matches('\n').lines().next();
    let header = header.unwrap_or_default().as_bytes();
    let count = |separator: &u8| header.iter().filter(|it| *it == separator).count();
    let separator = SEPARATORS.into_iter().max_by_key(count).unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let lines = (1..).zip(text.lines());
    let mut lines = lines.filter(|(_, line)| !line.is_empty());
    let mut columns: Option<Vec<String>> = None;
    let mut rows = Vec::new();
    for (record, (line, _)) in reader.records().zip(&mut lines) {
        let broken = |message: String| Err(mistake("", message));
        let record = record.map_err(|error| report(&[mistake("", error.to_string())]))?;
        if record.iter().any(|cell| cell.contains('\n')) {
            let why = "a quote is not closed, or a value has a line break";
            rows.push((line, broken(why.to_owned())));
            break;
        }
        let Some(columns) = &columns else {
            let named: Vec<String> = record.iter().map(str::to_ascii_lowercase).collect();
            // Each column is a field of a row, which stands for its value here.
            let header = csv_row(&named, &csv::StringRecord::from(named.clone()));
            header.map_err(|mistake| report(&[mistake]))?;
            columns = Some(named);
            continue;
        };
        if record.iter().all(str::is_empty) {
            continue;
        }
        let (cells, needed) = (record.len(), columns.len());
        let beyond = record.iter().skip(needed).any(|cell| !cell.is_empty());
        let row = if cells < needed || beyond {
            let why = format!("it has {cells} columns, but the header has {needed}");
            broken(why)
        } else {
            csv_row(columns, &record)
        };
        rows.push((line, row));
    }
    Ok(rows)
}

/// Reads a row as the object that a JSON line would hold. An empty cell is left out.
fn csv_row(columns: &[String], record: &csv::StringRecord) -> Result<RowFields, Mistake> {
    let (mut row, mut customer) = (Map::new(), Map::new());
    for (column, cell) in columns.iter().zip(record) {
        if cell.is_empty() {
            continue;
        }
        if column.is_empty() {
            let why = format!("the column of {cell:?} has no name in the header");
            return Err(mistake("", why));
        }
        let value = match cell.parse::<u32>() {
            Ok(number) if column == "party_size" => json!(number),
            _ => json!(cell),
        };
        let before = match column.strip_prefix("customer.") {
            Some(field) => customer.insert(field.to_owned(), value),
            None => row.insert(column.clone(), value),
        };
        if before.is_some() {
            let why = format!("column {column} appears twice");
            return Err(mistake(column, why));
        }
    }
    row.insert("customer".to_owned(), customer.into());
    typed(Value::Object(row))
}

/// A row's booking request, or everything that is wrong with its values. An empty value is as one that is left out.
fn checked(row: &RowFields, number: usize, local_times: bool) -> Result<BatchRow, Vec<Mistake>> {
    let is_valid = |field: &str, value: &Value| match field {
        "venue_id" | "availability_id" => value.is_string() || value.is_number(),
        "datetime" => is_time(value, local_times || !is_blank(&row.availability_id)),
        "party_size" => (1..=u32::MAX.into()).contains(&value.as_u64().unwrap_or(0)),
        "payment_collection" => value == VENDOR_PAYMENT,
        "idempotency_key" => value.as_str().is_some_and(is_key),
        _ => value.is_string(),
    };
    let values = [
        &row.venue_id,
        &row.datetime,
        &row.party_size,
        &row.customer.name,
        &row.availability_id,
        &row.payment_collection,
        &row.idempotency_key,
    ];
    let mut mistakes = Vec::new();
    for (place, ((field, form), value)) in FORMS.into_iter().zip(values).enumerate() {
        let message = if is_blank(value) && place < REQUIRED {
            format!("{field} is missing")
        } else if !is_blank(value) && !is_valid(field, value) {
            let found = value.to_string();
            format!("{field} must be {form}, not {}", cut(&found, 60))
        } else {
            continue;
        };
        let mut wrong = mistake(field, message);
        if !value.is_null() {
            wrong.insert("value".to_owned(), value.clone());
        }
        mistakes.push(wrong);
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let own_key = row.idempotency_key.as_str().filter(|key| is_key(key));
    Ok(BatchRow {
        number,
        body: fields_of(row).into(),
        idempotency_key: own_key.map(str::to_owned),
    })
}

fn is_blank(value: &Value) -> bool {
    plain(value).trim().is_empty()
}

/// Whether it is a time as it can be sent: with an offset, or as a slot of the service gives it, which may be a number since
/// 1970 or, where the venue's own clock is meant, a text without an offset.
fn is_time(value: &Value, may_be_local: bool) -> bool {
    DocumentTime::read(value).is_some_and(|time| time.instant.is_some() || may_be_local)
}

pub(crate) fn is_key(text: &str) -> bool {
    !text.is_empty() && text.len() <= 255 && text.chars().all(|c| c.is_ascii_graphic())
}

fn report(mistakes: &[Mistake]) -> Error {
    let count = mistakes.len();
    let mut error = match mistakes {
        [only] => Error::usage(format!("cannot read {}; nothing was sent", told(only))),
        _ => Error::usage(format!("the batch has {count} mistakes; nothing was sent")),
    };
    let shown = mistakes.iter().take(MOST_SHOWN);
    error.problems = shown.clone().cloned().map(Value::Object).collect();
    if count > 1 {
        error.details = shown.map(told).collect();
    }
    if count > MOST_SHOWN {
        let more = format!("and {} more", count - MOST_SHOWN);
        error.details.push(more);
    }
    error.hint("see `bookctl batch --help` for an example row")
}

/// Row numbers as people write them: `1-3, 7`.
pub(crate) fn ranges(rows: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &row in rows {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == row => *last = row,
            _ => ranges.push((row, row)),
        }
    }
    let written = ranges.into_iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    });
    written.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
