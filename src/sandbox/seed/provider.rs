//! The three providers behind the service.

use serde::Deserialize;

/// A provider. Only A modifies and cancels at the venue, only B has connected person sessions, C has
/// neither ("Booking Service Interface Specification", opening).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub(crate) enum Provider {
    #[serde(rename = "provider_a")]
    A,
    #[serde(rename = "provider_b")]
    B,
    #[serde(rename = "provider_c")]
    C,
}

impl Provider {
    pub(crate) const ALL: [Self; 3] = [Self::A, Self::B, Self::C];

    pub(crate) const fn id(self) -> &'static str {
        match self {
            Self::A => "provider_a",
            Self::B => "provider_b",
            Self::C => "provider_c",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.id() == text)
    }
}
