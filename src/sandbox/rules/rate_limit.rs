//! Rate limits: a number of requests in a window of 5 minutes ("Limits").

use jiff::{SignedDuration, Timestamp};

const WINDOW: SignedDuration = SignedDuration::from_mins(5);

/// Its budget's name, and how many requests a window allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndpointLimit(pub(crate) &'static str, pub(crate) u32);

/// A window, which opens with its first request, after it has counted one.
pub(crate) struct RateWindow {
    pub(crate) opened_at: Timestamp,
    pub(crate) used: u32,
    pub(crate) limit: u32,
    /// Seconds until the window resets, rounded up.
    pub(crate) reset: u64,
    pub(crate) is_over: bool,
}

/// Counts a request. `before` is when the last window opened, and how many requests it has counted.
pub(crate) fn count(
    EndpointLimit(_, limit): EndpointLimit,
    before: Option<(Timestamp, u32)>,
    now: Timestamp,
) -> RateWindow {
    let is_open = |(opened_at, _): &(Timestamp, u32)| now < *opened_at + WINDOW;
    let (opened_at, used) = before.filter(is_open).unwrap_or((now, 0));
    let left = (opened_at + WINDOW).duration_since(now);
    RateWindow {
        opened_at,
        used: limit.min(used + 1),
        limit,
        reset: u64::try_from(left.as_millis().max(1)).map_or(1, |it| it.div_ceil(1_000)),
        is_over: used >= limit,
    }
}
