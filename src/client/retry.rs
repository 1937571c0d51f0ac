//! Decides whether a call is sent again within one run. Pure functions.

use std::time::Duration;

use super::failure::Failure;

/// The most tries of a read, and of a booking request in one run. All tries have the same idempotency key.
const TRIES: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetryDecision {
    /// Send the same request with the same key after this pause.
    Again(Duration),
    /// Stop. Whether a booking exists may be unknown.
    GiveUp,
}

/// Decides after try number `tried` (from 1) of a booking request.
///
/// A refusal is final. Temporary failures are retried, which the key makes safe (spec, Limits 7). An address that does
/// not accept connections is not retried, because the person has already waited for it.
pub(super) fn after_create(failure: &Failure, tried: u32) -> RetryDecision {
    let passing = match failure {
        Failure::NotReached { timed_out, .. } => !timed_out,
        Failure::NoKey(_) | Failure::Key(_) | Failure::NotSent(_) => false,
        Failure::NoAnswer(_) | Failure::TimedOut(_) | Failure::Unusable(_) => true,
        Failure::Redirected { .. } | Failure::NoBooking { .. } => false,
        Failure::Unreadable { status, .. } => *status >= 500 || (200..300).contains(status),
        // A 4xx that proves nothing comes from a proxy, which would answer the same again.
        Failure::Refused(refusal) => refusal.status >= 500 && !refusal.is_certain(),
    };
    next(passing, tried, 1.0)
}

/// Decides after a failed read: a broken connection or an unexplained 5xx may be temporary.
///
/// `jitter`, from 0 to 1, spreads the retries of clients that failed at the same moment.
pub(super) fn after_read(failure: &Failure, tried: u32, jitter: f64) -> RetryDecision {
    let passing = match failure {
        Failure::NoAnswer(_) => true,
        Failure::Unreadable { status, .. } => *status >= 500,
        Failure::Refused(refusal) => refusal.status >= 500 && refusal.code.is_none(),
        Failure::NotReached { .. }
        | Failure::TimedOut(_)
        | Failure::Unusable(_)
        | Failure::Redirected { .. }
        | Failure::NoBooking { .. }
        | Failure::NoKey(_)
        | Failure::Key(_)
        | Failure::NotSent(_) => false,
    };
    next(passing, tried, jitter)
}

fn next(passing: bool, tried: u32, jitter: f64) -> RetryDecision {
    if !passing || tried >= TRIES {
        return RetryDecision::GiveUp;
    }
    let longest = Duration::from_millis(150 << tried);
    RetryDecision::Again(longest.mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_create_is_tried_at_most_three_times() {
        let broken = Failure::NoAnswer("reset".into());
        assert!(matches!(after_create(&broken, 1), RetryDecision::Again(_)));
        assert!(matches!(after_create(&broken, 2), RetryDecision::Again(_)));
        assert_eq!(after_create(&broken, 3), RetryDecision::GiveUp);
    }

    #[test]
    fn an_address_where_nothing_takes_a_connection_is_not_waited_for_twice() {
        let unreachable = Failure::NotReached {
            why: "connection timed out".into(),
            timed_out: true,
        };
        assert_eq!(after_create(&unreachable, 1), RetryDecision::GiveUp);
        let stalled = Failure::TimedOut(Duration::from_secs(30));
        assert!(matches!(after_create(&stalled, 1), RetryDecision::Again(_)));
        assert_eq!(after_read(&stalled, 1, 0.5), RetryDecision::GiveUp);
    }

    #[test]
    fn the_tries_of_a_read_are_spread() {
        let broken = Failure::NoAnswer("reset".into());
        assert_eq!(
            after_read(&broken, 1, 0.0),
            RetryDecision::Again(Duration::from_millis(150))
        );
        assert_eq!(
            after_read(&broken, 1, 1.0),
            RetryDecision::Again(Duration::from_millis(300))
        );
        assert_eq!(after_read(&broken, 3, 1.0), RetryDecision::GiveUp);
    }

    fn unreadable(status: u16) -> Failure {
        Failure::Unreadable {
            status,
            kind: "text/html".to_owned(),
        }
    }

    fn refused(status: u16, body: serde_json::Value) -> Failure {
        let headers = reqwest::header::HeaderMap::new();
        Failure::Refused(Box::new(crate::client::refusal::Refusal::new(
            status,
            &headers,
            body.into(),
        )))
    }

    #[test]
    fn a_page_in_place_of_a_success_or_of_a_failure_of_the_service_may_pass() {
        for status in [200, 201, 299, 500, 502, 599] {
            let next = after_create(&unreadable(status), 1);
            assert!(matches!(next, RetryDecision::Again(_)), "{status}");
        }
        for status in [199, 300] {
            assert_eq!(
                after_create(&unreadable(status), 1),
                RetryDecision::GiveUp,
                "{status}"
            );
        }
        assert!(matches!(
            after_read(&unreadable(500), 1, 0.5),
            RetryDecision::Again(_)
        ));
        for status in [200, 404, 499] {
            assert_eq!(
                after_read(&unreadable(status), 1, 0.5),
                RetryDecision::GiveUp
            );
        }
    }

    #[test]
    fn a_service_that_fails_without_saying_why_is_asked_again_and_one_that_says_why_is_not() {
        let unexplained = serde_json::json!({"error": "boom"});
        let explained = serde_json::json!({"error": "off", "error_code": "vendor_disabled"});
        for (status, body, again) in [
            (500, &unexplained, true),
            (503, &explained, false),
            (499, &unexplained, false),
            (400, &explained, false),
        ] {
            let failure = refused(status, body.clone());
            for next in [after_create(&failure, 1), after_read(&failure, 1, 0.5)] {
                assert_eq!(
                    matches!(next, RetryDecision::Again(_)),
                    again,
                    "{status} {body}"
                );
            }
        }
    }

    #[test]
    fn what_never_left_is_sent_again_only_where_nothing_was_waited_for() {
        let refused = Failure::NotReached {
            why: "connection refused".into(),
            timed_out: false,
        };
        assert!(matches!(after_create(&refused, 1), RetryDecision::Again(_)));
        assert_eq!(after_read(&refused, 1, 0.5), RetryDecision::GiveUp);
        let elsewhere = Failure::Redirected {
            status: 302,
            to: None,
        };
        for failure in [
            Failure::NoKey(String::new()),
            Failure::NotSent(String::new()),
            elsewhere,
        ] {
            assert_eq!(
                after_create(&failure, 1),
                RetryDecision::GiveUp,
                "{failure:?}"
            );
            assert_eq!(
                after_read(&failure, 1, 0.5),
                RetryDecision::GiveUp,
                "{failure:?}"
            );
        }
    }

    #[test]
    fn each_pause_is_twice_the_one_before() {
        let broken = Failure::NoAnswer("reset".into());
        for (tried, millis) in [(1, 300), (2, 600)] {
            let pause = Duration::from_millis(millis);
            assert_eq!(after_create(&broken, tried), RetryDecision::Again(pause));
        }
    }
}
