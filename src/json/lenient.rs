//! Accepts JSON that strict parsers refuse: half a surrogate pair, and a number that is too large for a double.
//!
//! One such value must not make the whole document unreadable. It is replaced for reading; the document's text stays
//! as received.

/// The same document with these two oddities replaced, as jq does. Text that is invalid in another way stays invalid.
pub(super) fn to_strict(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => string(rest, &mut out),
            '-' | '0'..='9' => number(rest, &mut out),
            _ => {
                out.push(c);
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    out
}

/// Copies a string. Returns the number of bytes read.
fn string(text: &str, out: &mut String) -> usize {
    let mut at = 1;
    out.push('"');
    while let Some(c) = text[at..].chars().next() {
        let length = match c {
            '\\' => escape(&text[at..], out),
            _ => {
                out.push(c);
                c.len_utf8()
            }
        };
        at += length;
        if c == '"' {
            break;
        }
    }
    at
}

/// Copies an escape, or both of a surrogate pair. Returns the number of bytes read.
fn escape(text: &str, out: &mut String) -> usize {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (length, read) = match (unit(0), unit(6)) {
        (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (12, &text[..12]),
        (Some(0xd800..0xe000), _) => (6, "\\ufffd"),
        _ => {
            // Copy the escaped character with its backslash, so that \" does not end the string.
            let length = 1 + text[1..].chars().next().map_or(0, char::len_utf8);
            (length, &text[..length])
        }
    };
    out.push_str(read);
    length
}

/// Copies a number. Returns the number of bytes read.
fn number(text: &str, out: &mut String) -> usize {
    let part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let length = text.find(|c| !part(c)).unwrap_or(text.len());
    let spelled = &text[..length];
    match spelled.parse::<f64>() {
        Ok(number) if number.is_infinite() => {
            out.push_str(if number > 0.0 {
                "1.7976931348623157e308"
            } else {
                "-1.7976931348623157e308"
            });
        }
        _ => out.push_str(spelled),
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arbitrary;
    use proptest::prelude::*;

    #[test]
    fn half_a_pair_and_a_number_beyond_all_are_replaced_and_nothing_else() {
        for (text, read) in [
            (
                r#"["\ud83d", "\udE00x", "\ud83d\ud83d\ude00"]"#,
                r#"["\ufffd", "\ufffdx", "\ufffd\ud83d\ude00"]"#,
            ),
            (
                r#"{"1e999": -1e999999, "b": [1E+400,1e5]}"#,
                r#"{"1e999": -1.7976931348623157e308, "b": [1.7976931348623157e308,1e5]}"#,
            ),
            (r#""\\ud83d \" \ud83""#, r#""\\ud83d \" \ud83""#),
            ("\"é\\", "\"é\\"),
        ] {
            assert_eq!(to_strict(text), read);
        }
    }

    proptest! {
        #[test]
        fn what_a_strict_reader_takes_stays_as_it_is(value in arbitrary::json()) {
            let text = value.to_string();
            prop_assert_eq!(to_strict(&text), text);
        }

        #[test]
        fn whatever_half_a_pair_stands_in_the_document_is_read(
            units in prop::collection::vec(prop_oneof![0xd700u16..0xe100, any::<u16>()], 0..8),
        ) {
            let escapes: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let read = to_strict(&format!("[\"{escapes}\"]"));
            prop_assert!(serde_json::from_str::<serde_json::Value>(&read).is_ok(), "{}", read);
        }

        #[test]
        fn what_is_no_json_is_none_afterwards_either(text in arbitrary::made_of(&["\"", "\\", "\\u", "d8", "00", "1e999", "[", ",", "é", "-"])) {
            let strict = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
            // Mending does nothing to what is whole, and never fails.
            prop_assert!(!strict(&text) || to_strict(&text) == text);
        }
    }
}
