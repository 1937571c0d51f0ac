//! Reads the rows of a batch, JSON lines or CSV. All rows are checked before anything is sent.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde_json::{Map, Value, json};

use super::unique_keys::UniqueKeys;
use crate::adapter::Adapter;
use crate::client::{BookingRequest, NewBooking};
use crate::model::document_time::DocumentTime;
use crate::outcome::{Error, Result};

/// One booking to make.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BatchRow {
    /// Counted from 1, without blank lines and the header.
    pub(crate) number: usize,
    /// The request (spec, Booking: fields accepted when creating a booking).
    pub(crate) body: Value,
    /// The idempotency key in the row, if it has one.
    pub(crate) idempotency_key: Option<String>,
}

impl BatchRow {
    /// The row's booking request, as the service wants it.
    pub(crate) fn request(&self, adapter: &Adapter) -> Result<BookingRequest> {
        let asked = self.body.as_object().cloned().unwrap_or_default();
        BookingRequest::new(adapter, asked, &Map::new())
    }
}

/// The fields that a row may have. Any other is an error: it could be a misspelt field.
const FIELDS: &[&str] = &[
    "venue_id",
    "provider",
    "datetime",
    "availability_id",
    "party_size",
    "customer",
    "end_user",
    "webhook_url",
    "payment_collection",
    "idempotency_key",
];

/// The fields that a row's guest may have.
const CUSTOMER: &[&str] = &["name", "email", "phone"];

/// The format of a batch file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchFormat {
    JsonLines,
    Csv,
}

