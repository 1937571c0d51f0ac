//! API keys and webhook secrets: their type, their storage and their sources.
//!
//! The environment overrides the keyring, which overrides the file. A secret is stored for a
//! profile and its origin, and is not found for any other origin.

mod file;
mod key_source;
mod keyring;
mod redact;
mod secret;
mod spelling;
mod vault;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use key_source::{KeySource, look_up};
pub(crate) use redact::{
    redact, redact_document, register_if_key, register_secret, register_secrets_in, reveal,
};
pub(crate) use secret::Secret;
pub(crate) use vault::{Storage, Vault};

/// A profile at an origin (`https://api.example.com`). A secret never leaves its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) profile: String,
    pub(crate) origin: String,
}

impl Account {
    pub(crate) fn new(profile: impl Into<String>, origin: impl Into<String>) -> Self {
        Account { profile: profile.into(), origin: origin.into() }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An origin contains no `@`, so the last one separates it from the profile's name.
        write!(f, "{}@{}", self.profile, self.origin)
    }
}

/// A kind of secret, under its name in `secrets.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Item {
    ApiKey,
    WebhookSecret,
    /// The password of a shared journal. Its account's origin is the journal's address.
    JournalPassword,
}

impl Item {
    fn service(self) -> &'static str {
        match self {
            Item::ApiKey => "bookctl",
            Item::WebhookSecret => "bookctl-webhook",
            Item::JournalPassword => "bookctl-journal",
        }
    }
}
