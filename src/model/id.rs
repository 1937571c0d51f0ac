//! An id as an argument: it becomes one segment of a path, which nothing and dots alone cannot be.

/// Reads a booking's or a session's id; whether there is one is the service's to say.
pub(crate) fn id(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty, and no id is".to_owned()),
        "." | ".." => Err("it is a folder, and no id".to_owned()),
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
