//! API keys and webhook secrets: what they are wrapped in, where they are kept, and where they come from.
//!
//! Environment beats keyring beats file. A stored one is kept under its profile and its origin, so that it is
//! not found for any other.

mod account;
mod file;
mod key_source;
mod keyring;
mod redact;
mod secret;
mod vault;

pub(crate) use account::{Account, Item};
pub(crate) use key_source::{KeySource, look_up};
pub(crate) use redact::{redact, register_if_key, register_secret, register_secrets_in};
pub(crate) use secret::Secret;
pub(crate) use vault::{Found, Storage, Vault, silent};
