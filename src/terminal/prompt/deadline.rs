//! Until when an answer is of use: a one-time code and a payment approval both expire.

use jiff::{SignedDuration, Timestamp};

/// The moment a question stops making sense, on the clock that decides it.
///
/// The service's clock may differ from this machine's, and a sandbox's can be moved while a question
/// stands; so the clock is asked again each time instead of being added up.
#[derive(Clone, Copy)]
pub(crate) struct Deadline<'a> {
    at: Timestamp,
    clock: &'a dyn Fn() -> Timestamp,
}

impl<'a> Deadline<'a> {
    /// `clock` gives the service's now.
    pub(crate) fn new(at: Timestamp, clock: &'a dyn Fn() -> Timestamp) -> Self {
        Self { at, clock }
    }

    /// What is left; `None` once it has passed.
    pub(super) fn left(&self) -> Option<SignedDuration> {
        let left = self.at.duration_since((self.clock)());
        left.is_positive().then_some(left)
    }
}

/// How an answer with a deadline ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Until<T> {
    Answered(T),
    TimedOut,
}

/// `mm:ss` under an hour, `h:mm:ss` from there. Rounded up: `00:01` is shown until the very end.
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
