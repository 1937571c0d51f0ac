//! What may have been laid around a body on its way: each layer that can be taken off, and what is beneath.

/// What bytes 0x80 to 0x9f are in Windows-1252, which passes for Latin-1; where it has none, Latin-1's own.
const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Nobody wraps a body more often.
const DEEPEST: usize = 3;
/// Larger bodies are read without one layer, and not without several.
const LARGEST: usize = 4 * 1024 * 1024;

/// A body without some of its layers.
pub(super) struct Reading {
    pub(super) body: Vec<u8>,
    /// What is true of this body and not of the one that came, as ends of "the body …".
    pub(super) words: Vec<&'static str>,
}

/// The body as it came, and then without one layer, two, and so on.
pub(super) fn readings(body: &[u8]) -> Vec<Reading> {
    let deepest = match body.len() {
        0..=LARGEST => DEEPEST,
        _ => 1,
    };
    let mut readings = vec![Reading {
        body: body.to_vec(),
        words: Vec::new(),
    }];
    let mut next = 0;
    while let Some(outer) = readings.get(next) {
        next += 1;
        if outer.words.len() == deepest {
            break;
        }
        let words = outer.words.clone();
        for (body, word) in without_a_layer(&outer.body) {
            if readings.iter().all(|known| known.body != body) {
                let words = [&words[..], &[word]].concat();
                readings.push(Reading { body, words });
            }
        }
    }
    readings
}

fn without_a_layer(body: &[u8]) -> Vec<(Vec<u8>, &'static str)> {
    let line = body.strip_suffix(b"\n");
    let line = line.map(|rest| rest.strip_suffix(b"\r").unwrap_or(rest).to_vec());
    let trimmed = body.trim_ascii();
    let rows = [
        (
            body.strip_prefix(BOM).map(<[u8]>::to_vec),
            "had no byte order mark (one was added)",
        ),
        (line, "had no line end at its end (one was added)"),
        (
            (trimmed != body).then(|| trimmed.to_vec()),
            "had no blanks around it (some were added)",
        ),
        (from_utf16(body), "was UTF-8 (it is UTF-16 here)"),
        (from_latin1(body), "was UTF-8 (it is Latin-1 here)"),
        (
            once_decoded(body),
            "was UTF-8 (it was read as Latin-1 and written as UTF-8 again)",
        ),
        (from_base64(body), "was plain (it is base64 here)"),
        (
            serde_json::from_slice::<String>(body)
                .ok()
                .map(String::into_bytes),
            "was encoded once (it is a JSON string here: it was encoded twice)",
        ),
    ];
    let layers = rows.into_iter();
    layers
        .filter_map(|(body, word)| Some((body?, word)))
        .collect()
}

/// The text of a body that begins with UTF-16's byte order mark, as PowerShell writes files.
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

/// The text of bytes of which each is a character.
fn from_latin1(body: &[u8]) -> Option<Vec<u8>> {
    if std::str::from_utf8(body).is_ok() {
        return None;
    }
    let text: String = body
        .iter()
        .map(|byte| {
            let place = byte.checked_sub(0x80).map(usize::from);
            let windows = place.and_then(|place| WINDOWS.chars().nth(place));
            windows.unwrap_or(char::from(*byte))
        })
        .collect();
    Some(text.into_bytes())
}

/// The bytes of a text whose every character stands for one.
fn once_decoded(body: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(body)
        .ok()
        .filter(|text| !text.is_ascii())?;
    let bytes = text.chars().map(|c| match u8::try_from(u32::from(c)) {
        Ok(byte) => Some(byte),
        Err(_) => {
            let place = WINDOWS.chars().position(|it| it == c)?;
            u8::try_from(0x80 + place).ok()
        }
    });
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    std::str::from_utf8(&bytes).is_ok().then_some(bytes)
}

/// The bytes that base64 spells, in either alphabet, with line ends or without.
fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .iter()
        .copied()
        .filter(|it| !it.is_ascii_whitespace())
        .collect();
    let end = digits.iter().rposition(|it| *it != b'=')?;
    let (mut held, mut bits, mut bytes) = (0_u32, 0, Vec::new());
    for digit in &digits[..=end] {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_in_either_alphabet_and_padded_or_not() {
        for (text, bytes) in [
            ("eyLDqSI6MX0=", Some("{\"é\":1}")),
            ("eyLDqSI6MX0", Some("{\"é\":1}")),
            ("eyLD\r\nqSI6MX0=\r\n", Some("{\"é\":1}")),
            ("Pz8_", Some("???")),
            ("Pz8/", Some("???")),
            ("{}", None),
            ("=", None),
            ("", None),
        ] {
            assert_eq!(
                from_base64(text.as_bytes()).as_deref(),
                bytes.map(str::as_bytes),
                "{text}"
            );
        }
    }

    #[test]
    fn layers_come_off_one_by_one_and_only_so_many() {
        let words = |body: &[u8]| -> Vec<usize> {
            readings(body).iter().map(|it| it.words.len()).collect()
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
