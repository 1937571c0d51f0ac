use std::time::Duration;

use super::*;
use crate::journal::tests::fresh;
use jiff::{SignedDuration, Timestamp};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn after(seconds: i64) -> Timestamp {
    NOW + SignedDuration::from_secs(seconds)
}

fn seen(remaining: u32, resets_at: Timestamp) -> RateLimitWindow {
    RateLimitWindow {
        name: "POST /v1/bookings".into(),
        allowed: 10,
        remaining,
        resets_at,
        skew: SignedDuration::ZERO,
        seen_at: NOW,
    }
}

/// What is left of a window that is known, after an answer has shown another state of it.
fn corrected(known: &RateLimitWindow, displayed: RateLimitWindow) -> u32 {
    let (_folder, journal) = fresh("o");
    for window in [known.clone(), displayed] {
        journal.observe(RATE_LIMIT, Some(window));
        journal.write_observed().unwrap();
    }
    journal.rate_limit(RATE_LIMIT).unwrap().unwrap().remaining
}

#[test]
fn clock_set_back_exhausts_no_window_forever() {
    let none = seen(0, after(60));
    assert!(none.is_exhausted(after(-240)) && !none.is_exhausted(after(-3600)));
    assert!(none.clone().after_request(after(-3600)).is_some());
    assert_eq!(none.left(after(-3600)), (10, Duration::ZERO));
    let holds_nothing = RateLimitWindow { allowed: 0, ..none };
    assert_eq!(holds_nothing.clone().after_request(after(59)), None);
    assert!(holds_nothing.after_request(after(60)).is_some());
}

const RATE_LIMIT: &str = "POST /v1/bookings";

#[test]
fn request_is_counted_before_it_is_sent() {
    for (remaining, now, left) in
        [(9, NOW, (9, after(60))), (8, NOW, (7, after(60))), (9, after(60), (9, after(360)))]
    {
        let (_folder, journal) = fresh("o");
        journal.observe(RATE_LIMIT, Some(seen(remaining, after(60))));
        journal.write_observed().unwrap();
        assert_eq!(journal.count_request(RATE_LIMIT, &|_| now).unwrap(), None);
        let window = journal.rate_limit(RATE_LIMIT).unwrap().unwrap();
        assert_eq!((window.remaining, window.resets_at), left);
        assert_eq!(journal.rate_limits().unwrap(), [window]);
    }
}

#[test]
fn window_gives_what_is_left_of_it_and_is_then_exhausted() {
    let two = seen(2, after(60));
    assert_eq!(two.left(after(59)), (2, Duration::from_secs(1)));
    assert_eq!(two.left(after(60)), (10, Duration::ZERO));
    let none = two.after_request(NOW).unwrap().after_request(NOW).unwrap();
    assert!(none.is_exhausted(after(59)) && !none.is_exhausted(after(60)));
    assert_eq!(none.clone().after_request(after(59)), None);
    let next = none.after_request(after(60)).unwrap();
    assert_eq!((next.remaining, next.resets_at), (9, after(360)));
    // Five minutes and the slack are the longest.
    assert!(seen(0, after(302)).is_exhausted(NOW) && !seen(0, after(303)).is_exhausted(NOW));
}

#[test]
fn an_answer_never_gives_back_what_others_have_taken_meanwhile() {
    let known = seen(3, after(60));
    for (left, resets_at, remaining) in [(5, 61, 3), (1, 60, 1), (9, 62, 3), (9, 63, 9)] {
        let displayed = seen(left, after(resets_at));
        assert_eq!(corrected(&known, displayed), remaining, "{left} {resets_at}");
    }
}
