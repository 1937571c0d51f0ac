//! A JSON document as it was received: its text for `--json`, its value for reading.

use std::sync::{Arc, OnceLock};

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A document. Keeps unknown fields, key order, duplicates and number spelling. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Document(Arc<Parts>);

/// One of the two is set, and the other is made of it when it is needed.
#[derive(Debug, Default)]
struct Parts {
    text: OnceLock<String>,
    value: OnceLock<Value>,
}

/// A text that is not JSON, and why.
#[derive(Debug)]
pub(crate) struct Unread {
    pub(crate) text: String,
    pub(crate) why: String,
}

impl Document {
    /// Parses a JSON text of another program.
    pub(crate) fn parse(text: String) -> Result<Self, Unread> {
        match parsed(&text) {
            Ok(value) => Ok(Document(Arc::new(Parts { text: text.into(), value: value.into() }))),
            Err(why) => Err(Unread { text, why }),
        }
    }

    /// A text that is valid JSON.
    fn from_valid_text(text: String) -> Self {
        Document(Arc::new(Parts { text: text.into(), ..Parts::default() }))
    }

    /// The JSON of a value of ours.
    pub(crate) fn serialized(value: &impl Serialize) -> Self {
        Document::from_valid_text(
            serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()),
        )
    }

    /// The text as received.
    pub(crate) fn text(&self) -> &str {
        self.0.text.get_or_init(|| self.value().to_string())
    }

    pub(crate) fn value(&self) -> &Value {
        let text = || self.0.text.get().map(|text| parsed(text).unwrap_or_default());
        self.0.value.get_or_init(|| text().unwrap_or_default())
    }

    /// Several documents as one array, each unchanged.
    pub(crate) fn array<'a>(documents: impl Iterator<Item = &'a Document>) -> Self {
        let texts: Vec<&str> = documents.map(Document::text).collect();
        Document::from_valid_text(format!("[{}]", texts.join(",")))
    }

    /// Documents as the members of an object, each unchanged.
    pub(crate) fn object(members: &[(&str, &Document)]) -> Self {
        let member =
            |(name, it): &(&str, &Document)| format!("{}:{}", Value::from(*name), it.text());
        let texts: Vec<String> = members.iter().map(member).collect();
        Document::from_valid_text(format!("{{{}}}", texts.join(",")))
    }

    /// An object that has members, with one more at its end.
    pub(crate) fn with(&self, name: &str, member: &Document) -> Self {
        let before = self.text().trim_end().trim_end_matches('}');
        Document::from_valid_text(format!("{before},{}:{}}}", Value::from(name), member.text()))
    }

    /// A string field of the top-level object.
    pub(crate) fn str(&self, key: &str) -> Option<&str> {
        self.value().get(key).and_then(Value::as_str)
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(self.text()).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// The value of a JSON text of another program. Half of a surrogate pair in it is read as U+FFFD.
/// The error says why the text is not JSON.
pub(crate) fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text)
        .or_else(|error| serde_json::from_str(&with_whole_pairs(text)).map_err(|_| error))
        .map_err(|error| why_unread(text, &error))
}

fn why_unread(text: &str, error: &serde_json::Error) -> String {
    let at = format!("line {}, column {}", error.line(), error.column());
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let before = line.get(..error.column()).unwrap_or(line);
    let rest = before.rfind(['N', 'I', 'n']).map_or("", |start| &line[start..]);
    let word: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
    let reason = error.to_string();
    match word.as_str() {
        "NaN" | "nan" | "Infinity" | "Inf" | "inf" => format!("JSON has no `{word}` ({at})"),
        _ if reason.starts_with("recursion limit") => {
            format!("it is nested in more than 127 levels ({at})")
        }
        _ if reason.starts_with("trailing characters") => {
            format!("more follows after the JSON document ({at})")
        }
        _ if text.trim().is_empty() => "it is empty".to_owned(),
        _ => format!("it is not JSON ({at})"),
    }
}

/// The text with each escape that is half of a surrogate pair replaced.
fn with_whole_pairs(text: &str) -> String {
    let unit = |at: usize| u16::from_str_radix(text.get(at..at + 6)?.strip_prefix("\\u")?, 16).ok();
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    while let Some(c) = text[at..].chars().next() {
        let (length, is_half) = match (c, unit(at), unit(at + 6)) {
            ('\\', Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (12, false),
            ('\\', Some(0xd800..0xe000), _) => (6, true),
            ('\\', ..) => (1 + text[at + 1..].chars().next().map_or(0, char::len_utf8), false),
            _ => (c.len_utf8(), false),
        };
        out.push_str(if is_half { "\\ufffd" } else { &text[at..at + length] });
        at += length;
    }
    out
}

impl From<Value> for Document {
    fn from(value: Value) -> Self {
        Document(Arc::new(Parts { value: value.into(), ..Parts::default() }))
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

/// A character as escapes of a JSON text.
pub(crate) fn escape(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// A scalar for a person: a string without quotes, anything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arbitrary;
    use proptest::prelude::*;

    #[test]
    fn a_number_keeps_its_spelling_and_half_a_pair_is_read() {
        for (text, read) in [
            (
                r#"["\ud83d", "\udE00x", "\ud83d\ud83d\ude00"]"#,
                "[\"\u{fffd}\",\"\u{fffd}x\",\"\u{fffd}😀\"]",
            ),
            (r#"{"a": -1e+999, "b": [1.10]}"#, r#"{"a":-1e+999,"b":[1.10]}"#),
            (
                "[18446744073709551616,12345678901234567.5]",
                "[18446744073709551616,12345678901234567.5]",
            ),
        ] {
            let document = Document::parse(text.to_owned()).unwrap();
            assert_eq!(document.value().to_string().to_lowercase(), read.to_lowercase());
            assert_eq!(document.text(), text);
        }
    }

    #[test]
    fn a_text_that_is_not_json_says_why() {
        let deep = "[".repeat(400) + &"]".repeat(400);
        for (text, why) in [
            (r#"{"price": NaN}"#, "JSON has no `NaN` (line 1"),
            ("[1,\n-Infinity]", "JSON has no `Infinity` (line 2"),
            (&*deep, "127 levels"),
            ("{} <!-- -->", "more follows"),
            (" ", "it is empty"),
            ("<html>", "it is not JSON (line 1"),
        ] {
            let unread = Document::parse(text.to_owned()).unwrap_err();
            assert!(unread.why.contains(why), "{text}: {}", unread.why);
        }
    }

    proptest! {
        #[test]
        fn what_is_valid_is_read_as_it_is(value in arbitrary::json()) {
            prop_assert_eq!(parsed(&value.to_string()).unwrap(), value);
        }

        #[test]
        fn no_text_breaks_the_reader(text in arbitrary::made_of(&["\"", "\\", "\\u", "d8", "00", "1e999", "[", ",", "é", "N", "NaN", "\n"])) {
            let strict = serde_json::from_str::<Value>(&text).is_ok();
            prop_assert!(parsed(&text).is_ok() || !strict);
        }
    }
}
