//! Rate limits: a number of requests in a window of 5 minutes ("Limits").

use jiff::{SignedDuration, Timestamp};

const WINDOW: SignedDuration = SignedDuration::from_mins(5);

/// Its budget's name, and how many requests a window allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndpointLimit(pub(crate) &'static str, pub(crate) u32);

/// A window, which opens with its first request, and how many requests it has counted.
pub(crate) struct RateWindow {
    pub(crate) opened_at: Timestamp,
    pub(crate) used: u32,
}

pub(crate) struct RateLimitStatus {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    /// Seconds until the window resets, rounded up.
    pub(crate) reset: u64,
    pub(crate) is_over: bool,
}

/// Counts a request. Returns the window afterwards, and the state of the rate limit.
pub(crate) fn count(
    EndpointLimit(_, limit): EndpointLimit,
    window: Option<RateWindow>,
    now: Timestamp,
) -> (RateWindow, RateLimitStatus) {
    let window = window
        .filter(|it| now < it.opened_at + WINDOW)
        .unwrap_or(RateWindow { opened_at: now, used: 0 });
    let is_over = window.used >= limit;
    let used = if is_over { limit } else { window.used + 1 };
    let left = (window.opened_at + WINDOW).duration_since(now);
    let status = RateLimitStatus {
        limit,
        remaining: limit - used,
        reset: u64::try_from(left.as_millis().max(1)).map_or(1, |it| it.div_ceil(1_000)),
        is_over,
    };
    (RateWindow { used, ..window }, status)
}
