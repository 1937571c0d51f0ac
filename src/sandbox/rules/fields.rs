//! Reads JSON bodies: first their types, then their values.

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::api_error::{ApiError, Result};

pub(crate) fn parse_body(body: &[u8]) -> Result<Map<String, Value>> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(ApiError::wrong_type("body", "must be a JSON object")),
        Err(error) => Err(ApiError::wrong_type("body", &format!("is not valid JSON: {error}"))),
    }
}

/// Reads the fields of a body of the service. The error names the first of a wrong type.
pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    // To look for the mistake is worth its price only where there is one. A list would be read as
    // the values of the fields.
    let text = std::str::from_utf8(body).unwrap_or_default().trim_start();
    if text.starts_with('{')
        && let Ok(read) = serde_json::from_str(text)
    {
        return Ok(read);
    }
    serde_path_to_error::deserialize(&parse_body(body)?).map_err(|error| {
        let field = error.path().to_string();
        ApiError::wrong_type(&field, &in_words(error.inner()))
    })
}

/// Reads a control's body, in which every field must be known. The error names the first.
pub(crate) fn typed<T: DeserializeOwned>(body: &Value) -> Result<T> {
    serde_path_to_error::deserialize(body).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { "body" } else { &path };
        ApiError::invalid(field, format!("is not understood: {}", in_words(error.inner())))
    })
}

/// What is wrong with a type, in JSON's words instead of those of this program.
fn in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(", expected ") {
        Some((came, wanted)) if wanted.starts_with("struct ") => {
            format!("{came}, expected an object")
        }
        Some((came, "f64" | "u64" | "u32" | "u16" | "i64")) => format!("{came}, expected a number"),
        _ => text,
    }
}

/// A whole number, clamped to 64 bits. JSON has `2.0` for `2`, so both are accepted.
pub(crate) fn whole<'de, D: Deserializer<'de>>(source: D) -> Result<Option<i64>, D::Error> {
    let whole = |number: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
        (number.fract() == 0.0).then_some(number as i64)
    };
    let value = Value::deserialize(source)?;
    match value.as_i64().or_else(|| value.as_f64().and_then(whole)) {
        None if !value.is_null() => Err(D::Error::custom("must be a whole number")),
        number => Ok(number),
    }
}

/// Errors about the values of a request, collected so that the response names all of them.
#[derive(Debug, Default)]
pub(crate) struct FieldErrors(Vec<(String, String)>);

impl FieldErrors {
    pub(crate) fn add(&mut self, field: &str, message: impl Into<String>) {
        self.0.push((field.to_owned(), message.into()));
    }

    /// The value of a required field. It must not be blank; after an error it is.
    pub(crate) fn required(&mut self, field: &str, value: Option<String>) -> String {
        let value = value.unwrap_or_default();
        if value.trim().is_empty() {
            self.add(field, "is required");
        }
        value
    }

    /// What `parse` makes of a value that may be left out; `None` also after an error.
    pub(crate) fn parsed<S, T>(
        &mut self,
        field: &str,
        value: Option<S>,
        parse: impl FnOnce(S) -> Option<T>,
        demand: &str,
    ) -> Option<T> {
        let parsed = parse(value?);
        if parsed.is_none() {
            self.add(field, demand);
        }
        parsed
    }

    pub(crate) fn moment(&mut self, field: &str, value: &str) -> Timestamp {
        let demand = "must be a time with an offset, as 2026-12-01T19:30:00+01:00";
        self.parsed(field, Some(value), rfc3339, demand).unwrap_or(Timestamp::MAX)
    }

    /// Reads a required time, which must be in the future.
    pub(crate) fn future_moment(
        &mut self,
        field: &str,
        value: Option<String>,
        now: Timestamp,
    ) -> Timestamp {
        let value = self.required(field, value);
        if value.trim().is_empty() {
            return now;
        }
        let moment = self.moment(field, &value);
        if moment <= now {
            self.add(field, "must be in the future");
        }
        moment
    }

    pub(crate) fn party_size(&mut self, value: Option<i64>) -> Option<u8> {
        let size = |it| u8::try_from(it).ok().filter(|it| (1..=20).contains(it));
        self.parsed("party_size", value, size, "must be 1 to 20")
    }

    pub(crate) fn required_party_size(&mut self, value: Option<i64>) -> u8 {
        if value.is_none() {
            self.add("party_size", "is required");
        }
        self.party_size(value).unwrap_or_default()
    }

    /// The response that names all errors, if there were some.
    pub(crate) fn finish(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(ApiError::all_invalid(self.0)) }
    }
}

/// Parses RFC 3339 strictly: jiff also reads other separators, missing seconds, and zones.
pub(crate) fn rfc3339(text: &str) -> Option<Timestamp> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let (moment, rest) = text.split_at_checked(SHAPE.len())?;
    let is_shaped = moment.bytes().zip(SHAPE).all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte.eq_ignore_ascii_case(shape),
    });
    let offset = rest.trim_start_matches(|it: char| it == '.' || it.is_ascii_digit());
    let is_offset = match offset.as_bytes() {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', hours @ .., b':', _, _] => hours.len() == 2 && hours < b"24".as_slice(),
        _ => false,
    };
    let is_strict = is_shaped && is_offset;
    is_strict.then(|| text.parse().ok()).flatten()
}

/// Parses a duration by which the sandbox's clock is moved ahead, as `21m`, `1h30m` or `2d`: a
/// second to ten years.
pub(crate) fn parse_advance(text: &str) -> Option<SignedDuration> {
    const LONGEST: i64 = 10 * 366 * 86_400;
    let span: Span = text.trim().parse().ok()?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    let is_possible = duration.as_secs() >= 1 && duration <= SignedDuration::from_secs(LONGEST);
    is_possible.then_some(duration)
}

/// The known name that is likely meant by one that is not.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let came = plain(name);
    let nearest = known.map(|it| (strsim::damerau_levenshtein(&came, &plain(it)), it)).min();
    nearest.filter(|(distance, it)| *distance <= it.len() / 3).map(|(_, it)| it)
}

/// A name without case and separators.
fn plain(name: &str) -> String {
    name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
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
        for value in [json!(2), json!(2.0), json!(2e0)] {
            assert_eq!(whole(value).unwrap(), Some(2));
        }
        assert_eq!(whole(json!(1e300)).unwrap(), Some(i64::MAX));
        assert_eq!(whole(json!(u64::MAX)).unwrap(), Some(i64::MAX));
        assert_eq!(whole(Value::Null).unwrap(), None);
        for value in [json!(2.5), json!("2"), json!(true)] {
            assert!(whole(value).is_err());
        }
    }

    #[test]
    fn the_clock_moves_by_a_second_to_ten_years() {
        let seconds = |text| parse_advance(text).map(|it| it.as_secs());
        for (text, expected) in [
            ("21m", 1_260),
            ("1h30m", 5_400),
            ("2d", 172_800),
            (" 1d 2h 3m 4s ", 93_784),
            ("3660d", 3_660 * 86_400),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in ["", "0s", "-5m", "5", "m", "30m1h", "1h1h", "soon", "3661d", "3660d1s"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
