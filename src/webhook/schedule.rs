//! When a failed delivery is tried again.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::model::duration::duration;

/// The pauses between the attempts of a delivery. After the last one has failed, the event is abandoned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule(Vec<Duration>);

impl Default for Schedule {
    /// The service's own ("Events", 6): 30 seconds, 2 minutes, 10 minutes.
    fn default() -> Self {
        Schedule([30, 120, 600].map(Duration::from_secs).into())
    }
}

impl Schedule {
    /// Parses `30s,2m,10m`; `none` means no retries.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Schedule(Vec::new()));
        }
        let pauses = text.split(',').map(duration).collect::<Result<_, _>>();
        pauses.map(Schedule).map_err(|error| error.to_string())
    }

    /// When to try again after `failures` failed attempts; `None` if the schedule is used up.
    pub(crate) fn next(&self, failures: usize, now: Timestamp) -> Option<Timestamp> {
        let pause = *self.0.get(failures.saturating_sub(1))?;
        let pause = SignedDuration::try_from(pause).unwrap_or(SignedDuration::MAX);
        Some(now.saturating_add(pause).unwrap_or(Timestamp::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_services_own_schedule_abandons_after_the_fourth_failed_attempt() {
        let now = Timestamp::UNIX_EPOCH;
        let next = |failures| {
            let next = Schedule::default().next(failures, now);
            next.map(Timestamp::as_second)
        };
        assert_eq!(
            [1, 2, 3, 4].map(next),
            [Some(30), Some(120), Some(600), None]
        );
        assert_eq!(Schedule::parse("30s,2m,10m"), Ok(Schedule::default()));
    }

    #[test]
    fn none_means_no_retries_and_nonsense_is_refused() {
        assert_eq!(
            Schedule::parse("none").unwrap().next(1, Timestamp::now()),
            None
        );
        for text in ["", "30s,", "soon"] {
            assert!(Schedule::parse(text).is_err(), "{text}");
        }
    }
}
