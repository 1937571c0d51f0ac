//! The cryptography of TLS, and SHA-256 digests.

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

#[cfg(test)]
mod tests {
    use super::*;

    // printf 'abc' | openssl dgst -sha256
    #[test]
    fn a_digest_is_the_one_that_openssl_makes_however_the_bytes_are_cut() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex::encode(sha256([&b"abc"[..]])), abc);
        assert_eq!(hex::encode(sha256([&b"a"[..], b"", b"bc"])), abc);
    }
}
