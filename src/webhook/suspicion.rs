//! What a delivery that does not verify may have gone through: the usual changes of body and secret, tried out.

use serde_json::Value;

use super::json_style::Style;
use super::signature::Header;
use crate::secrets::Secret;

/// Larger bodies are not parsed and written again: there are dozens of ways to.
const LARGEST_REWRITTEN: usize = 4 * 1024 * 1024;

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
    for (original, what) in edits(body) {
        if fits(&original) {
            return Some(Suspicion::Body(format!("the signed body {what}")));
        }
    }
    if keys().any(|key| header.is_signed_without_time(key, body)) {
        return Some(Suspicion::Scheme(
            "the sender signed the body alone, without `<t>.` before it".to_owned(),
        ));
    }
    rewritten(body, fits).map(Suspicion::Body)
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
            "ended with a line end, which is missing here",
        ),
        (
            [body, b"\r\n"].concat(),
            "ended with a line end (CRLF), which is missing here",
        ),
        (
            [BOM, body].concat(),
            "began with a byte order mark, which is missing here",
        ),
    ];
    if let Some(rest) = body.strip_suffix(b"\n") {
        let rest = rest.strip_suffix(b"\r").unwrap_or(rest);
        edits.push((rest.into(), "had no line end at its end; one was added"));
    }
    let trimmed = body.trim_ascii();
    if trimmed != body {
        edits.push((trimmed.into(), "had no blanks around it; some were added"));
    }
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
        edits.push((lines, "had LF line ends; they are CRLF here"));
        edits.push((crlf, "had CRLF line ends; they are LF here"));
    }
    if let Some(rest) = body.strip_prefix(BOM) {
        edits.push((rest.into(), "had no byte order mark; one was added"));
    }
    if let Some(text) = from_utf16(body) {
        edits.push((text.trim_end().into(), "was UTF-8; it is UTF-16 here"));
        edits.push((text.into_bytes(), "was UTF-8; it is UTF-16 here"));
    }
    if let Some(bytes) = once_decoded(body) {
        edits.push((
            bytes,
            "was UTF-8; it was read as Latin-1 and written as UTF-8 again",
        ));
    }
    edits
}

/// The text of a body that begins with UTF-16's byte order mark, as PowerShell writes files.
fn from_utf16(body: &[u8]) -> Option<String> {
    let (rest, unit): (_, fn([u8; 2]) -> u16) = match body {
        [0xff, 0xfe, rest @ ..] => (rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => (rest, u16::from_be_bytes),
        _ => return None,
    };
    let units: Vec<u16> = rest
        .chunks_exact(2)
        .map(|pair| unit([pair[0], pair[1]]))
        .collect();
    String::from_utf16(&units).ok()
}

/// The bytes of a text whose every character stands for one.
fn once_decoded(body: &[u8]) -> Option<Vec<u8>> {
    if body.is_ascii() {
        return None;
    }
    let text = std::str::from_utf8(body).ok()?;
    text.chars()
        .map(|c| u8::try_from(u32::from(c)).ok())
        .collect()
}

/// Whether the signed body was the same JSON, written otherwise.
fn rewritten(body: &[u8], fits: impl Fn(&[u8]) -> bool) -> Option<String> {
    if body.len() > LARGEST_REWRITTEN {
        return None;
    }
    let document: Value = serde_json::from_slice(body).ok()?;
    for style in Style::all() {
        let mut text = style.write(&document)?;
        for line_end in [false, true] {
            if line_end {
                text.push(b'\n');
            }
            if fits(&text) {
                let end = if line_end {
                    ", a line end at its end"
                } else {
                    ""
                };
                return Some(format!(
                    "it was parsed and written again; what was signed is the same JSON {}{end}",
                    style.words()
                ));
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
