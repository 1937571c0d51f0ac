//! Reads the fields of a JSON body, with the error of the specification for a wrong type.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::api_error::ApiError;

/// Parses a request body. An empty one has no fields.
pub(crate) fn parse_body(body: &[u8]) -> Result<Map<String, Value>, ApiError> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(ApiError::wrong_type("body", "must be a JSON object")),
        Err(error) => Err(ApiError::wrong_type(
            "body",
            format!("is not valid JSON: {error}"),
        )),
    }
}

/// Reads the body of a control, in which every field must be known. The error names the first wrong one.
pub(crate) fn typed<T: DeserializeOwned>(body: &Value) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(body).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { "body" } else { &path };
        ApiError::invalid(field, format!("is not understood: {}", error.inner()))
    })
}

/// The fields of a JSON object. `null` counts as absent; a wrong type is an error.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    object: &'a Map<String, Value>,
    /// The field that holds the object; `None` for the body itself.
    within: Option<&'static str>,
}

impl<'a> Fields<'a> {
    pub(crate) const fn of(object: &'a Map<String, Value>) -> Self {
        Self {
            object,
            within: None,
        }
    }

    /// The fields of an object inside the body, which errors name `within.field`.
    pub(crate) const fn inside(object: &'a Map<String, Value>, within: &'static str) -> Self {
        Self {
            object,
            within: Some(within),
        }
    }

    /// A string field; `None` if it is absent or `null`.
    pub(crate) fn text(self, name: &str) -> Result<Option<&'a str>, ApiError> {
        self.read(name, "must be a string", Value::as_str)
    }

    /// A whole number. JSON does not distinguish `2.0` from `2`, so both are accepted.
    pub(crate) fn whole(self, name: &str) -> Result<Option<i64>, ApiError> {
        self.read(name, "must be a whole number", whole)
    }

    /// A number field; `None` if it is absent or `null`.
    pub(crate) fn number(self, name: &str) -> Result<Option<f64>, ApiError> {
        self.read(name, "must be a number", Value::as_f64)
    }

    /// A boolean field; `None` if it is absent or `null`.
    pub(crate) fn flag(self, name: &str) -> Result<Option<bool>, ApiError> {
        self.read(name, "must be true or false", Value::as_bool)
    }

    /// An object field; `None` if it is absent or `null`.
    pub(crate) fn object(self, name: &str) -> Result<Option<&'a Map<String, Value>>, ApiError> {
        self.read(name, "must be an object", Value::as_object)
    }

    /// A field that is a list of strings; `None` if it is absent or `null`.
    pub(crate) fn texts(self, name: &str) -> Result<Option<Vec<&'a str>>, ApiError> {
        self.read(name, "must be an array of strings", |value| {
            value.as_array()?.iter().map(Value::as_str).collect()
        })
    }

    fn read<T>(
        self,
        name: &str,
        demand: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match read(value) {
                Some(value) => Ok(Some(value)),
                None => Err(ApiError::wrong_type(self.path(name), demand)),
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

/// The value as a whole number, clamped to 64 bits.
pub(crate) fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let number = value.as_f64().filter(|it| it.fract() == 0.0)?;
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
        Some(number as i64)
    })
}

/// Errors about the values of a request, collected so that the response names all of them.
#[derive(Debug, Default)]
pub(crate) struct FieldErrors(Vec<(String, String)>);

impl FieldErrors {
    pub(crate) fn add(&mut self, field: &str, message: impl Into<String>) {
        self.0.push((field.to_owned(), message.into()));
    }

    /// The value of a required field. It must not be blank.
    pub(crate) fn required<T: AsRef<str>>(&mut self, field: &str, value: Option<T>) -> Option<T> {
        let value = value.filter(|it| !it.as_ref().trim().is_empty());
        if value.is_none() {
            self.add(field, "is required");
        }
        value
    }

    /// The time in a field, as RFC 3339 with an offset.
    pub(crate) fn moment(&mut self, field: &str, value: Option<&str>) -> Option<Timestamp> {
        let moment = rfc3339(value?);
        if moment.is_none() {
            self.add(
                field,
                "must be a time with an offset, as 2026-12-01T19:30:00+01:00",
            );
        }
        moment
    }

