//! Estimates how long a batch still takes: from the time per row so far, and the rate limit windows that it has to
//! wait for.

use std::time::Duration;

use crate::client::{RATE_LIMIT_WINDOW, RateLimit};
use crate::model::duration::in_units;

/// How long `rows` booking requests still take at `a_row` each, under this rate limit if it is known.
pub(super) fn time_left(rows: usize, a_row: Duration, limit: Option<RateLimit>) -> Duration {
    let rows = u32::try_from(rows).unwrap_or(u32::MAX);
    let Some(limit) = limit.filter(|it| it.limit > 0 && rows > it.remaining) else {
        return a_row * rows;
    };
    let beyond = rows - limit.remaining;
    let windows = beyond.div_ceil(limit.limit);
    let last = beyond - (windows - 1) * limit.limit;
    limit.resets_in + RATE_LIMIT_WINDOW * (windows - 1) + a_row * last
}

/// An estimate, which is not to the second where it is longer than a minute.
pub(super) fn about(time: Duration) -> String {
    in_units(match time.as_secs() {
        seconds @ 0..60 => seconds.max(1),
        seconds => seconds.div_ceil(60) * 60,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_batch_counts_the_windows_that_it_has_to_wait_for() {
        let second = Duration::from_secs(1);
        let limit = |remaining| RateLimit {
            limit: 10,
            remaining,
            resets_in: Duration::from_secs(100),
        };
        assert_eq!(time_left(5, second, None).as_secs(), 5);
        assert_eq!(time_left(5, second, Some(limit(5))).as_secs(), 5);
        assert_eq!(time_left(6, second, Some(limit(5))).as_secs(), 101);
        assert_eq!(time_left(15, second, Some(limit(5))).as_secs(), 110);
        assert_eq!(time_left(16, second, Some(limit(5))).as_secs(), 401);
        assert_eq!(time_left(0, second, Some(limit(0))).as_secs(), 0);
    }

    #[test]
    fn an_estimate_is_told_in_whole_minutes_where_it_is_longer_than_one() {
        let told = |seconds| about(Duration::from_secs(seconds));
        assert_eq!(told(1), "1 s");
        assert_eq!(told(61), "2 min");
        assert_eq!(told(1800), "30 min");
        assert_eq!(told(3540), "59 min");
        assert_eq!(told(4860), "1 h 21 min");
        assert_eq!(told(9000), "2 h 30 min");
    }
}
