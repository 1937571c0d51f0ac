//! Writes JSON the way various libraries do, to find out which of them rewrote a body.

use std::io::{self, Write};

use serde_json::ser::Formatter;
use serde_json::{Map, Value};

/// The order of an event's fields ("Events", 4), to undo a sort.
const EVENT_FIELDS: &[&str] = &[
    "id",
    "object",
    "type",
    "created_at",
    "data",
    "status",
    "provider",
    "error_code",
    "error_message",
    "next_action",
    "last_modification",
    "message",
    "channel",
    "sent_to",
    "amount",
    "currency",
    "psp_request",
    "approval_id",
    "merchant",
    "fields",
    "expires_at",
    "at",
    "changes",
    "from",
    "to",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::webhook) enum KeyOrder {
    Unchanged,
    Event,
    Sorted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::webhook) enum Whitespace {
    /// `{"a":1,"b":2}`
    None,
    /// `{"a": 1, "b": 2}`, as Python writes it.
    Spaced,
    /// One member per line, indented by this per level.
    Lines(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::webhook) struct JsonStyle {
    pub(in crate::webhook) keys: KeyOrder,
    pub(in crate::webhook) whitespace: Whitespace,
    /// Writes characters beyond ASCII as `\uXXXX`.
    pub(in crate::webhook) ascii: bool,
    /// Writes `/` as `\/`, as PHP does.
    pub(in crate::webhook) slashes: bool,
    /// Writes `<`, `>` and `&` as `\u003c` and so on, as Go does.
    pub(in crate::webhook) markup: bool,
}

impl JsonStyle {
    /// All styles, the usual ones first.
    pub(in crate::webhook) fn all() -> impl Iterator<Item = JsonStyle> {
        let keys = [KeyOrder::Unchanged, KeyOrder::Event, KeyOrder::Sorted];
        let whitespace = [
            Whitespace::None,
            Whitespace::Spaced,
            Whitespace::Lines("  "),
            Whitespace::Lines("    "),
            Whitespace::Lines("\t"),
        ];
        let escapes = [
            (false, false, false),
            (true, false, false),
            (true, true, false),
            (false, true, false),
            (false, false, true),
        ];
        keys.into_iter().flat_map(move |keys| {
            whitespace.into_iter().flat_map(move |whitespace| {
                escapes
                    .into_iter()
                    .map(move |(ascii, slashes, markup)| JsonStyle {
                        keys,
                        whitespace,
                        ascii,
                        slashes,
                        markup,
                    })
            })
        })
    }

    /// The document in this style; `None` if it cannot be serialized.
    pub(in crate::webhook) fn write(self, document: &Value) -> Option<Vec<u8>> {
        let ordered;
        let document = match self.keys {
            KeyOrder::Unchanged => document,
            keys => {
                ordered = in_order(document, keys);
                &ordered
            }
        };
        let mut text = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut text, Writer::new(self));
        serde::Serialize::serialize(document, &mut serializer).ok()?;
        Some(text)
    }

    /// Describes the style, such as "without blanks, its keys sorted".
    pub(in crate::webhook) fn describe(self) -> String {
        let whitespace = match self.whitespace {
            Whitespace::None => "without spaces",
            Whitespace::Spaced => "with a space after each comma and colon",
            Whitespace::Lines("\t") => "on several lines, indented by tabs",
            Whitespace::Lines("    ") => "on several lines, indented by 4 spaces",
            Whitespace::Lines(_) => "on several lines, indented by 2 spaces",
        };
        let keys = match self.keys {
            KeyOrder::Unchanged => "",
            KeyOrder::Event => ", with its keys in the service's order",
            KeyOrder::Sorted => ", with sorted keys",
        };
        let ascii = match self.ascii {
            true => ", with \\u escapes",
            false => "",
        };
        let slashes = match self.slashes {
            true => ", with escaped slashes",
            false => "",
        };
        let markup = match self.markup {
            true => ", with <, > and & as \\u003c, \\u003e and \\u0026",
            false => "",
        };
        format!("{whitespace}{keys}{ascii}{slashes}{markup}")
    }
}

