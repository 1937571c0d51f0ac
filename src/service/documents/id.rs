//! Ids as arguments and in documents: segments of a path, and words of commands.

use serde_json::Value;

use crate::json::plain;

/// The most bytes of an id. A longer text is something else, and would not fit in an address.
const LONGEST: usize = 1024;

/// Whether a value of a document can be an id: a number, or one line of text that is neither blank,
/// nor the dots of a path, nor `@1` or `@last`, which name a row of a list in a command.
pub(crate) fn is_id(value: &Value) -> bool {
    let is_usable = |text: &str| {
        text.len() <= LONGEST
            && !text.contains(char::is_control)
            && !text.starts_with('@')
            && !matches!(text.trim(), "" | "." | "..")
    };
    value.as_str().map_or(value.is_number(), is_usable)
}

pub(crate) fn id_in(value: &Value) -> Option<String> {
    is_id(value).then(|| plain(value))
}

/// A short text that is not empty, or a number.
pub(crate) fn token(value: &Value) -> Option<String> {
    let is_short = |text: &str| (1..=LONGEST).contains(&text.len());
    value.as_str().map_or(value.is_number(), is_short).then(|| plain(value))
}

/// Whether two ids differ at most in their form: in case, in how a whole number is written, or in
/// what leads to the id (`urn:booking:7`, `https://x.example/bookings/7`).
pub(crate) fn same_id(one: &str, other: &str) -> bool {
    let id_of = |text: &str| {
        let id = text.trim().trim_end_matches('/');
        id.strip_suffix(".0").unwrap_or(id).to_lowercase()
    };
    let (one, other) = (id_of(one), id_of(other));
    let is_led_to = |long: &str, id: &str| {
        long.strip_suffix(id).is_some_and(|lead| lead.ends_with(['/', ':', '#', '=']))
    };
    one == other || is_led_to(&one, &other) || is_led_to(&other, &one)
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
    use super::{id, id_in, same_id};
    use serde_json::json;

    #[test]
    fn a_text_that_is_long_blank_or_has_several_lines_is_no_id() {
        assert!(id_in(&json!("x".repeat(1024))).is_some());
        assert_eq!(id_in(&json!("x".repeat(1025))), None);
        for none in "| |.|..|bk_1\nx|bk_\u{1b}[2J|\u{85}|@1|@last".split('|') {
            assert_eq!(id_in(&json!(none)), None, "{none:?}");
        }
        for id in ["-x", "--yes", "../x", "a/b", "..."] {
            assert_eq!(id_in(&json!(id)).as_deref(), Some(id));
        }
    }

    #[test]
    fn id_is_equal_in_another_form_only() {
        let address = "https://a.example/v1/bookings/bk_1";
        let forms =
            [("7", "7.0"), ("BK_1", "bk_1"), ("bk_1", "urn:booking:bk_1"), (address, "bk_1")];
        for (one, other) in forms {
            assert!(same_id(one, other), "{one} {other}");
        }
        let long = ("123456789012345678901", "123456789012345678902");
        let led = [("urn:booking:bk_2", "bk_1"), ("resy:17", "opentable:17"), ("a:7", "b:a:8")];
        for (one, other) in
            [("bk_1", "bk_11"), ("bk_1", "1"), ("7", "8"), long].into_iter().chain(led)
        {
            assert!(!same_id(one, other), "{one} {other}");
        }
    }

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