impl BatchFormat {
    /// Detects the format from the file's name, else from how the text begins.
    pub(crate) fn of(name: &str, text: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let begins = text.trim_start_matches('\u{feff}').trim_start();
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
/// `usage` (2) for the first mistake in any row; nothing has been sent then.
pub(crate) fn read_rows(
    text: &str,
    format: BatchFormat,
    local_times: bool,
) -> Result<Vec<BatchRow>> {
    let text = text.trim_start_matches('\u{feff}');
    let rows = match format {
        BatchFormat::JsonLines => json_lines(text, local_times),
        BatchFormat::Csv => csv(text, local_times),
    }?;
    one_key_one_row(&rows)?;
    Ok(rows)
}

fn json_lines(text: &str, local_times: bool) -> Result<Vec<BatchRow>> {
    if text.trim_start().starts_with('[') {
        return Err(
            Error::usage("a batch has one JSON object per line, but this is an array")
                .hint("convert it with: jq -c '.[]' FILE"),
        );
    }
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines
        .zip(1..)
        .map(|((line, text), number)| {
            let place = format!("row {number} (line {})", line + 1);
            let fields: Value =
                serde_json::from_str(text).map_err(|error| wrong(&place, &error.to_string()))?;
            serde_json::from_str::<UniqueKeys>(text)
                .map_err(|error| wrong(&place, &error.to_string()))?;
            row(&fields, number, local_times).map_err(|why| wrong(&place, &why))
        })
        .collect()
}

fn csv(text: &str, local_times: bool) -> Result<Vec<BatchRow>> {
    // An unclosed quote would swallow the rows after it, or cut a cell short.
    if text.matches('"').count() % 2 == 1 {
        return Err(wrong("the file", "a quote is not closed"));
    }
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let columns = reader
        .headers()
        .map_err(|error| wrong("the header", &csv_reason(&error)))?
        .clone();
    let mut seen = HashSet::new();
    if let Some(twice) = columns.iter().find(|column| !seen.insert(*column)) {
        return Err(wrong(
            "the header",
            &format!("column {twice} appears twice"),
        ));
    }
    let mut rows = Vec::new();
    for (record, number) in reader.records().zip(1..) {
        let record =
            record.map_err(|error| wrong(&format!("row {number}"), &csv_reason(&error)))?;
        let line = record.position().map_or(0, csv::Position::line);
        let place = format!("row {number} (line {line})");
        if record.iter().any(|cell| cell.contains(['\n', '\r'])) {
            return Err(wrong(
                &place,
                "a quoted value contains a line break or is not closed",
            ));
        }
        let object = columns.iter().zip(&record).fold(Map::new(), insert_cell);
        let row = row(&Value::Object(object), number, local_times);
        rows.push(row.map_err(|why| wrong(&place, &why))?);
    }
    Ok(rows)
}

/// Inserts a cell into its object: `customer.name` into `customer`. An empty cell is left out.
fn insert_cell(mut object: Map<String, Value>, (column, cell): (&str, &str)) -> Map<String, Value> {
    if cell.is_empty() {
        return object;
    }
    let value = match cell.parse::<u32>() {
        Ok(number) if column == "party_size" => json!(number),
        _ => json!(cell),
    };
    match column.strip_prefix("customer.") {
        None => object.insert(column.to_owned(), value),
        Some(field) => match object.entry("customer").or_insert_with(|| json!({})) {
            Value::Object(customer) => customer.insert(field.to_owned(), value),
            _ => None,
        },
    };
    object
}

/// The request of a row, or what is wrong with it.
fn row(fields: &Value, number: usize, local_times: bool) -> Result<BatchRow, String> {
    let fields = Fields::of(fields, "", FIELDS)?;
    let customer = fields.0.get("customer").unwrap_or(&Value::Null);
    let customer = Fields::of(customer, "customer.", CUSTOMER)?;
    let availability_id = fields.id("availability_id")?;
    let may_be_local = local_times || availability_id.is_some();
    let datetime = fields.time(may_be_local)?;
    let party_size = fields.0.get("party_size").ok_or("party_size is missing")?;
    let party_size = party_size
        .as_u64()
        .and_then(|size| u32::try_from(size).ok());
    let idempotency_key = fields.text("idempotency_key")?;
    if idempotency_key.as_deref().is_some_and(|key| !is_key(key)) {
        return Err(
            "idempotency_key must have 1 to 255 ASCII characters without spaces".to_owned(),
        );
    }
    let booking = NewBooking {
        venue_id: fields.id("venue_id")?.ok_or("venue_id is missing")?,
        provider: fields.text("provider")?,
        datetime,
        availability_id,
        party_size: party_size
            .filter(|size| *size > 0)
            .ok_or("party_size must be a whole number from 1")?,
        name: customer.needed("name")?,
        email: customer.text("email")?,
        phone: customer.text("phone")?,
        end_user: fields.text("end_user")?,
        webhook_url: fields.text("webhook_url")?,
        vendor_payment: match fields.text("payment_collection")?.as_deref() {
            None => false,
            Some("vendor_external") => true,
            Some(_) => return Err("payment_collection must be vendor_external".to_owned()),
        },
    };
    Ok(BatchRow {
        number,
        body: Value::Object(booking.body()),
        idempotency_key,
    })
}

/// An object all of whose fields are known.
struct Fields<'a>(&'a Map<String, Value>, &'static str);

impl<'a> Fields<'a> {
    fn of(value: &'a Value, prefix: &'static str, known: &[&str]) -> Result<Self, String> {
        let what = if prefix.is_empty() {
            "the row"
        } else {
            "customer"
        };
        let object = value
            .as_object()
            .ok_or(format!("{what} is not an object"))?;
        match object.keys().find(|key| !known.contains(&key.as_str())) {
            Some(other) => Err(format!(
                "unknown field {prefix}{other}; known fields: {prefix}{}",
                known.join(&format!(", {prefix}"))
            )),
            None => Ok(Fields(object, prefix)),
        }
    }

    /// The text of a field; `None` if it is absent or `null`.
    fn text(&self, field: &str) -> Result<Option<String>, String> {
        match self.0.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("{}{field} is not text", self.1)),
        }
    }

