//! The text of a file, in the encodings that spreadsheets, Windows PowerShell and Notepad write.

/// The file's text, without a byte order mark.
///
/// # Errors
///
/// A sentence, if the text is neither UTF-8 nor UTF-16 with a byte order mark.
pub(super) fn decoded(bytes: Vec<u8>) -> Result<String, String> {
    let utf16 = |unit: fn([u8; 2]) -> u16| {
        let pairs = bytes.get(2..).unwrap_or_default().chunks(2);
        let units = pairs.map(|pair| unit([pair[0], pair.get(1).copied().unwrap_or_default()]));
        let text: Result<String, _> = char::decode_utf16(units).collect();
        text.map_err(|_| "it begins as UTF-16 and is not valid UTF-16".to_owned())
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => return utf16(u16::from_le_bytes),
        [0xfe, 0xff, ..] => return utf16(u16::from_be_bytes),
        _ => {}
    }
    if bytes.contains(&0) {
        return Err("it contains NUL bytes, so it is no text or UTF-16 without a mark".to_owned());
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
        format!("line {line} is not UTF-8")
    })?;
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn the_encodings_of_spreadsheets_are_read_and_others_are_named_with_their_line() {
        let little: Vec<u8> = "\u{feff}Zoë 🍣"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let big: Vec<u8> = "\u{feff}Zoë 🍣"
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect();
        assert_eq!(decoded(little).unwrap(), "Zoë 🍣");
        assert_eq!(decoded(big).unwrap(), "Zoë 🍣");
        assert_eq!(decoded("Zoë".into()).unwrap(), "Zoë");
        assert_eq!(decoded("\u{feff}Zoë".into()).unwrap(), "Zoë");
        for (bytes, sentence) in [
            (&b"a\nb\nZo\xeb\n"[..], "line 3"),
            (b"v\0e\0n\0", "NUL"),
            (b"\xff\xfe\x00\xd8", "UTF-16"),
        ] {
            let told = decoded(bytes.to_vec()).unwrap_err();
            assert!(told.contains(sentence), "{told}");
        }
    }
}