    /// The same for a required field; the time must be in the future.
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

    /// The number of guests, 1 to 20.
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

    /// The same for a required field.
    pub(crate) fn required_party_size(&mut self, value: Option<i64>) -> Option<u8> {
        if value.is_none() {
            self.add("party_size", "is required");
        }
        self.party_size(value)
    }

    /// The value if there were no errors, else the response that names all of them.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, ApiError> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(ApiError::Invalid(self.0)),
        }
    }
}

/// Parses RFC 3339 strictly: a date alone or the name of a zone is rejected. Digits beyond the
/// nanosecond are dropped.
pub(crate) fn rfc3339(text: &str) -> Option<Timestamp> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let (moment, rest) = text.split_at_checked(SHAPE.len())?;
    let is_shaped = moment.bytes().zip(SHAPE).all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte.eq_ignore_ascii_case(shape),
    });
    let (fraction, offset) = match rest.strip_prefix('.') {
        None => ("", rest),
        Some(rest) => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            rest.split_at_checked(digits).filter(|_| digits > 0)?
        }
    };
    let is_offset = match offset.as_bytes() {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', tens, ones, b':', minutes @ ..] => {
            let is_hour = matches!(
                (tens, ones),
                (b'0' | b'1', b'0'..=b'9') | (b'2', b'0'..=b'3')
            );
            is_hour && matches!(minutes, [b'0'..=b'5', b'0'..=b'9'])
        }
        _ => false,
    };
    if !is_shaped || !is_offset {
        return None;
    }
    match fraction.get(..9) {
        Some(nanoseconds) => format!("{moment}.{nanoseconds}{offset}").parse().ok(),
        None => text.parse().ok(),
    }
}

pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let came = plain(name);
    let nearest = known
        .map(|it| (strsim::damerau_levenshtein(&came, &plain(it)), it))
        .min();
    let nearest = nearest.filter(|(distance, it)| *distance <= it.len() / 3);
    nearest.map(|(_, it)| it)
}

/// A name without case and separators.
fn plain(name: &str) -> String {
    let name = name.chars().filter(|it| it.is_alphanumeric());
    name.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_moment_is_read_as_rfc_3339_writes_it_and_in_no_other_way() {
        let noon: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        for text in [
            "2026-12-01T12:00:00Z",
            "2026-12-01t12:00:00z",
            "2026-12-01T12:00:00.0Z",
            "2026-12-01T12:00:00.00000000000000000001Z",
            "2026-12-01T12:00:00-00:00",
            "2026-12-02T11:59:00+23:59",
        ] {
            assert_eq!(rfc3339(text), Some(noon), "{text}");
        }
        assert!(rfc3339("0000-01-01T00:00:00Z").is_some());
        for text in [
            "",
            "2026-12-01",
            "2026-12-01T12:00Z",
            "2026-12-01T12:00:00",
            "2026-12-01 12:00:00Z",
            "2026-12-01T12:00:00.Z",
            "2026-12-01T12:00:00,5Z",
            "2026-12-01T12:00:00+01",
            "2026-12-01T12:00:00+0100",
            "2026-12-01T12:00:00+24:00",
            "2026-12-01T12:00:00+01:00[Europe/Paris]",
            "2026-12-01T12:00:00Z ",
            "20261201T120000Z",
            "-002026-12-01T12:00:00Z",
            "2026-02-30T12:00:00Z",
            "2026-12-01T12:00:0\u{e9}Z",
        ] {
            assert_eq!(rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn a_whole_number_is_one_however_it_is_written() {
        let read = |value: Value| whole(&value);
        for value in [json!(2), json!(2.0), json!(2e0)] {
            assert_eq!(read(value), Some(2));
        }
        assert_eq!(read(json!(1e300)), Some(i64::MAX));
        assert_eq!(read(json!(u64::MAX)), Some(i64::MAX));
        for value in [json!(2.5), json!("2"), json!(true)] {
            assert_eq!(read(value), None);
        }
    }
}
