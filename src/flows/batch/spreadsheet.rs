//! CSV files as people and spreadsheets write them: separated by commas, semicolons or tabs, with any line ends.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::fields::unknown_column;
use super::problem::{Place, Problem, report};
use crate::outcome::Result;

/// The characters that may separate columns. The first of those that the header has most of does.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// A row as a JSON object, or the problem that it is out of shape, and its place.
pub(super) type Row = (Place, Result<Value, Box<Problem>>);

/// The rows of a CSV file, and what is wrong with its header. Rows without any value are left out, as blank lines are.
pub(super) fn read(text: &str) -> Result<(Vec<Row>, Vec<Problem>)> {
    // The line ends of Windows would be counted as none, and those of old Macs as one long line.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let separator = separator(&text);
    check_quotes(&text, separator).map_err(|problem| report(&[*problem]))?;
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .delimiter(u8::try_from(separator).unwrap_or(b','))
        .flexible(true)
        .from_reader(text.as_bytes());
    let broken = |error: csv::Error| report(&[Problem::new(error.to_string())]);
    let header = reader.headers().map_err(broken)?;
    let columns: Vec<String> = header.iter().map(str::to_ascii_lowercase).collect();
    let problems = header_problems(&columns);
    let mut rows = Vec::new();
    let (mut at, mut line) = (0, 1);
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let from = record.position().map_or(0, csv::Position::byte);
        let from = usize::try_from(from).unwrap_or(at);
        // A record's position may be that of blank lines before it.
        let blank = text[from..].len() - text[from..].trim_start_matches('\n').len();
        line += text[at..from + blank].matches('\n').count();
        at = from + blank;
        if record.iter().all(str::is_empty) {
            continue;
        }
        let row = rows.len() + 1;
        rows.push((Place { row, line }, object(&columns, &record)));
    }
    Ok((rows, problems))
}

fn separator(text: &str) -> char {
    let header = text.trim_start_matches('\n').lines().next();
    let header = header.unwrap_or_default();
    let count = |separator: &char| header.matches(*separator).count();
    let most = SEPARATORS.iter().map(count).max().unwrap_or(0);
    let found = SEPARATORS.iter().find(|it| count(it) == most);
    *found.unwrap_or(&',')
}

/// A quote in the wrong place would swallow the rows after it, or cut a value short.
fn check_quotes(text: &str, separator: char) -> Result<(), Box<Problem>> {
    let mut chars = text.chars().peekable();
    let (mut line, mut opened, mut starts) = (1, None, true);
    let (mut row, mut is_blank, mut ended) = (0, true, false);
    while let Some(c) = chars.next() {
        let place = move || Place { row, line };
        let told = |problem: Problem| match row {
            0 => problem,
            _ => problem.at(place()),
        };
        match c {
            '"' if opened.is_some() && chars.peek() == Some(&'"') => {
                chars.next();
            }
            '"' if opened.is_some() => (opened, ended) = (None, true),
            '"' if starts => opened = Some(told(Problem::new("a quote is not closed"))),
            '"' => {
                return Err(Box::new(told(Problem::new(
                    "a quote in the middle of a value: put the whole value in quotes, and double those in it",
                ))));
            }
            '\n' if opened.is_none() => {
                row += usize::from(!is_blank);
                is_blank = true;
            }
            _ if c == separator || opened.is_some() => {}
            _ if ended && c != ' ' => {
                return Err(Box::new(told(Problem::new(
                    "a value goes on after its closing quote, or a quote is not closed",
                ))));
            }
            _ => {}
        }
        line += usize::from(c == '\n');
        is_blank = is_blank && c == '\n';
        starts = c == separator || c == '\n';
        ended = ended && !starts && opened.is_none();
    }
    opened.map_or(Ok(()), |problem| Err(Box::new(problem)))
}

fn header_problems(columns: &[String]) -> Vec<Problem> {
    let named = || columns.iter().filter(|column| !column.is_empty());
    let mut seen = HashSet::new();
    let twice = named().filter(|column| !seen.insert(*column));
    let twice = twice.map(|column| Problem::of(column, format!("column {column} appears twice")));
    let unknown = named().filter_map(|column| unknown_column(column));
    twice.chain(unknown).collect()
}

/// The row as the object that a JSON line would hold.
fn object(columns: &[String], record: &csv::StringRecord) -> Result<Value, Box<Problem>> {
    let beyond = record.iter().skip(columns.len());
    if record.len() < columns.len() || beyond.clone().any(|cell| !cell.is_empty()) {
        let (columns, needed) = (record.len(), columns.len());
        return Err(Box::new(Problem::new(format!(
            "it has {columns} columns, but the header has {needed}"
        ))));
    }
    let cells = columns.iter().zip(record);
    if let Some((_, cell)) = cells
        .clone()
        .find(|(column, cell)| column.is_empty() && !cell.is_empty())
    {
        let message = format!("the column of {cell:?} has no name in the header");
        return Err(Box::new(Problem::new(message)));
    }
    let known = cells.filter(|(column, _)| unknown_column(column).is_none());
    Ok(Value::Object(known.fold(Map::new(), insert_cell)))
}

/// Inserts a cell into its object: `customer.name` into `customer`. An empty cell is left out.
fn insert_cell(
    mut object: Map<String, Value>,
    (column, cell): (&String, &str),
) -> Map<String, Value> {
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
