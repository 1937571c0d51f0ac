//! Under which name a secret is kept.

use std::fmt;

/// A profile at an origin (`https://api.example.com`, `http://127.0.0.1:8080`).
///
/// The origin is part of the name: a secret that was stored for one is not found for another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) profile: String,
    pub(crate) origin: String,
}

impl Account {
    pub(crate) fn new(profile: impl Into<String>, origin: impl Into<String>) -> Self {
        Account {
            profile: profile.into(),
            origin: origin.into(),
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An origin holds no `@`, so the last one parts the two whatever the profile is called.
        write!(f, "{}@{}", self.profile, self.origin)
    }
}

/// What is kept for an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    ApiKey,
    WebhookSecret,
}

impl Item {
    pub(crate) const ALL: [Item; 2] = [Item::ApiKey, Item::WebhookSecret];

    /// The service under which a keyring keeps it.
    pub(super) fn service(self) -> &'static str {
        match self {
            Item::ApiKey => "bookctl",
            Item::WebhookSecret => "bookctl-webhook",
        }
    }
}
