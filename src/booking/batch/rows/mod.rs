//! Reads a batch's rows, JSON lines or CSV, and checks all before anything is sent.

use std::fmt;

use jiff::tz::TimeZone;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::json::plain;
use crate::outcome::{Error, Result};
use crate::service::client::VENDOR_PAYMENT;
use crate::service::documents::Wish;
use crate::service::time::{DocumentTime, When};
use crate::terminal::output::cut;

/// The most mistakes that are written out. The others are counted.
const MOST_SHOWN: usize = 20;

/// A field of a row: its name, as a column and in a JSON line, and what its value must be.
type Field = (&'static str, &'static str, fn(&Value) -> bool);

/// In the order in which they are sent.
const FIELDS: [Field; 12] = [
    ("venue_id", "an id", is_id),
    ("provider", "text", Value::is_string),
    ("datetime", "a time, e.g. 2026-12-01 19:30 or 2026-12-01T19:30:00+01:00", is_time),
    ("availability_id", "an id", is_id),
    ("party_size", "a whole number from 1", is_party),
    ("customer.name", "text", Value::is_string),
    ("customer.email", "text", Value::is_string),
    ("customer.phone", "a phone number as text, e.g. +442079460018", is_phone),
    ("end_user", "text", Value::is_string),
    ("webhook_url", "text", Value::is_string),
    ("payment_collection", VENDOR_PAYMENT, |it| it == VENDOR_PAYMENT),
    (OWN_KEY, "1 to 255 ASCII characters without spaces", |it| it.as_str().is_some_and(is_key)),
];
const REQUIRED: [&str; 4] = ["venue_id", "datetime", "party_size", "customer.name"];
const OWN_KEY: &str = "idempotency_key";

/// The separators of columns: the header's most frequent one counts, the last of equals.
const SEPARATORS: [u8; 3] = [b';', b'\t', b','];

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BatchRow {
    /// Counted from 1, without blank lines and the header.
    pub(crate) number: usize,
    /// The request (spec, Booking: fields accepted when creating a booking).
    pub(crate) body: Value,
    pub(crate) idempotency_key: Option<String>,
    /// The venue's zone where neither a search nor a slot shows it.
    pub(crate) zone: Option<TimeZone>,
}

impl BatchRow {
    pub(crate) fn wish(&self) -> Wish {
        Wish::from_request(&self.body)
    }
}

/// The values of a row by the names of their fields, in the order of the file.
type Cells = Vec<(String, Value)>;

/// What is wrong, as a script gets it: a `message` and, where they are known, the `field`, its
/// `value`, the `row` and its `line`. A mistake without a row is one of the header.
type Mistake = Map<String, Value>;

fn mistake(field: &str, message: String) -> Mistake {
    let field = (!field.is_empty()).then(|| ("field".to_owned(), field.into()));
    let message = ("message".to_owned(), message.into());
    field.into_iter().chain([message]).collect()
}

fn describe(mistake: &Mistake) -> String {
    let message = mistake.get("message").map(plain).unwrap_or_default();
    match (mistake.get("row"), mistake.get("line")) {
        (Some(row), Some(line)) => format!("row {row} (line {line}): {message}"),
        _ => format!("the header: {message}"),
    }
}

/// Reads every row of a text without a byte order mark, without the columns that are `ignored`. The
/// name of its file, or else its first character, says whether it is CSV. A file without a row is
/// refused (2), and so is one with mistakes, with all of them.
pub(crate) fn read_rows(name: &str, text: &str, ignored: &[String]) -> Result<Vec<BatchRow>> {
    let name = name.to_ascii_lowercase();
    let is_json = [".jsonl", ".ndjson", ".json"].into_iter().any(|end| name.ends_with(end));
    let read = if is_json || !name.ends_with(".csv") && text.trim_start().starts_with(['{', '[']) {
        if text.trim_start().starts_with('[') {
            let what = "the batch is a JSON array, not JSON lines; nothing was sent";
            return Err(Error::usage(what).hint("write one object a line: jq -c '.[]' FILE"));
        }
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(line, text)| (line, json_row(text))).collect()
    } else {
        csv_lines(text, ignored)?
    };
    if read.is_empty() {
        return Err(Error::usage("the batch has no rows; nothing was sent")
            .hint("check the file, or the command that writes it"));
    }
    let (mut rows, mut mistakes) = (Vec::new(), Vec::new());
    for ((line, fields), number) in read.into_iter().zip(1..) {
        let cells = fields.and_then(|cells| named(cells, ignored, "field"));
        match cells.map_err(|mistake| vec![mistake]).and_then(|cells| checked(&cells, number)) {
            Ok(row) => rows.push(row),
            Err(wrong) => mistakes.extend(wrong.into_iter().map(|mut mistake| {
                mistake.insert("row".to_owned(), number.into());
                mistake.insert("line".to_owned(), line.into());
                mistake
            })),
        }
    }
    if !mistakes.is_empty() { Err(report(&mistakes)) } else { Ok(rows) }
}

