//! Decides whether a call is sent again within one run. Pure functions.

use std::time::Duration;

use super::failure::Failure;

/// The most tries of a read, and of a booking request in one run. All tries have the same idempotency key.
const TRIES: u32 = 3;

/// The pause before the same request is sent again, after try number `tried` (from 1) of a booking request. With `None` it
/// ends: whether a booking exists may be unknown.
///
/// A refusal is final. Temporary failures are retried, which the key makes safe (spec, Limits 7). An address that does
/// not accept connections is not retried, because the person has already waited for it.
pub(crate) fn after_create(failure: &Failure, tried: u32) -> Option<Duration> {
    let passing = match failure {
        Failure::NotReached { timed_out, .. } => !timed_out,
        Failure::NoAnswer(_) | Failure::TimedOut(_) | Failure::Unusable(_) => true,
        Failure::Unreadable { status, .. } => *status >= 500 || (200..300).contains(status),
        // A 4xx that proves nothing comes from a proxy, which would answer the same again.
        Failure::Refused(refusal) => refusal.status >= 500 && !refusal.proves_nothing_was_done(),
        _ => false,
    };
    next(passing, tried, 1.0)
}

/// The same after a failed read: a broken connection or an unexplained 5xx may be temporary.
///
/// `jitter`, from 0 to 1, spreads the retries of clients that failed at the same moment.
pub(crate) fn after_read(failure: &Failure, tried: u32, jitter: f64) -> Option<Duration> {
    let passing = match failure {
        Failure::NoAnswer(_) => true,
        Failure::Unreadable { status, .. } => *status >= 500,
        Failure::Refused(refusal) => refusal.status >= 500 && refusal.code.is_none(),
        _ => false,
    };
    next(passing, tried, jitter)
}

fn next(passing: bool, tried: u32, jitter: f64) -> Option<Duration> {
    let longest = Duration::from_millis(150 << tried);
    let pause = longest.mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0);
    (passing && tried < TRIES).then_some(pause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::client::refusal::Refusal;
    use reqwest::header::HeaderMap;
    use serde_json::{Value, json};

    fn unreadable(status: u16) -> Failure {
        let kind = "text/html".to_owned();
        Failure::Unreadable { status, kind }
    }

    fn refused(status: u16, body: Value) -> Failure {
        let refusal = Refusal::new(status, &HeaderMap::new(), body.into());
        Failure::Refused(Box::new(refusal))
    }

    fn not_reached(timed_out: bool) -> Failure {
        let why = String::new();
        Failure::NotReached { why, timed_out }
    }

    #[test]
    fn what_may_pass_is_sent_again_as_a_create_and_as_a_read() {
        let elsewhere = Failure::Redirected {
            status: 302,
            to: None,
        };
        let unexplained = json!({"error": "boom"});
        let explained = json!({"error": "off", "error_code": "vendor_disabled"});
        for (failure, create, read) in [
            (Failure::NoAnswer("reset".into()), true, true),
            (Failure::TimedOut(Duration::from_secs(30)), true, false),
            (not_reached(true), false, false),
            (not_reached(false), true, false),
            (Failure::NoKey(String::new()), false, false),
            (Failure::NotSent(String::new()), false, false),
            (elsewhere, false, false),
            (unreadable(199), false, false),
            (unreadable(200), true, false),
            (unreadable(299), true, false),
            (unreadable(300), false, false),
            (unreadable(404), false, false),
            (unreadable(500), true, true),
            (unreadable(599), true, true),
            (refused(500, unexplained.clone()), true, true),
            (refused(503, explained.clone()), false, false),
            (refused(499, unexplained), false, false),
            (refused(400, explained), false, false),
        ] {
            let again = [after_create(&failure, 1), after_read(&failure, 1, 0.5)];
            assert_eq!(again.map(|it| it.is_some()), [create, read], "{failure:?}");
        }
    }

    #[test]
    fn there_are_three_tries_each_pause_is_twice_the_one_before_and_those_of_reads_are_spread() {
        let broken = Failure::NoAnswer("reset".into());
        let pauses = [Some(300), Some(600), None].map(|it| it.map(Duration::from_millis));
        assert_eq!([1, 2, 3].map(|tried| after_create(&broken, tried)), pauses);
        let spread = [0.0, 1.0].map(|jitter| after_read(&broken, 1, jitter));
        assert_eq!(spread, [150, 300].map(|it| Some(Duration::from_millis(it))));
        assert_eq!(after_read(&broken, 3, 1.0), None);
    }
}
