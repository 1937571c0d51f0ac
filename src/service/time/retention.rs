//! How long guests' data is kept on this computer.

use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use super::duration;

/// How long the journal keeps a guest after a booking request; with 0, until it has ended.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub(crate) struct Retention(Duration);

impl Retention {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        duration::period(text).map(Retention)
    }

    /// The latest start of a request whose data is now due for deletion.
    pub(crate) fn ended(self, now: Timestamp) -> Timestamp {
        if self.0.is_zero() {
            // Includes what a clock that was set back has dated in the future.
            return Timestamp::MAX;
        }
        let stored = SignedDuration::try_from(self.0).unwrap_or(SignedDuration::MAX);
        now.saturating_sub(stored).unwrap_or(Timestamp::MIN)
    }
}

impl Default for Retention {
    /// Long enough for a booking made a season ahead, and for a complaint.
    fn default() -> Self {
        Retention(Duration::from_secs(90 * 24 * 60 * 60))
    }
}

impl TryFrom<String> for Retention {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Retention::parse(&text)
    }
}

/// The text that [`Retention::parse`] accepts: `90d`, `36h`, `0`.
impl fmt::Display for Retention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (milliseconds, seconds) = (self.0.as_millis(), self.0.as_secs());
        match seconds {
            _ if milliseconds == 0 => f.write_str("0"),
            _ if !milliseconds.is_multiple_of(1000) => write!(f, "{milliseconds}ms"),
            _ if seconds.is_multiple_of(86_400) => write!(f, "{}d", seconds / 86_400),
            _ if seconds.is_multiple_of(3600) => write!(f, "{}h", seconds / 3600),
            _ if seconds.is_multiple_of(60) => write!(f, "{}m", seconds / 60),
            _ => write!(f, "{seconds}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::documents::rows;

    #[test]
    fn a_retention_is_shown_as_it_can_be_written_again() {
        for [text, displayed] in rows("90d | 90d\n2w | 14d\n1d 12h | 36h\n1500ms | 1500ms\n0 | 0") {
            let retention = Retention::parse(text).unwrap();
            assert_eq!(retention.to_string(), displayed);
            assert_eq!(Retention::parse(displayed).unwrap(), retention);
        }
    }

    #[test]
    fn retention_without_a_unit_is_refused() {
        let sentence = Retention::parse("90").unwrap_err();
        assert!(sentence.contains("no unit"), "{sentence}");
        assert!(sentence.contains("`90d`"), "{sentence}");
        assert!(Retention::parse("101w of waiting").is_err());
        assert!(Retention::parse("100000d").is_err());
    }

    #[test]
    fn nothing_is_younger_than_a_retention_of_nothing() {
        let now: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        let ended = |text| Retention::parse(text).unwrap().ended(now);
        assert_eq!(ended("0"), Timestamp::MAX);
        assert_eq!(ended("1d").to_string(), "2026-11-30T12:00:00Z");
        assert_eq!(ended("36500d").to_string(), "1926-12-26T12:00:00Z");
    }
}
