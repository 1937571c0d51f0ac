//! Explains why a signature does not match: undoes the usual mistakes with secrets and bodies until one of them makes it
//! match.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use super::signature::Header;
use crate::secrets::Secret;

/// The likely reason why no `v1` matches, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Diagnosis {
    /// The sender used a variant of the secret.
    Secret(String),
    /// The body is not the one that was signed.
    Body(String),
}

/// Tries the usual mistakes; `None` if the signature matches with none of them.
pub(crate) fn diagnose(secrets: &[Secret], header: &Header, body: &[u8]) -> Option<Diagnosis> {
    for secret in secrets {
        for (key, what) in variants(secret.expose()) {
            if header.is_signed_with(&key, body) {
                return Some(Diagnosis::Secret(format!("the sender signed with {what}")));
            }
        }
    }
    let matches = |body: &[u8]| {
        secrets
            .iter()
            .any(|secret| header.is_signed_with(secret.expose().as_bytes(), body))
    };
    for (original, what) in with_other_line_ends(body) {
        if matches(&original) {
            return Some(Diagnosis::Body(format!("the signed body {what}")));
        }
    }
    let document = serde_json::from_slice(body).ok()?;
    for layout in [Layout::Compact, Layout::Spaced, Layout::Indented] {
        for (escapes, with_escapes) in [(false, ""), (true, ", with \\u escapes")] {
            let text = layout.write(&document, escapes);
            for end in ["", "\n"] {
                if matches(format!("{text}{end}").as_bytes()) {
                    return Some(Diagnosis::Body(format!(
                        "the JSON was parsed and serialized again; the signed body is the same JSON {}{with_escapes}",
                        layout.describe()
                    )));
                }
            }
        }
    }
    None
}

/// Keys that mistakes make of a secret.
fn variants(secret: &str) -> Vec<(Vec<u8>, &'static str)> {
    let mut variants: Vec<(Vec<u8>, &str)> = vec![
        (
            format!("{secret}\n").into(),
            "the secret and a line end after it",
        ),
        (
            format!("{secret}\r\n").into(),
            "the secret and a line end (CRLF) after it",
        ),
        (
            format!("{secret} ").into(),
            "the secret and a space after it",
        ),
        (format!("\"{secret}\"").into(), "the secret in quotes"),
    ];
    if let Some((_, rest)) = secret.split_once('_') {
        variants.push((rest.into(), "the secret without its prefix"));
    }
    if let Ok(key) = hex::decode(secret) {
        variants.push((key, "the bytes that the secret spells in hex"));
    }
    variants
}

/// Bodies that this one may have been, and how they differ from it.
fn with_other_line_ends(body: &[u8]) -> Vec<(Vec<u8>, &'static str)> {
    let mut bodies = vec![
        (
            [body, b"\n"].concat(),
            "ended with a line end (it is missing here)",
        ),
        (
            [body, b"\r\n"].concat(),
            "ended with a line end, CRLF (it is missing here)",
        ),
    ];
    if let Some(line) = body.strip_suffix(b"\n") {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        bodies.push((line.to_vec(), "had no line end (one was added)"));
    }
    if body.contains(&b'\n') {
        let text = String::from_utf8_lossy(body).replace("\r\n", "\n");
        let crlf = text.replace('\n', "\r\n");
        bodies.push((text.into(), "had LF line ends (they are CRLF here)"));
        bodies.push((crlf.into(), "had CRLF line ends (they are LF here)"));
    }
    bodies
}

/// How a library lays out the JSON that it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// `{"a":1,"b":2}`
    Compact,
    /// `{"a": 1, "b": 2}`, as Python writes it.
    Spaced,
    /// One member per line, indented by 2 spaces.
    Indented,
}

impl Layout {
    /// With `escapes`, characters beyond ASCII are written as `\uXXXX`.
    pub(super) fn write(self, document: &Value, escapes: bool) -> String {
        let text = match self {
            Layout::Compact => written(document, CompactFormatter),
            Layout::Spaced => written(document, Spaced),
            Layout::Indented => written(document, PrettyFormatter::new()),
        };
        if escapes { escaped(&text) } else { text }
    }

    fn describe(self) -> &'static str {
        match self {
            Layout::Compact => "without spaces",
            Layout::Spaced => "with a space after each comma and colon",
            Layout::Indented => "on several lines, indented by 2 spaces",
        }
    }
}

fn written(document: &Value, formatter: impl Formatter) -> String {
    let mut text = Vec::new();
    // Succeeds: a `Value` has only keys of text, and memory takes every write.
    let _ = document.serialize(&mut Serializer::with_formatter(&mut text, formatter));
    String::from_utf8(text).unwrap_or_default()
}

/// In JSON, characters beyond ASCII stand only in strings.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    escaped
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(to, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // Python: json.dumps(document), and with indent=2, ensure_ascii=False.
    #[test]
    fn a_document_is_written_as_other_libraries_write_it() {
        let document = json!({"b": [1, {}, []], "a": "é/🌿\n", "id": null});
        for (layout, escapes, expected) in [
            (
                Layout::Spaced,
                true,
                r#"{"b": [1, {}, []], "a": "\u00e9/\ud83c\udf3f\n", "id": null}"#,
            ),
            (
                Layout::Indented,
                false,
                "{\n  \"b\": [\n    1,\n    {},\n    []\n  ],\n  \"a\": \"é/🌿\\n\",\n  \"id\": null\n}",
            ),
            (
                Layout::Compact,
                true,
                r#"{"b":[1,{},[]],"a":"\u00e9/\ud83c\udf3f\n","id":null}"#,
            ),
        ] {
            assert_eq!(layout.write(&document, escapes), expected);
        }
    }
}
