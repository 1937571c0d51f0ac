//! Explains why a signature does not match: undoes the usual changes to bodies and secrets until one of them makes it
//! match.

mod encodings;
mod json_styles;
mod other_schemes;

use serde::de::IgnoredAny;
use serde_json::Value;

pub(super) use self::json_styles::{JsonStyle, KeyOrder, Whitespace};
pub(crate) use self::other_schemes::{owner_of_header, owner_of_value};

use self::encodings::{Decoding, decodings};
use super::signature::Header;
use crate::secrets::Secret;

/// The largest body that is parsed and written again in every [`JsonStyle`], in bytes.
const MAX_REWRITTEN: usize = 4 * 1024 * 1024;
/// The largest number of different documents that are written again.
const MAX_DOCUMENTS: usize = 4;

/// The likely reason why no `v1` matches, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Diagnosis {
    /// The sender used a variant of the secret.
    Secret(String),
    /// The body is not the one that was signed.
    Body(String),
    /// The sender did not sign `<t>.<body>`.
    Scheme(String),
}

/// Tries the usual changes; `None` if the signature matches with none of them.
pub(crate) fn diagnose(secrets: &[Secret], header: &Header, body: &[u8]) -> Option<Diagnosis> {
    let keys = || secrets.iter().map(|secret| secret.expose().as_bytes());
    let matches = |body: &[u8]| keys().any(|key| header.is_signed_with(key, body));
    for secret in secrets {
        for (key, what) in variants(secret.expose()) {
            if header.is_signed_with(&key, body) {
                return Some(Diagnosis::Secret(format!("the sender signed with {what}")));
            }
        }
    }
    let decodings = decodings(body);
    for Decoding { body, words } in &decodings {
        if !words.is_empty() && matches(body) {
            return Some(Diagnosis::Body(the_signed_body(words)));
        }
        for (original, what) in edits(body) {
            if matches(&original) {
                let words = [&words[..], &[what]].concat();
                return Some(Diagnosis::Body(the_signed_body(&words)));
            }
        }
    }
    if keys().any(|key| header.is_signed_without_time(key, body)) {
        return Some(Diagnosis::Scheme(
            "the sender signed the body alone, without `<t>.` before it".to_owned(),
        ));
    }
    rewritten(decodings, matches).map(Diagnosis::Body)
}

fn the_signed_body(words: &[&str]) -> String {
    format!("the signed body {}", words.join(" and "))
}

/// How a body is not a JSON document, as the end of a sentence "the body …"; `None` if it is one.
pub(crate) fn not_json(body: &[u8]) -> Option<&'static str> {
    let mut problem = Some("is not JSON, so it may have been changed");
    for reading in decodings(body) {
        match serde_json::from_slice::<IgnoredAny>(&reading.body) {
            Ok(_) => return None,
            Err(error) if error.is_eof() => {
                problem = Some("is incomplete JSON, so it may have been cut off");
            }
            Err(_) => {}
        }
    }
    problem
}

/// Keys that mistakes make of a secret.
fn variants(secret: &str) -> Vec<(Vec<u8>, &'static str)> {
    let mut variants: Vec<(Vec<u8>, &str)> = [
        (format!("{secret}\n"), "the secret and a line end after it"),
        (
            format!("{secret}\r\n"),
            "the secret and a line end (CRLF) after it",
        ),
        (format!("{secret} "), "the secret and a space after it"),
        (format!(" {secret}"), "the secret and a space before it"),
        (format!("\"{secret}\""), "the secret in quotes"),
        (format!("'{secret}'"), "the secret in quotes"),
    ]
    .map(|(key, what)| (key.into_bytes(), what))
    .into();
    let unquoted = secret.trim_matches(['"', '\'']);
    if unquoted != secret {
        variants.push((unquoted.into(), "the secret without the quotes around it"));
    }
    if let Some((_, rest)) = secret.split_once('_') {
        variants.push((rest.into(), "the secret without its prefix"));
    }
    if let Ok(key) = hex::decode(secret) {
        variants.push((key, "the bytes that the secret spells in hex"));
    }
    variants
}

/// Bodies that this one may have been, and how they differ from it.
fn edits(body: &[u8]) -> Vec<(Vec<u8>, &'static str)> {
    const BOM: &[u8] = b"\xef\xbb\xbf";
    let mut edits = vec![
        (
            [body, b"\n"].concat(),
            "ended with a line end (it is missing here)",
        ),
        (
            [body, b"\r\n"].concat(),
            "ended with a line end, CRLF (it is missing here)",
        ),
        (
            [BOM, body].concat(),
            "began with a byte order mark (it is missing here)",
        ),
    ];
    if body.contains(&b'\n') {
        let mut lines = Vec::with_capacity(body.len());
        for (place, byte) in body.iter().enumerate() {
            let before_line_end = body.get(place + 1) == Some(&b'\n');
            if !(*byte == b'\r' && before_line_end) {
                lines.push(*byte);
            }
        }
        let crlf = lines
            .split(|byte| *byte == b'\n')
            .collect::<Vec<_>>()
            .join(&b"\r\n"[..]);
        edits.push((lines, "had LF line ends (they are CRLF here)"));
        edits.push((crlf, "had CRLF line ends (they are LF here)"));
    }
    if let Some(whole) = closed(body) {
        edits.push((whole, "was longer (its last brackets are missing here)"));
    }
    edits
}

