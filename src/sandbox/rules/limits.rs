//! Rate limits: so many requests in a window of 5 minutes ("Limits").

use jiff::{SignedDuration, Timestamp};

use super::refusal::Refusal;

/// How long a window is.
const WINDOW: SignedDuration = SignedDuration::from_mins(5);

/// What requests are counted together, for the whole organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    VenueSearch,
    AvailabilitySearch,
    BookingCreate,
    BookingContinue,
    BookingRead,
    BookingModify,
    BookingCancel,
    /// Connecting and verifying a session.
    Session,
    /// Both card reads.
    Card,
}

impl Budget {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::VenueSearch => "venue_search",
            Self::AvailabilitySearch => "availability_search",
            Self::BookingCreate => "booking_create",
            Self::BookingContinue => "booking_continue",
            Self::BookingRead => "booking_read",
            Self::BookingModify => "booking_modify",
            Self::BookingCancel => "booking_cancel",
            Self::Session => "session",
            Self::Card => "card",
        }
    }

    /// Requests that a window holds.
    pub(crate) const fn limit(self) -> u32 {
        match self {
            Self::VenueSearch => 25,
            Self::AvailabilitySearch => 60,
            Self::BookingCreate => 10,
            Self::BookingContinue | Self::BookingModify | Self::Session => 20,
            Self::BookingRead => 300,
            Self::BookingCancel | Self::Card => 30,
        }
    }
}

/// A window that opened with its first request, and what it has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) opened_at: Timestamp,
    pub(crate) used: u32,
}

/// What a request finds of its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meter {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    /// Seconds until the window resets, rounded up.
    pub(crate) reset: u64,
    /// Whether the request is one too many.
    pub(crate) is_over: bool,
}

impl Meter {
    /// Refuses the request that is one too many.
    pub(crate) fn check(self) -> Result<(), Refusal> {
        if self.is_over {
            Err(Refusal::RateLimited {
                limit: self.limit,
                retry_after: self.reset,
            })
        } else {
            Ok(())
        }
    }
}

/// Counts a request: the window afterwards, and what is left of it.
pub(crate) fn count(budget: Budget, window: Option<Window>, now: Timestamp) -> (Window, Meter) {
    let limit = budget.limit();
    let window = window
        .filter(|it| it.opened_at <= now && now < it.opened_at + WINDOW)
        .unwrap_or(Window {
            opened_at: now,
            used: 0,
        });
    let is_over = window.used >= limit;
    let used = if is_over { limit } else { window.used + 1 };
    let left = (window.opened_at + WINDOW).duration_since(now);
    let meter = Meter {
        limit,
        remaining: limit - used,
        reset: u64::try_from(left.as_millis().max(1)).map_or(1, |it| it.div_ceil(1_000)),
        is_over,
    };
    (Window { used, ..window }, meter)
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
            let (next, meter) = count(Budget::BookingCreate, window, at("12:00:00"));
            assert_eq!((meter.remaining, meter.is_over), (remaining, false));
            window = Some(next);
        }
        let (_, meter) = count(Budget::BookingCreate, window, at("12:04:58.5"));
        assert_eq!((meter.remaining, meter.is_over, meter.reset), (0, true, 2));
        let (_, meter) = count(Budget::BookingCreate, window, at("12:05:00"));
        assert_eq!(
            (meter.remaining, meter.is_over, meter.reset),
            (9, false, 300)
        );
    }

    #[test]
    fn a_window_of_the_future_is_none_as_after_a_reset_of_the_clock() {
        let window = Window {
            opened_at: at("13:00:00"),
            used: 10,
        };
        let (_, meter) = count(Budget::BookingCreate, Some(window), at("12:00:00"));
        assert_eq!((meter.remaining, meter.reset), (9, 300));
    }
}