/// The rows as they were read, with their lines, counted from 1.
type Lines = Vec<(usize, Result<Cells, Mistake>)>;

/// The members of a JSON object, also those that stand in it twice.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        reader.deserialize_map(InOrder)
    }
}

fn json_row(text: &str) -> Result<Cells, Mistake> {
    let row: Members = serde_json::from_str(text).map_err(|it| mistake("", in_a_line(&it)))?;
    let mut members = Vec::new();
    for (name, raw) in row.0 {
        if name != "customer" {
            members.push((name, raw));
            continue;
        }
        let no_object = |_| mistake(&name, "customer must be an object".to_owned());
        let guest: Members = serde_json::from_str(raw.get()).map_err(no_object)?;
        members.extend(guest.0.into_iter().map(|(name, raw)| (format!("customer.{name}"), raw)));
    }
    let read = members.into_iter().map(|(name, raw)| {
        let value = serde_json::from_str(raw.get());
        let value = value.map_err(|error| mistake(&name, in_a_line(&error)))?;
        Ok((name, value))
    });
    read.collect()
}

/// The parser counts the lines of what it is given, which is one.
fn in_a_line(why: &serde_json::Error) -> String {
    match why.is_data() {
        true => "it is not a JSON object".to_owned(),
        false => format!("it is not valid JSON at column {}", why.column()),
    }
}

/// The cells without those that are ignored. One whose name is not known, or stands there twice, is
/// a mistake: its meaning is not certain.
fn named(mut cells: Cells, ignored: &[String], noun: &str) -> Result<Cells, Mistake> {
    let is_ignored = |name: &str| ignored.iter().any(|it| it.trim().eq_ignore_ascii_case(name));
    cells.retain(|(name, _)| !is_ignored(name));
    for (at, (name, _)) in cells.iter().enumerate() {
        let known = FIELDS.map(|field| field.0);
        if !known.contains(&name.as_str()) {
            let known = known.join(", ");
            let why = format!(
                "unknown {noun} `{name}`; the {noun}s are {known}; --ignore-columns leaves others out"
            );
            return Err(mistake(name, why));
        }
        if cells[..at].iter().any(|before| before.0 == *name) {
            return Err(mistake(name, format!("duplicate {noun} `{name}`")));
        }
    }
    Ok(cells)
}

/// CSV as people and spreadsheets write it: separated by commas, semicolons or tabs, with any line
/// ends. Rows without any value are left out, as blank lines are. A value has no line break: one
/// that seems to have is a quote that is not closed, and would swallow the rows after it.
fn csv_lines(text: &str, ignored: &[String]) -> Result<Lines> {
    let mut text = text.replace("\r\n", "\n").replace('\r', "\n") + "\n";
    // Excel writes the separator into a line of its own.
    let named = text.strip_prefix("sep=").and_then(|it| it.bytes().next());
    if named.is_some() {
        text = text.replacen(|it| it != '\n', "", text.find('\n').unwrap_or(text.len()));
    }
    let header = text.trim_start_matches('\n').lines().next().unwrap_or_default().as_bytes();
    let count = |separator: &u8| header.iter().filter(|it| *it == separator).count();
    let most = || SEPARATORS.into_iter().max_by_key(count).unwrap_or(b',');
    let separator = named.unwrap_or_else(most);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty());
    let mut columns: Option<Vec<String>> = None;
    let mut rows = Vec::new();
    for (record, (line, _)) in reader.records().zip(&mut lines) {
        let broken = |message: String| Err(mistake("", message));
        let mut record = record.map_err(|error| report(&[mistake("", error.to_string())]))?;
        if record.iter().any(|cell| cell.contains('\n')) {
            let why = "a quote is not closed, or a value has a line break";
            rows.push((line, broken(why.to_owned())));
            break;
        }
        record.trim();
        let Some(columns) = &columns else {
            let header: Vec<String> = record.iter().map(str::to_ascii_lowercase).collect();
            let cells = header.iter().filter(|it| !it.is_empty());
            let cells = cells.map(|name| (name.clone(), Value::Null)).collect();
            self::named(cells, ignored, "column").map_err(|mistake| report(&[mistake]))?;
            columns = Some(header);
            continue;
        };
        if record.iter().all(str::is_empty) {
            continue;
        }
        let (cells, needed) = (record.len(), columns.len());
        let beyond = record.iter().skip(needed).any(|cell| !cell.is_empty());
        let row = if cells < needed || beyond {
            broken(format!("it has {cells} columns, but the header has {needed}"))
        } else {
            csv_row(columns, &record)
        };
        rows.push((line, row));
    }
    Ok(rows)
}