    /// An id, a text or a number, as it is sent. `null` counts as missing.
    fn id(&self, field: &str) -> Result<Option<Value>, String> {
        match self.0.get(field) {
            Some(Value::Number(number)) => Ok(Some(Value::Number(number.clone()))),
            _ => {
                let text = self.text(field)?.filter(|text| !text.trim().is_empty());
                Ok(text.map(Value::from))
            }
        }
    }

    /// The time, as it is sent: with an offset, or as a slot of the service gives it, which may be a number since 1970 or,
    /// where the venue's own clock is meant, a text without an offset.
    fn time(&self, may_be_local: bool) -> Result<Value, String> {
        if let Some(number @ Value::Number(_)) = self.0.get("datetime")
            && DocumentTime::read(number).is_some()
        {
            return Ok(number.clone());
        }
        let text = self.needed("datetime")?;
        let is_local = || may_be_local && text.parse::<DateTime>().is_ok();
        if text.parse::<Timestamp>().is_err() && !is_local() {
            let example = "2026-12-01T19:30:00+01:00";
            return Err(format!(
                "datetime {text:?} is not valid; use a time with an offset, e.g. {example}"
            ));
        }
        Ok(text.into())
    }

    /// The text of a required field: there is no default venue or guest.
    fn needed(&self, field: &str) -> Result<String, String> {
        let text = self.text(field)?.filter(|text| !text.trim().is_empty());
        text.ok_or(format!("{}{field} is missing", self.1))
    }
}

/// Whether a text is valid as an idempotency key.
pub(crate) fn is_key(text: &str) -> bool {
    !text.is_empty() && text.len() <= 255 && text.chars().all(|c| c.is_ascii_graphic())
}

