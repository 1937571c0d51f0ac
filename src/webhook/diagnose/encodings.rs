//! Undoes encodings that a body may have received on its way, such as a byte order mark, UTF-16 or base64.

use crate::platform::base64;

/// Bytes 0x80 to 0x9f in Windows-1252, which is often labelled Latin-1; Latin-1's own characters where it has none.
const WINDOWS_1252: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The largest number of encodings that are undone, one after the other.
const MAX_DEPTH: usize = 3;
/// Larger bodies, in bytes, are decoded once only.
const MAX_DECODED_REPEATEDLY: usize = 4 * 1024 * 1024;

/// A body with some encodings undone.
pub(super) struct Decoding {
    pub(super) body: Vec<u8>,
    /// How this body differs from the received one, as ends of a sentence "the signed body …".
    pub(super) words: Vec<&'static str>,
}

/// The body as received, then with one encoding undone, with two, and so on.
pub(super) fn decodings(body: &[u8]) -> Vec<Decoding> {
    let deepest = match body.len() {
        0..=MAX_DECODED_REPEATEDLY => MAX_DEPTH,
        _ => 1,
    };
    let mut decodings = vec![Decoding {
        body: body.to_vec(),
        words: Vec::new(),
    }];
    let mut next = 0;
    while let Some(outer) = decodings.get(next) {
        next += 1;
        if outer.words.len() == deepest {
            break;
        }
        let words = outer.words.clone();
        for (body, word) in decode_once(&outer.body) {
            if decodings.iter().all(|known| known.body != body) {
                let words = [&words[..], &[word]].concat();
                decodings.push(Decoding { body, words });
            }
        }
    }
    decodings
}

fn decode_once(body: &[u8]) -> Vec<(Vec<u8>, &'static str)> {
    let line = body.strip_suffix(b"\n");
    let line = line.map(|rest| rest.strip_suffix(b"\r").unwrap_or(rest).to_vec());
    let trimmed = body.trim_ascii();
    let rows = [
        (
            body.strip_prefix(BOM).map(<[u8]>::to_vec),
            "had no byte order mark (one was added)",
        ),
        (line, "had no line end (one was added)"),
        (
            (trimmed != body).then(|| trimmed.to_vec()),
            "had no whitespace around it (some was added)",
        ),
        (from_utf16(body), "was UTF-8 (it is UTF-16 here)"),
        (from_latin1(body), "was UTF-8 (it is Latin-1 here)"),
        (
            from_mojibake(body),
            "was UTF-8 (it was decoded as Latin-1 and encoded as UTF-8 again)",
        ),
        (base64::decode(body), "was plain (it is base64 here)"),
        (
            serde_json::from_slice::<String>(body)
                .ok()
                .map(String::into_bytes),
            "was encoded once (it is a JSON string here: it was encoded twice)",
        ),
    ];
    let decoded = rows.into_iter();
    decoded
        .filter_map(|(body, word)| Some((body?, word)))
        .collect()
}

/// UTF-8 from UTF-16 with a byte order mark, as PowerShell writes files.
fn from_utf16(body: &[u8]) -> Option<Vec<u8>> {
    let (rest, unit): (_, fn([u8; 2]) -> u16) = match body {
        [0xff, 0xfe, rest @ ..] => (rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => (rest, u16::from_be_bytes),
        _ => return None,
    };
    let units: Vec<u16> = rest
        .chunks_exact(2)
        .map(|pair| unit([pair[0], pair[1]]))
        .collect();
    String::from_utf16(&units).ok().map(String::into_bytes)
}

/// UTF-8 from Latin-1 or Windows-1252; `None` if the body is UTF-8 already.
fn from_latin1(body: &[u8]) -> Option<Vec<u8>> {
    if std::str::from_utf8(body).is_ok() {
        return None;
    }
    let text: String = body
        .iter()
        .map(|byte| {
            let place = byte.checked_sub(0x80).map(usize::from);
            let windows = place.and_then(|place| WINDOWS_1252.chars().nth(place));
            windows.unwrap_or(char::from(*byte))
        })
        .collect();
    Some(text.into_bytes())
}

/// The UTF-8 that was decoded as Latin-1 and encoded again.
fn from_mojibake(body: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(body)
        .ok()
        .filter(|text| !text.is_ascii())?;
    let bytes = text.chars().map(|c| match u8::try_from(u32::from(c)) {
        Ok(byte) => Some(byte),
        Err(_) => {
            let place = WINDOWS_1252.chars().position(|it| it == c)?;
            u8::try_from(0x80 + place).ok()
        }
    });
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    std::str::from_utf8(&bytes).is_ok().then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_undone_one_by_one_up_to_a_depth() {
        let words = |body: &[u8]| -> Vec<usize> {
            decodings(body).iter().map(|it| it.words.len()).collect()
        };
        assert_eq!(words(b"{}"), [0]);
        assert_eq!(words(b"\xef\xbb\xbf{}\r\n"), [0, 1, 1, 2]);
        let mut deep = "{}".to_owned();
        for _ in 0..9 {
            deep = serde_json::to_string(&deep).unwrap();
        }
        assert_eq!(words(deep.as_bytes()), [0, 1, 2, 3]);
    }
}
