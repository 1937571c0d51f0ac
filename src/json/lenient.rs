//! Reads JSON that strict parsers refuse or change: half a surrogate pair, a number that is too large for a double, and one
//! with more digits than a 64-bit integer or a double holds.
//!
//! One such value must not make the whole document unreadable, and an id must keep its digits, so such digits become a
//! text for reading. The document's text stays as received.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// The same document with these oddities replaced. Text that is invalid in another way stays invalid.
pub(super) fn to_strict(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut in_string) = (text, false);
    while let Some(c) = rest.chars().next() {
        let (length, read) = match c {
            '\\' if in_string => escape(rest),
            '-' | '0'..='9' if !in_string => number(rest),
            _ => (c.len_utf8(), Cow::Borrowed(&rest[..c.len_utf8()])),
        };
        in_string ^= c == '"';
        out.push_str(&read);
        rest = &rest[length..];
    }
    out
}

/// The length of an escape, or of both of a surrogate pair, and what stands for it.
fn escape(text: &str) -> (usize, Cow<'_, str>) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let length = match (unit(0), unit(6)) {
        (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
        (Some(0xd800..0xe000), _) => return (6, Cow::Borrowed("\\ufffd")),
        // The escaped character belongs to it, so that \" does not end the string.
        _ => 1 + text[1..].chars().next().map_or(0, char::len_utf8),
    };
    (length, Cow::Borrowed(&text[..length]))
}

/// The length of a number, and what stands for it: a text where reading it would change it.
fn number(text: &str) -> (usize, Cow<'_, str>) {
    let part = text.bytes();
    let part = part.take_while(|it| it.is_ascii_digit() || b"+-.eE".contains(it));
    let length = part.count();
    let spelled = &text[..length];
    let is_number = || serde_json::from_str::<&RawValue>(spelled).is_ok();
    let read = if keeps_its_digits(spelled) || !is_number() {
        Cow::Borrowed(spelled)
    } else {
        format!("\"{spelled}\"").into()
    };
    (length, read)
}

/// Whether a number is read as it is spelled, apart from zeros at its end and the form of its exponent.
fn keeps_its_digits(spelled: &str) -> bool {
    if !spelled.contains(['.', 'e', 'E']) {
        return spelled.parse::<i64>().is_ok() || spelled.parse::<u64>().is_ok();
    }
    let digits = |text: &str| {
        let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        digits.trim_matches('0').to_owned()
    };
    match spelled.parse::<f64>() {
        Ok(number) => number.is_finite() && digits(spelled) == digits(&format!("{number:e}")),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arbitrary;
    use proptest::prelude::*;

    #[test]
    fn half_a_pair_and_a_number_that_loses_digits_are_replaced_and_nothing_else() {
        for (text, read) in [
            (
                r#"["\ud83d", "\udE00x", "\ud83d\ud83d\ude00"]"#,
                r#"["\ufffd", "\ufffdx", "\ufffd\ud83d\ude00"]"#,
            ),
            (
                r#"{"1e999": -1e999999, "b": [1E+400,1e5]}"#,
                r#"{"1e999": "-1e999999", "b": ["1E+400",1e5]}"#,
            ),
            (
                "[18446744073709551615,18446744073709551616,-9223372036854775809,12345678901234567.5]",
                r#"[18446744073709551615,"18446744073709551616","-9223372036854775809","12345678901234567.5"]"#,
            ),
            ("[0.1,35.689487123456789,1.500,01e999]", r#"[0.1,"35.689487123456789",1.500,01e999]"#),
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
        fn what_is_no_json_is_none_afterwards_either(text in arbitrary::made_of(&["\"", "\\", "\\u", "d8", "00", "1e999", "[", ",", "é", "-"])) {
            let strict = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
            // Mending does nothing to what is whole, and never fails.
            prop_assert!(!strict(&text) || to_strict(&text) == text);
        }
    }
}
