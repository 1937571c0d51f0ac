//! A field of a document: three cases of one type, so that no caller can forget the third.

use serde_json::Value;

use crate::json::plain;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FieldValue<T> {
    Absent,
    Read(T),
    /// It came, with this text, in a form that bookctl does not read.
    NotUnderstood(String),
}

impl<T> FieldValue<T> {
    pub(crate) fn from_value(
        value: Option<&Value>,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Self {
        let Some(value) = value.filter(|it| !plain(it).trim().is_empty()) else {
            return FieldValue::Absent;
        };
        read(value).map_or_else(|| FieldValue::NotUnderstood(plain(value)), FieldValue::Read)
    }

    pub(crate) fn read(&self) -> Option<&T> {
        match self {
            FieldValue::Read(value) => Some(value),
            FieldValue::Absent | FieldValue::NotUnderstood(_) => None,
        }
    }
}

/// How a field of a booking compares with what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    Same,
    /// With the text that the booking shows.
    Differs(String),
    NotShown,
    NotUnderstood(String),
}

/// A whole number, also as text or with an empty fraction.
pub(crate) fn count(value: &Value) -> Option<u32> {
    let text = plain(value);
    let text = text.trim();
    text.strip_suffix(".0").unwrap_or(text).parse().ok()
}
