//! Deadlines for questions: a one-time code and a payment approval both expire.

use jiff::{SignedDuration, Timestamp};

/// The time at which a question expires, on the clock that decides it.
///
/// The service's clock may differ from this machine's, and a sandbox's clock can be moved while a question is open.
/// The clock is therefore read again each time, instead of adding up elapsed time.
#[derive(Clone, Copy)]
pub(crate) struct Deadline<'a> {
    at: Timestamp,
    clock: &'a dyn Fn() -> Timestamp,
}

impl<'a> Deadline<'a> {
    /// `clock` returns the service's current time.
    pub(crate) fn new(at: Timestamp, clock: &'a dyn Fn() -> Timestamp) -> Self {
        Self { at, clock }
    }

    /// The time left, or `None` once the deadline has passed.
    pub(super) fn left(&self) -> Option<SignedDuration> {
        let left = self.at.duration_since((self.clock)());
        left.is_positive().then_some(left)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Until<T> {
    Answered(T),
    TimedOut,
}

/// `mm:ss` below an hour, `h:mm:ss` above. Rounds up, so `00:01` is shown until the very end.
pub(super) fn countdown(left: SignedDuration) -> String {
    let seconds = left.as_secs().max(0) + i64::from(left.subsec_nanos() > 0);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes:02}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_countdown_shows_its_last_second_until_it_is_over() {
        assert_eq!(countdown(SignedDuration::from_secs(1192)), "19:52");
        assert_eq!(countdown(SignedDuration::from_millis(200)), "00:01");
        assert_eq!(countdown(SignedDuration::from_millis(59_001)), "01:00");
        assert_eq!(countdown(SignedDuration::from_secs(3723)), "1:02:03");
        assert_eq!(countdown(SignedDuration::from_secs(-5)), "00:00");
    }

    #[test]
    fn a_deadline_follows_the_clock_it_was_given_even_when_that_is_moved() {
        let at: Timestamp = "2026-12-01T19:20:00Z".parse().unwrap();
        let now = std::cell::Cell::new(at - SignedDuration::from_mins(20));
        let clock = || now.get();
        let deadline = Deadline::new(at, &clock);
        assert_eq!(deadline.left(), Some(SignedDuration::from_mins(20)));
        now.set(at);
        assert_eq!(deadline.left(), None);
        now.set(at - SignedDuration::from_secs(1));
        assert_eq!(deadline.left(), Some(SignedDuration::from_secs(1)));
    }
}
