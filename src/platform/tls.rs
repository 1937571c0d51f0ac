//! The cryptography of TLS.

/// Sets the cryptography of every TLS connection of this process: rustls chooses none by itself.
pub(crate) fn install_provider() {
    // Fails if it was done before.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