/// Refuses two rows that name the same key but ask for different bookings, because a key belongs to one request.
fn one_key_one_row(rows: &[BatchRow]) -> Result<()> {
    let mut named: HashMap<&str, &BatchRow> = HashMap::new();
    for row in rows {
        let Some(key) = &row.idempotency_key else {
            continue;
        };
        match named.insert(key, row) {
            Some(other) if other.body != row.body => {
                let (one, two) = (other.number, row.number);
                return Err(Error::usage(format!(
                    "rows {one} and {two} use the same idempotency_key for different bookings; nothing was sent"
                ))
                .hint("a key can be used for one booking only: give each row its own key, or none"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn wrong(place: &str, why: &str) -> Error {
    Error::usage(format!("cannot read {place}: {why}; nothing was sent"))
        .hint("see `bookctl book --help` for an example row")
}

fn csv_reason(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!("it has {len} columns, but the header has {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => "it is not UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::arbitrary;
    use crate::outcome::Exit;

    const JSON: &str = r#"{"venue_id":"v","datetime":"2026-12-01T19:30:00Z","party_size":2,"customer":{"name":"Ada Lovelace","phone":"+44"}}"#;

    fn read_rows(text: &str, format: BatchFormat) -> Result<Vec<BatchRow>> {
        super::read_rows(text, format, false)
    }

    #[test]
    fn csv_and_json_lines_of_the_same_content_are_the_same_rows() {
        let csv = "\u{feff}venue_id, datetime,party_size,customer.name,customer.email,customer.phone\r\n\
                   v,2026-12-01T19:30:00Z,2,Ada Lovelace,,+44\r\n";
        assert_eq!(
            read_rows(csv, BatchFormat::Csv).unwrap(),
            read_rows(&format!("\n{JSON}\n\n"), BatchFormat::JsonLines).unwrap()
        );
    }

    #[test]
    fn a_row_that_cannot_be_meant_is_named_and_nothing_is_read_past_it() {
        for (row, why) in [
            (
                JSON.replace("\"party_size\":2", "\"party_size\":0"),
                "party_size must be a whole number",
            ),
            (
                JSON.replace("\"party_size\":2", "\"party_size\":\"2\""),
                "party_size",
            ),
            (JSON.replace("venue_id", "venue"), "unknown field venue;"),
            (
                JSON.replace("2026-12-01T19:30:00Z", "tomorrow"),
                "\"tomorrow\" is not valid",
            ),
            (
                JSON.replace("Ada Lovelace", " "),
                "customer.name is missing",
            ),
            ("{".to_owned(), "EOF"),
            (
                JSON.replace("\"party_size\":2", "\"party_size\":6,\"party_size\":2"),
                "party_size appears twice",
            ),
            (
                JSON.replace("\"name\":", "\"name\":\"Eve\",\"name\":"),
                "name appears twice",
            ),
        ] {
            let error = read_rows(&format!("{JSON}\n{row}\n"), BatchFormat::JsonLines).err();
            let told = error.map(|error| error.message.clone()).unwrap_or_default();
            assert!(
                told.contains("row 2 (line 2)") && told.contains(why),
                "{row}: {told}"
            );
        }
    }

    #[test]
    fn a_csv_that_is_out_of_shape_is_refused() {
        for (text, why) in [
            ("venue_id,venue_id\n", "twice"),
            ("venue_id,datetime\nv\n", "1 columns"),
            ("venue_id,guest\nv,x\n", "unknown field guest;"),
            ("venue_id,customer.name\nv,\"Ada Lov", "is not closed"),
            (
                "customer.name,venue_id\n\"Ada,v\n\"Grace\",v\n\"Hedy,v\n",
                "or is not closed",
            ),
        ] {
            let told = read_rows(text, BatchFormat::Csv)
                .unwrap_err()
                .message
                .clone();
            assert!(told.contains(why), "{text}: {told}");
        }
    }

    #[test]
    fn one_key_for_two_requests_is_refused_before_anything_is_sent() {
        let with_key = JSON.replace("{\"venue_id\"", "{\"idempotency_key\":\"k\",\"venue_id\"");
        let other = with_key.replace("\"party_size\":2", "\"party_size\":3");
        assert!(read_rows(&format!("{with_key}\n{with_key}"), BatchFormat::JsonLines).is_ok());
        assert!(read_rows(&format!("{with_key}\n{other}"), BatchFormat::JsonLines).is_err());
    }

    proptest! {
        /// Whatever is in the file: rows that can be sent as they are, or one sentence.
        #[test]
        fn whatever_stands_in_a_file_becomes_rows_or_one_sentence(
            text in prop_oneof![
                any::<String>(),
                arbitrary::made_of(&[
                    "venue_id", ",", "datetime", "party_size", "customer.name", "customer", "\n", "\r\n", "\"", "v",
                    "2026-12-01T19:30:00Z", "2", "Ada", "{", "}", ":", "\u{feff}", "\0",
                ]),
                arbitrary::json().prop_map(|row| row.to_string()),
            ],
        ) {
            for format in [BatchFormat::JsonLines, BatchFormat::Csv] {
                match read_rows(&text, format) {
                    Ok(rows) => for row in rows {
                        prop_assert!(row.body["party_size"].as_u64() > Some(0), "{:?}", row);
                    },
                    Err(error) => prop_assert_eq!(error.exit, Exit::Usage),
                }
            }
        }

        #[test]
        fn a_guest_of_any_name_comes_through_csv_as_through_json(name in "[^\\s]\\PC{0,30}[^\\s]") {
            let quoted = name.replace('"', "\"\"");
            let csv = format!(
                "venue_id,datetime,party_size,customer.name\nv,2026-12-01T19:30:00Z,2,\"{quoted}\"\n"
            );
            let json = json!({"venue_id": "v", "datetime": "2026-12-01T19:30:00Z", "party_size": 2, "customer": {"name": name}});
            prop_assert_eq!(
                read_rows(&csv, BatchFormat::Csv).map_err(|error| TestCaseError::fail(error.message.clone()))?,
                read_rows(&json.to_string(), BatchFormat::JsonLines).map_err(|error| TestCaseError::fail(error.message.clone()))?
            );
        }
    }
}
