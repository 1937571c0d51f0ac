//! What is wrong with a batch file, told for all of its rows at once.

use serde_json::{Map, Value, json};

use crate::outcome::{Error, Result};

/// The most problems that are written out. The others are counted.
const MOST_SHOWN: usize = 20;
const LONGEST_QUOTE: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// Counted from 1, without blank lines and the header.
    pub(super) row: usize,
    /// The line on which the row starts, counted from 1.
    pub(super) line: usize,
}

/// What is wrong with a field of a row, with a row or with the header.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem {
    /// The row; `None` for the header.
    place: Option<Place>,
    field: Option<String>,
    value: Option<Value>,
    message: String,
}

impl Problem {
    /// A problem of a whole row or of the header.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Problem {
            place: None,
            field: None,
            value: None,
            message: message.into(),
        }
    }

    pub(super) fn of(field: impl Into<String>, message: impl Into<String>) -> Self {
        Problem {
            field: Some(field.into()),
            ..Problem::new(message)
        }
    }

    pub(super) fn value(self, value: &Value) -> Self {
        Problem {
            value: Some(value.clone()),
            ..self
        }
    }

    pub(super) fn at(self, place: Place) -> Self {
        Problem {
            place: Some(place),
            ..self
        }
    }

    /// Whether it is a value that cannot be used, and not one that is missing.
    pub(super) fn has_value(&self) -> bool {
        self.value.is_some()
    }

    pub(super) fn is_of_header(&self) -> bool {
        self.place.is_none()
    }

    fn location(&self) -> String {
        match self.place {
            Some(Place { row, line }) => format!("row {row} (line {line})"),
            None => "the header".to_owned(),
        }
    }

    fn to_json(&self) -> Value {
        let mut object = Map::new();
        if let Some(Place { row, line }) = self.place {
            object.insert("row".into(), json!(row));
            object.insert("line".into(), json!(line));
        }
        if let Some(field) = &self.field {
            object.insert("field".into(), json!(field));
        }
        if let Some(value) = &self.value {
            object.insert("value".into(), value.clone());
        }
        object.insert("message".into(), json!(self.message));
        Value::Object(object)
    }
}

pub(super) fn unless_wrong<T>(rows: T, problems: &[Problem]) -> Result<T> {
    match problems {
        [] => Ok(rows),
        problems => Err(report(problems)),
    }
}

pub(super) fn report(problems: &[Problem]) -> Error {
    let mut error = match problems {
        [only] => Error::usage(format!(
            "cannot read {}: {}; nothing was sent",
            only.location(),
            only.message
        )),
        _ => {
            let count = problems.len();
            let mut error =
                Error::usage(format!("the batch has {count} mistakes; nothing was sent"));
            for problem in problems.iter().take(MOST_SHOWN) {
                error = error.detail(format!("{}: {}", problem.location(), problem.message));
            }
            match count.saturating_sub(MOST_SHOWN) {
                0 => error,
                more => error.detail(format!("and {more} more")),
            }
        }
    };
    let shown = problems.iter().take(MOST_SHOWN);
    error.problems = shown.map(Problem::to_json).collect();
    error.hint("see `bookctl book --help` for an example row")
}

/// A value as it stands in the file, in quotes and cut if it is long.
pub(super) fn quoted(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= LONGEST_QUOTE {
        return text;
    }
    let start: String = text.chars().take(LONGEST_QUOTE).collect();
    format!("{start}…")
}