fn in_order(value: &Value, keys: KeyOrder) -> Value {
    match value {
        Value::Object(object) => {
            let mut members: Vec<(&String, &Value)> = object.iter().collect();
            match keys {
                KeyOrder::Sorted => members.sort_by_key(|(key, _)| *key),
                // Other keys follow in their own order.
                _ => members.sort_by_key(|(key, _)| {
                    let place = EVENT_FIELDS.iter().position(|it| it == key);
                    place.unwrap_or(EVENT_FIELDS.len())
                }),
            }
            let members = members
                .into_iter()
                .map(|(key, value)| (key.clone(), in_order(value, keys)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(|item| in_order(item, keys)).collect(),
        other => other.clone(),
    }
}

/// A [`Formatter`] with the style's whitespace and escapes.
struct Writer {
    style: JsonStyle,
    depth: usize,
    empty: bool,
}

impl Writer {
    fn new(style: JsonStyle) -> Self {
        Writer {
            style,
            depth: 0,
            empty: true,
        }
    }

    fn new_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        if let Whitespace::Lines(indent) = self.style.whitespace {
            writer.write_all(b"\n")?;
            for _ in 0..self.depth {
                writer.write_all(indent.as_bytes())?;
            }
        }
        Ok(())
    }

    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.empty = true;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        // An empty container stays on its line.
        if !self.empty {
            self.new_line(writer)?;
        }
        self.empty = false;
        writer.write_all(bracket)
    }

    fn next<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            let comma: &[u8] = match self.style.whitespace {
                Whitespace::Spaced => b", ",
                _ => b",",
            };
            writer.write_all(comma)?;
        }
        self.new_line(writer)
    }
}

impl Formatter for Writer {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.next(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.empty = false;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.next(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(match self.style.whitespace {
            Whitespace::None => b":",
            _ => b": ",
        })
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.empty = false;
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let JsonStyle {
            ascii,
            slashes,
            markup,
            ..
        } = self.style;
        if !(ascii || slashes || markup) {
            return writer.write_all(fragment.as_bytes());
        }
        for c in fragment.chars() {
            if c == '/' && slashes {
                writer.write_all(b"\\/")?;
            } else if (!c.is_ascii() && ascii)
                || (markup && matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}'))
            {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            } else {
                writer.write_all(c.encode_utf8(&mut [0; 4]).as_bytes())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(
        keys: KeyOrder,
        whitespace: Whitespace,
        ascii: bool,
        slashes: bool,
        it: &Value,
    ) -> String {
        let style = JsonStyle {
            keys,
            whitespace,
            ascii,
            slashes,
            markup: false,
        };
        String::from_utf8(style.write(it).unwrap()).unwrap()
    }

    // Python: json.dumps(document), json.dumps(document, indent=2, ensure_ascii=False), and with sort_keys=True;
    // PHP: json_encode($document).
    #[test]
    fn a_document_is_written_as_other_libraries_write_it() {
        let document = json!({"b": [1, {}, []], "a": "é/🌿\n", "id": null});
        let keep = KeyOrder::Unchanged;
        assert_eq!(
            written(keep, Whitespace::Spaced, true, false, &document),
            r#"{"b": [1, {}, []], "a": "\u00e9/\ud83c\udf3f\n", "id": null}"#
        );
        assert_eq!(
            written(keep, Whitespace::Lines("  "), false, false, &document),
            "{\n  \"b\": [\n    1,\n    {},\n    []\n  ],\n  \"a\": \"é/🌿\\n\",\n  \"id\": null\n}"
        );
        assert_eq!(
            written(KeyOrder::Sorted, Whitespace::None, true, true, &document),
            r#"{"a":"\u00e9\/\ud83c\udf3f\n","b":[1,{},[]],"id":null}"#
        );
        assert_eq!(
            written(KeyOrder::Event, Whitespace::None, false, false, &document),
            r#"{"id":null,"b":[1,{},[]],"a":"é/🌿\n"}"#
        );
    }

    // Go: json.Marshal(document).
    #[test]
    fn markup_is_escaped_as_go_escapes_it() {
        let go = JsonStyle::all().find(|style| style.markup).unwrap();
        let written = go.write(&json!({"a": "<é>&\u{2028}"})).unwrap();
        assert_eq!(
            String::from_utf8(written).unwrap(),
            r#"{"a":"\u003cé\u003e\u0026\u2028"}"#
        );
    }
}
