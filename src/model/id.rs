//! Ids as arguments. An id becomes a segment of a path, so it can be neither empty nor consist of dots.

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
