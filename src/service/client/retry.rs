//! Decides whether a call is sent again within one run. Pure functions.

use std::time::Duration;

use super::failure::{Cause, Failure};

/// The most tries of a read, and of a booking request in one run, all with one key.
pub(crate) const TRIES: u32 = 3;

/// The pause before the same request is sent again, after try number `tried` (from 1) of a booking
/// request. Temporary failures are retried, which the key makes safe (spec, Limits 7); not an
/// address that timed out: the person has waited.
pub(crate) fn after_create(failure: &Failure, tried: u32) -> Option<Duration> {
    let passing = match failure {
        Failure::Failed(Cause::NotReached { timed_out }, _) => !timed_out,
        Failure::Failed(Cause::NoAnswer | Cause::TimedOut, _) => true,
        Failure::Failed(Cause::NotRead, error) => {
            error.http_status.is_none_or(|status| matches!(status, 200..=299 | 500..))
        }
        Failure::Refused(refusal) => refusal.may_pass(),
        _ => false,
    };
    next(passing, tried)
}

/// The pause after a failed read with so much time left: a broken connection or an unexplained 5xx
/// may be temporary.
pub(crate) fn after_read(failure: &Failure, tried: u32, left: Duration) -> Option<Duration> {
    let passing = match failure {
        Failure::Failed(Cause::NoAnswer, _) => true,
        Failure::Failed(Cause::NotRead, _) => failure.status() >= Some(500),
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
    use crate::outcome::Error;
    use crate::service::client::answer::redirected;
    use crate::service::client::refusal::Refusal;
    use reqwest::header::HeaderMap;
    use serde_json::{Value, json};

    const LONG: Duration = Duration::MAX;

    fn unreadable(status: u16) -> Failure {
        Failure::unreadable(status, String::new(), json!("").into(), None)
    }

    fn refused(status: u16, body: Value) -> Failure {
        let refusal = Refusal::new(status, &HeaderMap::new(), body.into());
        Failure::Refused(Box::new(refusal))
    }

    fn no_answer() -> Failure {
        Failure::Failed(Cause::NoAnswer, Error::config("reset"))
    }

    fn not_reached(timed_out: bool) -> Failure {
        Failure::Failed(Cause::NotReached { timed_out }, Error::config(""))
    }

    #[test]
    fn what_may_pass_is_sent_again_as_a_create_and_as_a_read() {
        let elsewhere = redirected(302, None);
        let unexplained = json!({"error": "boom"});
        let explained = json!({"error": "off", "error_code": "vendor_disabled"});
        for (failure, create, read) in [
            (no_answer(), true, true),
            (Failure::timed_out(Duration::from_secs(30)), true, false),
            (not_reached(true), false, false),
            (not_reached(false), true, false),
            (Failure::no_key(""), false, false),
            (Failure::not_sent(""), false, false),
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
        let broken = no_answer();
        let pauses = [Some(300), Some(600), None].map(|it| it.map(Duration::from_millis));
        assert_eq!([1, 2, 3].map(|tried| after_create(&broken, tried)), pauses);
        let read = |left| [1, 2, 3].map(|tried| after_read(&broken, tried, left));
        assert_eq!(read(LONG), pauses);
        assert_eq!(read(Duration::from_millis(600)), [pauses[0], None, None]);
    }
}
