//! A text that must never be seen.

use zeroize::Zeroizing;

/// A secret: it has no `Display`, its `Debug` shows nothing, and its memory is zeroed when it goes.
#[derive(Clone)]
pub(crate) struct Secret(Zeroizing<String>);

impl Secret {
    pub(crate) fn new(text: String) -> Self {
        Secret(Zeroizing::new(text))
    }

    /// The text itself, for the one place that sends it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn debug_output_shows_nothing_of_a_secret() {
        assert_eq!(format!("{:?}", Secret::new("sk_live_1234".into())), "***");
    }
}
