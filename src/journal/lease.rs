//! When something that a process has for a while is over: it may have died, and its clock, or the server's, may be set back.

use std::time::Duration;

/// The longest time for which anything is claimed: longer than a row of a batch waits for a window of the rate limit, and is sent.
pub(crate) const LONGEST_LEASE: Duration = Duration::from_secs(6 * 60);

/// The same in milliseconds.
pub(super) const LONGEST: i64 = LONGEST_LEASE.as_millis() as i64;

/// Whether what lasts `longest` at most, and should end at `until`, is over. If it ends later than that, the clock was set back
/// since it began, and nothing is known of it. All in milliseconds.
pub(super) fn is_over(until: i64, now: i64, longest: i64) -> bool {
    until <= now || until > now.saturating_add(longest)
}

#[cfg(test)]
mod tests {
    use super::is_over;

    #[test]
    fn a_lease_is_over_at_its_end_and_where_it_would_last_longer_than_any_does() {
        for (until, now, over) in [
            (10, 9, false),
            (10, 10, true),
            (10, 11, true),
            (10, 5, false),
            (10, 4, true),
            (i64::MAX, 4, true),
            (10, i64::MIN, true),
        ] {
            assert_eq!(is_over(until, now, 5), over, "{until} {now}");
        }
    }
}
