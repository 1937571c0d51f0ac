//! Reading the fields of a JSON body, with the spec's complaint where one has the wrong type.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::refusal::Refusal;

/// Parses a request body. An empty one has no fields.
pub(crate) fn parse_body(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Refusal::wrong_type("body", "must be a JSON object")),
        Err(error) => Err(Refusal::wrong_type(
            "body",
            format!("is not valid JSON: {error}"),
        )),
    }
}

/// A JSON object's fields. `null` counts as absent.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    object: &'a Map<String, Value>,
    /// The field that holds the object, where it is not the body itself.
    within: Option<&'static str>,
}

impl<'a> Fields<'a> {
    pub(crate) const fn of(object: &'a Map<String, Value>) -> Self {
        Self {
            object,
            within: None,
        }
    }

    /// The fields of an object inside the body, named `within.field` in complaints.
    pub(crate) const fn inside(object: &'a Map<String, Value>, within: &'static str) -> Self {
        Self {
            object,
            within: Some(within),
        }
    }

    pub(crate) fn text(self, name: &str) -> Result<Option<&'a str>, Refusal> {
        self.read(name, "must be a string", Value::as_str)
    }

    /// A whole number; `2.0` and `"2"` are none.
    pub(crate) fn whole(self, name: &str) -> Result<Option<i64>, Refusal> {
        self.read(name, "must be a whole number", Value::as_i64)
    }

    pub(crate) fn number(self, name: &str) -> Result<Option<f64>, Refusal> {
        self.read(name, "must be a number", Value::as_f64)
    }

    pub(crate) fn flag(self, name: &str) -> Result<Option<bool>, Refusal> {
        self.read(name, "must be true or false", Value::as_bool)
    }

    pub(crate) fn object(self, name: &str) -> Result<Option<&'a Map<String, Value>>, Refusal> {
        self.read(name, "must be an object", Value::as_object)
    }

    pub(crate) fn texts(self, name: &str) -> Result<Option<Vec<&'a str>>, Refusal> {
        self.read(name, "must be an array of strings", |value| {
            value.as_array()?.iter().map(Value::as_str).collect()
        })
    }

    fn read<T>(
        self,
        name: &str,
        demand: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match read(value) {
                Some(value) => Ok(Some(value)),
                None => Err(Refusal::wrong_type(self.path(name), demand)),
            },
        }
    }

    fn path(self, name: &str) -> String {
        match self.within {
            Some(within) => format!("{within}.{name}"),
            None => name.to_owned(),
        }
    }
}

/// Complaints about a request's values, gathered so that all of them are named at once.
#[derive(Debug, Default)]
pub(crate) struct Complaints(Vec<(String, String)>);

impl Complaints {
    pub(crate) fn add(&mut self, field: &str, complaint: impl Into<String>) {
        self.0.push((field.to_owned(), complaint.into()));
    }

    /// The value of a field that has to be there, and not blank.
    pub(crate) fn required<'a>(&mut self, field: &str, value: Option<&'a str>) -> Option<&'a str> {
        let value = value.filter(|it| !it.trim().is_empty());
        if value.is_none() {
            self.add(field, "is required");
        }
        value
    }

    /// The moment that a field names, as RFC 3339 with an offset.
    pub(crate) fn moment(&mut self, field: &str, value: Option<&str>) -> Option<Timestamp> {
        let moment = value?.parse().ok();
        if moment.is_none() {
            self.add(
                field,
                "must be a time with an offset, as 2026-12-01T19:30:00+01:00",
            );
        }
        moment
    }

    /// The same, which has to be there and to lie ahead.
    pub(crate) fn future_moment(
        &mut self,
        field: &str,
        value: Option<&str>,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let value = self.required(field, value)?;
        let moment = self.moment(field, Some(value))?;
        if moment <= now {
            self.add(field, "must be in the future");
        }
        Some(moment)
    }

    /// How many guests: 1 to 20.
    pub(crate) fn party_size(&mut self, value: Option<i64>) -> Option<u8> {
        let size = value?;
        match u8::try_from(size) {
            Ok(size @ 1..=20) => Some(size),
            _ => {
                self.add("party_size", "must be 1 to 20");
                None
            }
        }
    }

    /// How many guests, which has to be said.
    pub(crate) fn required_party_size(&mut self, value: Option<i64>) -> Option<u8> {
        if value.is_none() {
            self.add("party_size", "is required");
        }
        self.party_size(value)
    }

    /// The value that was read without a complaint, else the refusal that names every complaint.
    pub(crate) fn settle<T>(self, value: Option<T>) -> Result<T, Refusal> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(Refusal::Invalid(self.0)),
        }
    }
}