/// The values of a line. An empty cell is left out.
fn csv_row(columns: &[String], record: &csv::StringRecord) -> Result<Cells, Mistake> {
    let cells = columns.iter().zip(record).filter(|(_, cell)| !cell.is_empty());
    let read = cells.map(|(column, cell)| {
        if column.is_empty() {
            return Err(mistake("", format!("the column of {cell:?} has no name in the header")));
        }
        let value = match cell.parse::<u32>() {
            Ok(number) if column == "party_size" => json!(number),
            _ => json!(cell),
        };
        Ok((column.clone(), value))
    });
    read.collect()
}

/// A row's booking request, or everything that is wrong with its values. An empty value is as one
/// that is left out.
fn checked(cells: &Cells, number: usize) -> Result<BatchRow, Vec<Mistake>> {
    let (mut body, mut own_key, mut mistakes) = (Map::new(), None, Vec::new());
    for (name, form, is_valid) in FIELDS {
        let value = cells.iter().find(|cell| cell.0 == name).map(|cell| &cell.1);
        let given = value.filter(|value| !is_blank(value));
        let message = match given {
            None if REQUIRED.contains(&name) => format!("{name} is missing"),
            Some(value) if !is_valid(value) => {
                format!("{name} must be {}, not {}", form, cut(&value.to_string(), 60))
            }
            None => continue,
            Some(value) => {
                match name.strip_prefix("customer.") {
                    _ if name == OWN_KEY => own_key = value.as_str().map(str::to_owned),
                    Some(inner) => {
                        let guest = body.entry("customer").or_insert_with(|| json!({}));
                        guest[inner] = value.clone();
                    }
                    None => _ = body.insert(name.to_owned(), value.clone()),
                }
                continue;
            }
        };
        let mut wrong = mistake(name, message);
        if let Some(value) = value.filter(|value| !value.is_null()) {
            wrong.insert("value".to_owned(), value.clone());
        }
        mistakes.push(wrong);
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    Ok(BatchRow { number, body: body.into(), idempotency_key: own_key, zone: None })
}

fn is_blank(value: &Value) -> bool {
    plain(value).trim().is_empty()
}

fn is_id(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

fn is_party(value: &Value) -> bool {
    (1..=u32::MAX.into()).contains(&value.as_u64().unwrap_or(0))
}

/// A spreadsheet writes a phone number as `4.47911E+11`: its last digits are lost.
fn is_phone(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !(text.contains(['e', 'E']) && text.parse::<f64>().is_ok()))
}

/// Whether it is a certain time: as the service writes one, which may be a number since 1970, or as
/// a person does, with its date.
fn is_time(value: &Value) -> bool {
    let as_sent = DocumentTime::read(value).is_some_and(|time| time.instant.is_some());
    let written = || When::parse(value.as_str()?).ok();
    as_sent || written().is_some_and(|when| when.exact().is_some() || when.wall().is_some())
}

pub(crate) fn is_key(text: &str) -> bool {
    !text.is_empty() && text.len() <= 255 && text.chars().all(|c| c.is_ascii_graphic())
}

fn report(mistakes: &[Mistake]) -> Error {
    let count = mistakes.len();
    let mut error = match mistakes {
        [only] => Error::usage(format!("cannot read {}; nothing was sent", describe(only))),
        _ => Error::usage(format!("the batch has {count} mistakes; nothing was sent")),
    };
    let displayed = mistakes.iter().take(MOST_SHOWN);
    error.problems = displayed.clone().cloned().map(Value::Object).collect();
    if count > 1 {
        error.details = displayed.map(describe).collect();
    }
    if count > MOST_SHOWN {
        error.details.push(format!("and {} more", count - MOST_SHOWN));
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
