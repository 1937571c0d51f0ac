//! Decides whether a call is sent again within one run. Pure functions.

use std::time::Duration;

use super::failure::Failure;

/// The most tries of a read, and of a booking request in one run, all with one key.
pub(crate) const TRIES: u32 = 3;

/// The pause before the same request is sent again, after try number `tried` (from 1) of a booking
/// request. Temporary failures are retried, which the key makes safe (spec, Limits 7); not an
/// address that timed out: the person has waited.
pub(crate) fn after_create(failure: &Failure, tried: u32) -> Option<Duration> {
    let passing = match failure {
        Failure::NotReached { timed_out, .. } => !timed_out,
        Failure::NoAnswer(_) | Failure::TimedOut(_) | Failure::Unusable(_) => true,
        Failure::Unreadable { status, .. } => *status >= 500 || (200..300).contains(status),
        Failure::Refused(refusal) => refusal.may_pass(),
        _ => false,
    };
    next(passing, tried)
}

/// The pause after a failed read with so much time left: a broken connection or an unexplained 5xx
/// may be temporary.
pub(crate) fn after_read(failure: &Failure, tried: u32, left: Duration) -> Option<Duration> {
    let passing = match failure {
        Failure::NoAnswer(_) => true,
        Failure::Unreadable { status, .. } => *status >= 500,
        Failure::Refused(refusal) => refusal.status >= 500 && refusal.code.is_none(),
        _ => false,
    };
    next(passing, tried).filter(|pause| *pause < left)
}

fn next(passing: bool, tried: u32) -> Option<Duration> {
    (passing && tried < TRIES).then(|| Duration::from_millis(150 << tried))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::client::refusal::Refusal;
    use reqwest::header::HeaderMap;
    use serde_json::{Value, json};

    const LONG: Duration = Duration::MAX;

    fn unreadable(status: u16) -> Failure {
        Failure::Unreadable { status, why: String::new(), body: json!("").into(), request_id: None }
    }

    fn refused(status: u16, body: Value) -> Failure {
        let refusal = Refusal::new(status, &HeaderMap::new(), body.into());
        Failure::Refused(Box::new(refusal))
    }

    fn not_reached(timed_out: bool) -> Failure {
        let why = String::new();
        Failure::NotReached { why, hint: None, timed_out }
    }

    #[test]
    fn what_may_pass_is_sent_again_as_a_create_and_as_a_read() {
        let elsewhere = Failure::Redirected { status: 302, to: None };
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
            (refused(499, unexplained.clone()), true, false),
            (refused(422, unexplained), false, false),
            (refused(400, explained), false, false),
        ] {
            let again = [after_create(&failure, 1), after_read(&failure, 1, LONG)];
            assert_eq!(again.map(|it| it.is_some()), [create, read], "{failure:?}");
        }
    }

    #[test]
    fn there_are_three_tries_and_each_pause_is_twice_the_one_before() {
        let broken = Failure::NoAnswer("reset".into());
        let pauses = [Some(300), Some(600), None].map(|it| it.map(Duration::from_millis));
        assert_eq!([1, 2, 3].map(|tried| after_create(&broken, tried)), pauses);
        let read = |left| [1, 2, 3].map(|tried| after_read(&broken, tried, left));
        assert_eq!(read(LONG), pauses);
        assert_eq!(read(Duration::from_millis(600)), [pauses[0], None, None]);
    }
}
