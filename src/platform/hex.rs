//! Hexadecimal text.

/// The bytes in lower-case hexadecimal digits, two per byte.
pub(crate) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 0xf)]);
    let pairs = bytes.iter().flat_map(|byte| [byte >> 4, *byte]);
    pairs.map(digit).collect()
}

/// The bytes that the text spells in hexadecimal digits of either case; `None` if it is anything else.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_and_what_is_not_hexadecimal_is_refused() {
        let bytes: Vec<u8> = (0..=255).collect();
        let text = encode(&bytes);
        assert!(text.starts_with("000102") && text.ends_with("fdfeff"));
        assert_eq!(decode(text.as_bytes()), Some(bytes.clone()));
        assert_eq!(decode(text.to_uppercase().as_bytes()), Some(bytes));
        for text in ["0", "0g", "+1", " 1", "é"] {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
    }
}
