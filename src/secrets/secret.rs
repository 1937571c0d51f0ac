//! A text that must not be shown.

use zeroize::Zeroizing;

use super::redact::register_secret;
use crate::platform::crypto::sha256;
use crate::platform::hidden::is_hidden;

/// A secret. It has no `Display`, its `Debug` is redacted, and its memory is zeroed on drop.
#[derive(Clone, PartialEq)]
pub(crate) struct Secret(Zeroizing<String>);

/// The kinds of API keys by their prefixes (spec, Authentication).
const KINDS: [(&str, &str); 3] = [("sk_live_", "live"), ("sk_test_", "test"), ("sk_v3_", "beta")];

impl Secret {
    pub(crate) fn new(text: String) -> Self {
        register_secret(&text);
        Secret(Zeroizing::new(text))
    }

    /// Reads an API key or a webhook secret from wherever it was pasted: without what stands around
    /// it by accident. The error is the predicate of a sentence.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let text = text.trim_matches(|c: char| c.is_whitespace() || is_hidden(c));
        register_secret(text);
        let is_quoted = ['"', '\'', '`']
            .iter()
            .any(|quote| text.len() > 1 && text.starts_with(*quote) && text.ends_with(*quote));
        let beginning = text.get(..7).unwrap_or_default();
        Err(if text.is_empty() {
            "is empty".to_owned()
        } else if is_quoted {
            "has quotes around it; leave them out".to_owned()
        } else if beginning.eq_ignore_ascii_case("bearer ") {
            "begins with `Bearer`, which bookctl adds itself; leave it out".to_owned()
        } else if let Some(other) = text.chars().find(|c| !c.is_ascii_graphic()) {
            let displayed = if other == ' ' {
                "a space".to_owned()
            } else {
                format!("U+{:04X}", u32::from(other))
            };
            format!("has a character that no secret has: {displayed}")
        } else {
            return Ok(Secret::new(text.to_owned()));
        })
    }

    /// The text, only for sending or storing it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// `live`, `test`, `beta` or `unknown`.
    pub(crate) fn kind(&self) -> &'static str {
        self.split().0
    }

    /// The prefix and the last characters: at most four, and at most half of the secret part.
    pub(crate) fn masked(&self) -> String {
        let (_, prefix, rest) = self.split();
        let tail: Vec<char> = rest.chars().rev().take((rest.chars().count() / 2).min(4)).collect();
        format!("{prefix}…{}", tail.iter().rev().collect::<String>())
    }

    /// The first four bytes of the SHA-256, in hex. Blanks around it make no difference.
    pub(crate) fn fingerprint(&self) -> String {
        hex::encode(&sha256([self.0.trim().as_bytes()])[..4])
    }

    fn split(&self) -> (&'static str, &'static str, &str) {
        let of = |(prefix, kind)| Some((kind, prefix, self.0.strip_prefix(prefix)?));
        KINDS.into_iter().find_map(of).unwrap_or(("unknown", "", &self.0))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_nothing_of_a_secret() {
        assert_eq!(format!("{:?}", Secret::new("sk_live_1234".into())), "***");
    }

    #[test]
    fn masked_key_shows_its_kind() {
        for (key, kind, masked) in [
            ("sk_live_sandbox4", "live", "sk_live_…box4"),
            ("sk_test_0123456789abcdef", "test", "sk_test_…cdef"),
            ("sk_v3_abc", "beta", "sk_v3_…c"),
            ("sk_live_", "live", "sk_live_…"),
            ("x", "unknown", "…"),
            ("whsec_0123456789", "unknown", "…6789"),
        ] {
            let secret = Secret::new(key.to_owned());
            assert_eq!((secret.kind(), secret.masked().as_str()), (kind, masked));
        }
    }
}
