//! The text of a file, in the encodings that spreadsheets, Windows PowerShell and Notepad write.

/// The file's text. A byte order mark of UTF-8 stays, one of UTF-16 does not.
///
/// # Errors
///
/// A sentence, if the text is neither UTF-8 nor UTF-16 with a byte order mark.
pub(super) fn decoded(bytes: Vec<u8>) -> Result<String, String> {
    let utf16 = |unit: fn([u8; 2]) -> u16| {
        let pairs = bytes.get(2..).unwrap_or_default().chunks_exact(2);
        if !pairs.remainder().is_empty() {
            return Err("it ends in the middle of a UTF-16 character".to_owned());
        }
        let units = pairs.map(|pair| unit([pair[0], pair[1]]));
        let text: Result<String, _> = char::decode_utf16(units).collect();
        text.map_err(|_| "it begins as UTF-16 and is not valid UTF-16".to_owned())
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => return utf16(u16::from_le_bytes),
        [0xfe, 0xff, ..] => return utf16(u16::from_be_bytes),
        _ => {}
    }
    let are_nul = |place: usize| bytes.chunks_exact(2).all(|pair| pair[place] == 0);
    let is_even = !bytes.is_empty() && bytes.len().is_multiple_of(2);
    if is_even && (are_nul(0) || are_nul(1)) {
        return Err("it is UTF-16 without a byte order mark, or not text".to_owned());
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
        format!("line {line} is not UTF-8")
    })
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
        assert_eq!(decoded("a\0b".into()).unwrap(), "a\0b");
        for (bytes, sentence) in [
            (&b"a\nb\nZo\xeb\n"[..], "line 3"),
            (b"v\0e\0n\0", "UTF-16 without"),
            (b"\xff\xfeA\0B", "in the middle"),
            (b"\xff\xfe\x00\xd8", "UTF-16"),
        ] {
            let told = decoded(bytes.to_vec()).unwrap_err();
            assert!(told.contains(sentence), "{told}");
        }
    }
}
