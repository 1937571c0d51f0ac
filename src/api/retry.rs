//! When a create is sent again within one run: a pure policy (docs/architecture.md).

use std::time::Duration;

use super::failure::Failure;

/// How often a create is tried in one run, all with one idempotency key.
const TRIES: u32 = 3;

/// What to do after a failed try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Send the same request with the same key after this pause.
    Again(Duration),
    /// It is over; whether a booking exists may be open.
    GiveUp,
}

/// Decides after the failure of try number `tried` (1 for the first).
///
/// A refusal is final. What may pass is tried again, because the key makes it safe
/// (spec, Limits 7); a connection that timed out is not, since a person already waited for it.
pub(super) fn after(failure: &Failure, tried: u32) -> Next {
    let passing = match failure {
        Failure::NotReached(why) => !why.contains("in time"),
        Failure::NoKey(_) | Failure::Key(_) | Failure::NotSent(_) | Failure::TimedOut(_) => false,
        Failure::NoAnswer(_) => true,
        Failure::Unreadable { status, .. } => *status >= 500 || (200..300).contains(status),
        Failure::Refused(_) => failure.leaves_a_write_open(),
    };
    if passing && tried < TRIES {
        Next::Again(Duration::from_millis(150 << tried))
    } else {
        Next::GiveUp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_create_is_tried_at_most_three_times() {
        let broken = Failure::NoAnswer("reset".into());
        assert!(matches!(after(&broken, 1), Next::Again(_)));
        assert!(matches!(after(&broken, 2), Next::Again(_)));
        assert_eq!(after(&broken, 3), Next::GiveUp);
    }

    #[test]
    fn a_timeout_is_not_waited_for_twice() {
        assert_eq!(
            after(&Failure::TimedOut(Duration::from_secs(30)), 1),
            Next::GiveUp
        );
        assert_eq!(
            after(&Failure::NotReached("nothing answered in time".into()), 1),
            Next::GiveUp
        );
    }
}
