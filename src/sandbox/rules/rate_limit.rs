//! Rate limits: a number of requests in a window of 5 minutes ("Limits").

use jiff::{SignedDuration, Timestamp};

use super::api_error::ApiError;

const WINDOW: SignedDuration = SignedDuration::from_mins(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateLimit {
    VenueSearch,
    AvailabilitySearch,
    BookingCreate,
    BookingContinue,
    BookingRead,
    BookingModify,
    BookingCancel,
    /// Connecting and verifying a session.
    Session,
    Card,
}

impl RateLimit {
    /// Its name, and how many requests a window allows.
    const fn row(self) -> (&'static str, u32) {
        match self {
            Self::VenueSearch => ("venue_search", 25),
            Self::AvailabilitySearch => ("availability_search", 60),
            Self::BookingCreate => ("booking_create", 10),
            Self::BookingContinue => ("booking_continue", 20),
            Self::BookingRead => ("booking_read", 300),
            Self::BookingModify => ("booking_modify", 20),
            Self::BookingCancel => ("booking_cancel", 30),
            Self::Session => ("session", 20),
            Self::Card => ("card", 30),
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        self.row().0
    }

    pub(crate) const fn limit(self) -> u32 {
        self.row().1
    }
}

/// A window, which opens with its first request, and how many requests it has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateWindow {
    pub(crate) opened_at: Timestamp,
    pub(crate) used: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateLimitStatus {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    /// Seconds until the window resets, rounded up.
    pub(crate) reset: u64,
    pub(crate) is_over: bool,
}

impl RateLimitStatus {
    pub(crate) fn check(self) -> Result<(), ApiError> {
        if self.is_over {
            Err(ApiError::RateLimited {
                limit: self.limit,
                retry_after: self.reset,
            })
        } else {
            Ok(())
        }
    }
}

/// Counts a request. Returns the window afterwards, and the state of the rate limit.
pub(crate) fn count(
    rate_limit: RateLimit,
    window: Option<RateWindow>,
    now: Timestamp,
) -> (RateWindow, RateLimitStatus) {
    let limit = rate_limit.limit();
    let window = window
        .filter(|it| it.opened_at <= now && now < it.opened_at + WINDOW)
        .unwrap_or(RateWindow {
            opened_at: now,
            used: 0,
        });
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        format!("2026-11-21T{time}Z").parse().unwrap()
    }

    #[test]
    fn the_eleventh_create_of_a_window_is_one_too_many() {
        let mut window = None;
        for remaining in (0..10).rev() {
            let (next, status) = count(RateLimit::BookingCreate, window, at("12:00:00"));
            assert_eq!((status.remaining, status.is_over), (remaining, false));
            window = Some(next);
        }
        let (_, status) = count(RateLimit::BookingCreate, window, at("12:04:58.5"));
        assert_eq!(
            (status.remaining, status.is_over, status.reset),
            (0, true, 2)
        );
        let (_, status) = count(RateLimit::BookingCreate, window, at("12:05:00"));
        assert_eq!(
            (status.remaining, status.is_over, status.reset),
            (9, false, 300)
        );
    }

    #[test]
    fn a_window_of_the_future_is_none_as_after_a_reset_of_the_clock() {
        let window = RateWindow {
            opened_at: at("13:00:00"),
            used: 10,
        };
        let (_, status) = count(RateLimit::BookingCreate, Some(window), at("12:00:00"));
        assert_eq!((status.remaining, status.reset), (9, 300));
    }
}
