//! The cryptography of TLS, SHA-256 digests, and base64 as other programs write it.

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};
use ring::digest::{Context, SHA256, SHA256_OUTPUT_LEN};

pub(crate) type Digest = [u8; SHA256_OUTPUT_LEN];

pub(crate) fn sha256<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Digest {
    let mut context = Context::new(&SHA256);
    for piece in pieces {
        context.update(piece);
    }
    let mut digest = Digest::default();
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

/// Sets the cryptography of every TLS connection of this process: rustls chooses none by itself.
pub(crate) fn install_provider() {
    // Fails if it was done before.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

const ANY_PADDING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes of base64 text in either alphabet (RFC 4648), with or without padding and line ends.
pub(crate) fn base64_decoded(text: &[u8]) -> Option<Vec<u8>> {
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
            let decoded = base64_decoded(text.as_bytes());
            assert_eq!(decoded.as_deref(), bytes.map(str::as_bytes), "{text}");
        }
    }
}
