//! The four verticals of the service.

use serde::Deserialize;

/// What kind of booking a venue takes ("What the service does").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Vertical {
    Dining,
    Fitness,
    Entertainment,
    Travel,
}

impl Vertical {
    pub(crate) const ALL: [Self; 4] = [
        Self::Dining,
        Self::Fitness,
        Self::Entertainment,
        Self::Travel,
    ];

    /// The name in JSON.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Dining => "dining",
            Self::Fitness => "fitness",
            Self::Entertainment => "entertainment",
            Self::Travel => "travel",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}
