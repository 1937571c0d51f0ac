//! API keys and webhook secrets: their type, their storage and their sources.
//!
//! The environment overrides the keyring, which overrides the file. A secret is stored for a profile and its origin,
//! and is not found for any other origin.

mod account;
mod file;
mod key_source;
mod keyring;
mod redact;
mod secret;
mod spelling;
mod vault;

pub(crate) use account::{Account, Item};
pub(crate) use key_source::{KeySource, look_up};
pub(crate) use redact::{
    redact, redact_document, register_if_key, register_secret, register_secrets_in,
};
pub(crate) use secret::Secret;
pub(crate) use vault::{Found, Storage, Vault, silent};
