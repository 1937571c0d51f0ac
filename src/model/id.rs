//! Ids as arguments and in documents. An id becomes a segment of a path, so it can be neither empty nor consist of dots.

use serde_json::Value;

/// The text of an id in a document: a text that is not empty, or a number.
pub(crate) fn token(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => (!text.is_empty()).then(|| text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Parses the id of a booking or a session. Only the service knows whether it exists.
pub(crate) fn id(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("an id cannot be empty".to_owned()),
        "." | ".." => Err("it is not an id".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::id;

    #[test]
    fn nothing_and_dots_are_no_id() {
        for text in ["", " ", "\t", ".", ".."] {
            assert!(id(text).is_err(), "{text:?}");
        }
        for text in ["bk_1", "...", "@1", "a b"] {
            assert_eq!(id(text).as_deref(), Ok(text));
        }
    }
}
