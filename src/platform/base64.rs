//! Base64 as other programs write it.

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};

const ANY_PADDING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes of base64 text in either alphabet (RFC 4648), with or without padding and line ends.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut digits = text.to_vec();
    digits.retain(|byte| !byte.is_ascii_whitespace());
    for digit in &mut digits {
        match digit {
            b'-' => *digit = b'+',
            b'_' => *digit = b'/',
            _ => {}
        }
    }
    let bytes = ANY_PADDING.decode(digits).ok()?;
    (!bytes.is_empty()).then_some(bytes)
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
                decode(text.as_bytes()).as_deref(),
                bytes.map(str::as_bytes),
                "{text}"
            );
        }
    }
}