/// The document with its open brackets closed: a `Content-Length` that counts characters instead of bytes cuts off the
/// last few.
fn closed(body: &[u8]) -> Option<Vec<u8>> {
    let mut open = Vec::new();
    let (mut in_text, mut escaped) = (false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' if open.pop() != Some(*byte) => return None,
            _ => {}
        }
    }
    open.reverse();
    (!in_text && !open.is_empty()).then(|| [body, &open].concat())
}

/// Checks whether the signed body was the same JSON in another style.
fn rewritten(decodings: Vec<Decoding>, matches: impl Fn(&[u8]) -> bool) -> Option<String> {
    let mut documents: Vec<Value> = Vec::new();
    for Decoding { body, words } in decodings {
        if body.len() > MAX_REWRITTEN || documents.len() == MAX_DOCUMENTS {
            continue;
        }
        let Ok(document) = serde_json::from_slice(&body) else {
            continue;
        };
        if documents.contains(&document) {
            continue;
        }
        if let Some(how) = matching_style(&document, &matches) {
            let again = format!(
                "the JSON was parsed and serialized again; the signed body is the same JSON {how}"
            );
            return Some(match words.is_empty() {
                true => again,
                false => format!("{}, and {again}", the_signed_body(&words)),
            });
        }
        documents.push(document);
    }
    None
}

fn matching_style(document: &Value, matches: impl Fn(&[u8]) -> bool) -> Option<String> {
    for style in JsonStyle::all() {
        let mut text = style.write(document)?;
        for end in ["", ", with a line end after it"] {
            if !end.is_empty() {
                text.push(b'\n');
            }
            if matches(&text) {
                return Some(format!("{}{end}", style.describe()));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::sign;

    const BODY: &str = "{\"id\":\"evt_1\",\"type\":\"x\",\"data\":{\"object\":{\"id\":\"bk\",\"status\":\"é/é\"}}}";

    fn secret() -> Secret {
        Secret::new("whsec_a".to_owned())
    }

    fn diagnosed(signed: &[u8], came: &[u8]) -> Option<Diagnosis> {
        let header = sign(&secret(), 1, signed);
        diagnose(
            &[secret()],
            &Header::parse(header.as_bytes()).unwrap(),
            came,
        )
    }

    #[test]
    fn each_usual_change_of_a_body_is_found() {
        let lines = BODY.replace(',', ",\n");
        let crlf = lines.replace('\n', "\r\n");
        let utf16: Vec<u8> = [0xff, 0xfe]
            .into_iter()
            .chain(BODY.encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        let twice: String = BODY.bytes().map(char::from).collect();
        for (signed, came, word) in [
            (format!("{BODY}\n"), BODY.into(), "ended with a line end"),
            (
                BODY.to_owned(),
                format!("{BODY}\n").into_bytes(),
                "had no line end",
            ),
            (
                BODY.to_owned(),
                format!("{BODY}\r\n").into_bytes(),
                "had no line end",
            ),
            (
                BODY.to_owned(),
                format!("{BODY}\n\n ").into_bytes(),
                "had no whitespace",
            ),
            (lines.clone(), crlf.clone().into_bytes(), "had LF"),
            (crlf, lines.into_bytes(), "had CRLF"),
            (
                BODY.to_owned(),
                format!("\u{feff}{BODY}").into_bytes(),
                "no byte order mark",
            ),
            (BODY.to_owned(), utf16, "UTF-16"),
            (BODY.to_owned(), twice.into_bytes(), "Latin-1"),
            (
                BODY.to_owned(),
                BODY[..BODY.len() - 2].into(),
                "brackets are missing",
            ),
        ] {
            match diagnosed(signed.as_bytes(), &came) {
                Some(Diagnosis::Body(what)) => assert!(what.contains(word), "{what}: {word}"),
                other => panic!("{word}: {other:?}"),
            }
        }
    }

    #[test]
    fn json_that_was_written_again_in_any_style_is_found() {
        let document: Value = serde_json::from_str(BODY).unwrap();
        for style in JsonStyle::all() {
            let came = style.write(&document).unwrap();
            let found = diagnosed(BODY.as_bytes(), &came);
            // In the body's own style nothing was changed.
            if came != BODY.as_bytes() {
                assert!(
                    matches!(found, Some(Diagnosis::Body(_))),
                    "{style:?}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn a_mistake_in_the_secret_is_found() {
        for (key, word) in [
            ("whsec_a\n", "line end"),
            ("a", "without its prefix"),
            ("\"whsec_a\"", "quotes"),
        ] {
            let header = sign(&Secret::new(key.to_owned()), 1, b"x");
            let header = Header::parse(header.as_bytes()).unwrap();
            match diagnose(&[secret()], &header, b"x") {
                Some(Diagnosis::Secret(what)) => assert!(what.contains(word), "{what}"),
                other => panic!("{word}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_signature_of_another_secret_is_not_explained() {
        let header = sign(&Secret::new("other".to_owned()), 1, BODY.as_bytes());
        let header = Header::parse(header.as_bytes()).unwrap();
        assert_eq!(diagnose(&[secret()], &header, BODY.as_bytes()), None);
    }
}
