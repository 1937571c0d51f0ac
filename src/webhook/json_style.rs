//! The ways in which JSON libraries write the same document: what becomes of a body that is parsed and written again.

use std::io::{self, Write};

use serde_json::ser::Formatter;
use serde_json::{Map, Value};

/// The order in which an event and its summary name their fields ("Events", 4): an order that sorting loses.
const ORDER_OF_EVENTS: &[&str] = &[
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

/// The order of an object's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    AsTheyAre,
    AsInEvents,
    Sorted,
}

/// The blanks between tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blanks {
    /// `{"a":1,"b":2}`
    None,
    /// `{"a": 1, "b": 2}`, as Python writes it.
    Spaced,
    /// A member a line, each level indented by this.
    Lines(&'static str),
}

/// One way to write JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) keys: Keys,
    pub(super) blanks: Blanks,
    /// Everything beyond ASCII as `\uXXXX`.
    pub(super) ascii: bool,
    /// `/` as `\/`, as PHP writes it.
    pub(super) slashes: bool,
    /// `<`, `>` and `&` as `\u003c` and so on, as Go writes them.
    pub(super) markup: bool,
}

impl Style {
    /// Every style that is known, the usual ones first.
    pub(super) fn all() -> impl Iterator<Item = Style> {
        let keys = [Keys::AsTheyAre, Keys::AsInEvents, Keys::Sorted];
        let blanks = [
            Blanks::None,
            Blanks::Spaced,
            Blanks::Lines("  "),
            Blanks::Lines("    "),
            Blanks::Lines("\t"),
        ];
        let escapes = [
            (false, false, false),
            (true, false, false),
            (true, true, false),
            (false, true, false),
            (false, false, true),
        ];
        keys.into_iter().flat_map(move |keys| {
            blanks.into_iter().flat_map(move |blanks| {
                escapes
                    .into_iter()
                    .map(move |(ascii, slashes, markup)| Style {
                        keys,
                        blanks,
                        ascii,
                        slashes,
                        markup,
                    })
            })
        })
    }

    /// The document in this style; `None` where it cannot be written.
    pub(super) fn write(self, document: &Value) -> Option<Vec<u8>> {
        let ordered;
        let document = match self.keys {
            Keys::AsTheyAre => document,
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

    /// What the style is, in words.
    pub(super) fn words(self) -> String {
        let blanks = match self.blanks {
            Blanks::None => "without blanks",
            Blanks::Spaced => "with a blank after each comma and colon",
            Blanks::Lines("\t") => "a member a line, indented by tabs",
            Blanks::Lines("    ") => "a member a line, indented by 4",
            Blanks::Lines(_) => "a member a line, indented by 2",
        };
        let keys = match self.keys {
            Keys::AsTheyAre => "",
            Keys::AsInEvents => ", its keys in the service's order",
            Keys::Sorted => ", its keys sorted",
        };
        let ascii = match self.ascii {
            true => ", non-ASCII text as \\u escapes",
            false => "",
        };
        let slashes = match self.slashes {
            true => ", slashes escaped",
            false => "",
        };
        let markup = match self.markup {
            true => ", <, > and & as \\u003c, \\u003e and \\u0026",
            false => "",
        };
        format!("{blanks}{keys}{ascii}{slashes}{markup}")
    }
}

fn in_order(value: &Value, keys: Keys) -> Value {
    match value {
        Value::Object(object) => {
            let mut members: Vec<(&String, &Value)> = object.iter().collect();
            match keys {
                Keys::Sorted => members.sort_by_key(|(key, _)| *key),
                // What has no place keeps its own, behind those that have one.
                _ => members.sort_by_key(|(key, _)| {
                    let place = ORDER_OF_EVENTS.iter().position(|it| it == key);
                    place.unwrap_or(ORDER_OF_EVENTS.len())
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

/// serde_json's serializer with the style's blanks and escapes.
struct Writer {
    style: Style,
    depth: usize,
    empty: bool,
}

impl Writer {
    fn new(style: Style) -> Self {
        Writer {
            style,
            depth: 0,
            empty: true,
        }
    }

    fn new_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        if let Blanks::Lines(indent) = self.style.blanks {
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
            let comma: &[u8] = match self.style.blanks {
                Blanks::Spaced => b", ",
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
        writer.write_all(match self.style.blanks {
            Blanks::None => b":",
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
        let Style {
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

    fn written(keys: Keys, blanks: Blanks, ascii: bool, slashes: bool, it: &Value) -> String {
        let style = Style {
            keys,
            blanks,
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
        let keep = Keys::AsTheyAre;
        assert_eq!(
            written(keep, Blanks::Spaced, true, false, &document),
            r#"{"b": [1, {}, []], "a": "\u00e9/\ud83c\udf3f\n", "id": null}"#
        );
        assert_eq!(
            written(keep, Blanks::Lines("  "), false, false, &document),
            "{\n  \"b\": [\n    1,\n    {},\n    []\n  ],\n  \"a\": \"é/🌿\\n\",\n  \"id\": null\n}"
        );
        assert_eq!(
            written(Keys::Sorted, Blanks::None, true, true, &document),
            r#"{"a":"\u00e9\/\ud83c\udf3f\n","b":[1,{},[]],"id":null}"#
        );
        assert_eq!(
            written(Keys::AsInEvents, Blanks::None, false, false, &document),
            r#"{"id":null,"b":[1,{},[]],"a":"é/🌿\n"}"#
        );
    }

    // Go: json.Marshal(document).
    #[test]
    fn markup_is_escaped_as_go_escapes_it() {
        let go = Style::all().find(|style| style.markup).unwrap();
        let written = go.write(&json!({"a": "<é>&\u{2028}"})).unwrap();
        assert_eq!(
            String::from_utf8(written).unwrap(),
            r#"{"a":"\u003cé\u003e\u0026\u2028"}"#
        );
    }
}
