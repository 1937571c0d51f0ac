//! The values of `--since` and `--until`.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::model::duration::duration;
use crate::model::when::When;
use crate::model::zone::system_zone;
use crate::outcome::{Error, Result};

/// A time, given as such or as a length of time ago.
#[derive(Clone, Debug)]
pub(super) enum Since {
    Ago(Duration),
    At(When),
}

impl Since {
    pub(super) fn parse(text: &str) -> std::result::Result<Self, String> {
        if let Ok(length) = duration(text) {
            return Ok(Since::Ago(length));
        }
        let time = When::parse(text).map(Since::At);
        time.map_err(|error| format!("{error}; or how long ago, such as 2h"))
    }

    /// The moment that it means at `now`.
    ///
    /// # Errors
    /// `usage` (2) if a clock change skips or repeats the time.
    pub(super) fn resolve(&self, now: Timestamp) -> Result<Timestamp> {
        match self {
            Since::Ago(length) => {
                let length = SignedDuration::try_from(*length).unwrap_or(SignedDuration::MAX);
                Ok(now.saturating_sub(length).unwrap_or(Timestamp::MIN))
            }
            Since::At(when) => {
                let moment = when.resolve(now, &system_zone());
                let moment = moment.map_err(|error| Error::usage(error.to_string()))?;
                Ok(moment.timestamp())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_counted_back_from_now() {
        let now: Timestamp = "2026-11-21T12:00:00Z".parse().unwrap();
        for (text, at) in [
            ("2h", "2026-11-21T10:00:00Z"),
            ("2026-11-20T19:30:00+01:00", "2026-11-20T18:30:00Z"),
        ] {
            let since = Since::parse(text).unwrap().resolve(now).unwrap();
            assert_eq!(since, at.parse::<Timestamp>().unwrap(), "{text}");
        }
        assert!(Since::parse("soon").is_err());
    }
}
