//! What keys may do, what came instead of one, and keys as they may be shown.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    VenuesRead,
    BookingsRead,
    BookingsCreate,
    BookingsWrite,
    SessionsRead,
    SessionsWrite,
}

impl Scope {
    /// The word in the key list and in refusals.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::VenuesRead => "venues:read",
            Self::BookingsRead => "bookings:read",
            Self::BookingsCreate => "bookings:create",
            Self::BookingsWrite => "bookings:write",
            Self::SessionsRead => "sessions:read",
            Self::SessionsWrite => "sessions:write",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoKey {
    /// The header is missing or not text.
    Missing,
    /// `Authorization` is missing, and this other part of the request has a key.
    Elsewhere(String),
    /// The header has one word, which may be the key itself.
    NoScheme,
    /// The header has the word `Bearer` alone.
    SchemeAlone,
    /// The header has the word `Bearer` twice.
    SchemeTwice,
    /// The secret that signs webhooks.
    WebhookSecret,
    /// Another scheme than `Bearer`, as `Basic`.
    OtherScheme(String),
    /// No key of this sandbox; the key, masked.
    Unknown(String),
}

/// A key with its middle left out: `sk_live_…dbox`.
pub(crate) fn masked(key: &str) -> String {
    let kind = key.match_indices('_').nth(1).map_or(0, |(at, _)| at + 1);
    let kind = if key.starts_with("sk_") {
        &key[..kind]
    } else {
        ""
    };
    let rest: Vec<char> = key[kind.len()..].chars().collect();
    // A short key would be shown whole.
    let end: String = match rest.len() {
        0..=4 => String::new(),
        length => rest[length - 4..].iter().collect(),
    };
    format!("{kind}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_key_shows_its_kind_and_its_end() {
        assert_eq!(masked("sk_live_sandbox"), "sk_live_…dbox");
        assert_eq!(masked("sk_test_abc"), "sk_test_…");
        assert_eq!(masked("a-strange-key"), "…-key");
        assert_eq!(masked("é"), "…");
        assert_eq!(masked("sk_"), "…");
        assert_eq!(masked(""), "…");
    }
}
