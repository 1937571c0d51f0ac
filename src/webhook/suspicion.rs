//! What a delivery that does not verify may have gone through: the usual changes of body and secret, tried out.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::json_style::Style;
use super::layers::{Reading, readings};
use super::signature::Header;
use crate::secrets::Secret;

/// Larger bodies are not parsed and written again: there are dozens of ways to.
const LARGEST_REWRITTEN: usize = 4 * 1024 * 1024;
/// So are more documents than come from one body in any usual way.
const MOST_REWRITTEN: usize = 4;

/// Why no `v1` fits, as far as trying tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// The sender signed with the secret as it is not written: the sentence says how.
    Secret(String),
    /// The body is not the one that was signed: the sentence says what that was like.
    Body(String),
    /// What was signed is not `<t>.<body>`.
    Scheme(String),
}

/// Tries the usual changes; `None` where none of them makes the signature fit.
pub(crate) fn suspect(secrets: &[Secret], header: &Header, body: &[u8]) -> Option<Suspicion> {
    let keys = || secrets.iter().map(|secret| secret.expose().as_bytes());
    let fits = |body: &[u8]| keys().any(|key| header.is_signed_with(key, body));
    for secret in secrets {
        for (key, what) in spellings(secret.expose()) {
            if header.is_signed_with(&key, body) {
                return Some(Suspicion::Secret(format!("the sender signed with {what}")));
            }
        }
    }
    let readings = readings(body);
    for Reading { body, words } in &readings {
        if !words.is_empty() && fits(body) {
            return Some(Suspicion::Body(the_signed_body(words)));
        }
        for (original, what) in edits(body) {
            if fits(&original) {
                let words = [&words[..], &[what]].concat();
                return Some(Suspicion::Body(the_signed_body(&words)));
            }
        }
    }
    if keys().any(|key| header.is_signed_without_time(key, body)) {
        return Some(Suspicion::Scheme(
            "the sender signed the body alone, without `<t>.` before it".to_owned(),
        ));
    }
    rewritten(readings, fits).map(Suspicion::Body)
}

fn the_signed_body(words: &[&str]) -> String {
    format!("the signed body {}", words.join(" and "))
}

/// How a body is no whole document, as the end of "the body …".
pub(crate) fn torn(body: &[u8]) -> Option<&'static str> {
    let mut word = Some("is no JSON, so it may have been changed");
    for reading in readings(body) {
        match serde_json::from_slice::<IgnoredAny>(&reading.body) {
            Ok(_) => return None,
            Err(error) if error.is_eof() => {
                word = Some("is JSON that does not end, so it may have been cut short");
            }
            Err(_) => {}
        }
    }
    word
}

/// A secret as careless hands pass it on.
fn spellings(secret: &str) -> Vec<(Vec<u8>, &'static str)> {
    let mut spellings: Vec<(Vec<u8>, &str)> = [
        (format!("{secret}\n"), "the secret and a line end after it"),
        (
            format!("{secret}\r\n"),
            "the secret and a line end (CRLF) after it",
        ),
        (format!("{secret} "), "the secret and a blank after it"),
        (format!(" {secret}"), "the secret and a blank before it"),
        (format!("\"{secret}\""), "the secret in quotes"),
        (format!("'{secret}'"), "the secret in quotes"),
    ]
    .map(|(key, what)| (key.into_bytes(), what))
    .into();
    let unquoted = secret.trim_matches(['"', '\'']);
    if unquoted != secret {
        spellings.push((unquoted.into(), "the secret without the quotes around it"));
    }
    if let Some((_, rest)) = secret.split_once('_') {
        spellings.push((rest.into(), "the secret without its prefix"));
    }
    if let Some(key) = from_hex(secret) {
        spellings.push((key, "the bytes that the secret spells in hex"));
    }
    spellings
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() % 2 == 1 {
        return None;
    }
    let pairs = text.as_bytes().chunks_exact(2);
    let bytes = pairs.map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    bytes.collect()
}

/// Bodies that may have become this one, and what they were.
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
        edits.push((
            whole,
            "went on (it is cut short here, by its last brackets)",
        ));
    }
    edits
}

/// The document with the brackets closed that are open at its end: a length that counts characters instead of bytes
/// cuts off just these.
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

/// Whether the signed body was the same JSON, written otherwise.
fn rewritten(readings: Vec<Reading>, fits: impl Fn(&[u8]) -> bool) -> Option<String> {
    let mut documents: Vec<Value> = Vec::new();
    for Reading { body, words } in readings {
        if body.len() > LARGEST_REWRITTEN || documents.len() == MOST_REWRITTEN {
            continue;
        }
        let Ok(document) = serde_json::from_slice(&body) else {
            continue;
        };
        if documents.contains(&document) {
            continue;
        }
        if let Some(how) = style_that(&document, &fits) {
            let again =
                format!("it was parsed and written again; what was signed is the same JSON {how}");
            return Some(match words.is_empty() {
                true => again,
                false => format!("{}, and {again}", the_signed_body(&words)),
            });
        }
        documents.push(document);
    }
    None
}

/// The style in which the document fits, in words.
fn style_that(document: &Value, fits: impl Fn(&[u8]) -> bool) -> Option<String> {
    for style in Style::all() {
        let mut text = style.write(document)?;
        for end in ["", ", a line end at its end"] {
            if !end.is_empty() {
                text.push(b'\n');
            }
            if fits(&text) {
                return Some(format!("{}{end}", style.words()));
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

    fn suspected(signed: &[u8], came: &[u8]) -> Option<Suspicion> {
        let header = sign(&secret(), 1, signed);
        suspect(
            &[secret()],
            &Header::parse(header.as_bytes()).unwrap(),
            came,
        )
    }

    #[test]
    fn each_usual_change_of_a_body_is_told() {
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
                "had no blanks",
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
            (BODY.to_owned(), BODY[..BODY.len() - 2].into(), "cut short"),
        ] {
            match suspected(signed.as_bytes(), &came) {
                Some(Suspicion::Body(what)) => assert!(what.contains(word), "{what}: {word}"),
                other => panic!("{word}: {other:?}"),
            }
        }
    }

    #[test]
    fn json_that_was_written_again_is_told_from_any_style_to_any_other() {
        let document: Value = serde_json::from_str(BODY).unwrap();
        for style in Style::all() {
            let came = style.write(&document).unwrap();
            let found = suspected(BODY.as_bytes(), &came);
            // Where the style is the body's own, nothing was changed, and the first edit is wrong too.
            if came != BODY.as_bytes() {
                assert!(
                    matches!(found, Some(Suspicion::Body(_))),
                    "{style:?}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn a_secret_that_was_passed_on_carelessly_is_told() {
        for (key, word) in [
            ("whsec_a\n", "line end"),
            ("a", "without its prefix"),
            ("\"whsec_a\"", "quotes"),
        ] {
            let header = sign(&Secret::new(key.to_owned()), 1, b"x");
            let header = Header::parse(header.as_bytes()).unwrap();
            match suspect(&[secret()], &header, b"x") {
                Some(Suspicion::Secret(what)) => assert!(what.contains(word), "{what}"),
                other => panic!("{word}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_was_signed_with_another_secret_raises_no_suspicion() {
        let header = sign(&Secret::new("other".to_owned()), 1, BODY.as_bytes());
        let header = Header::parse(header.as_bytes()).unwrap();
        assert_eq!(suspect(&[secret()], &header, BODY.as_bytes()), None);
    }
}
