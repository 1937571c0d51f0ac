//! What an answer proves of a run, and what a command may say: pure functions, which the model
//! checker calls too (`protocol_model`). What is known becomes what may be said in five steps:
//! - `Earlier`: what the runs before this one leave possible.
//! - `LastTry`: what the answer to the run's last try proves, judged with `Earlier`.
//! - `Outcome`: how the run ended. An earlier try of it that is in doubt outweighs a refusal of the
//!   last one.
//! - `State`: what all runs of the attempt prove together.
//! - `Conclusion`: what the command may say, from the run's outcome and the attempt's state.

use super::runs::{Earlier, Outcome, State};

/// Who chose an idempotency key, and so who else may have sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KeyOrigin {
    /// This attempt made it, so only this attempt's runs have sent it.
    Generated {
        /// Whether a person wants the booking beside one that an open attempt may have made.
        allow_duplicate: bool,
    },
    /// It counts for this request alone, and others may have sent it: the key of a batch's row, or
    /// one that is resumed.
    Derived { allow_duplicate: bool },
    /// The caller gave it: others may have sent it, for anything.
    Caller,
}

impl KeyOrigin {
    /// Whether the booking may be made although an open attempt under another key is for the same.
    /// A new key from the caller says so, and a resumed attempt is one of the open ones itself.
    pub(crate) fn allow_duplicate(self) -> bool {
        use KeyOrigin::{Caller, Derived, Generated};
        match self {
            Generated { allow_duplicate } | Derived { allow_duplicate } => allow_duplicate,
            Caller => true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ShownBooking {
    /// Whether it agrees with what was asked for, in each field that it shows.
    pub(crate) agrees: bool,
    /// Whether an earlier run of the attempt was answered with it. It may have been modified since.
    pub(crate) is_known: bool,
    /// Whether it says itself that it was made before the run began.
    pub(crate) is_older: bool,
    /// Whether the status was 200, as for a booking that exists (spec, Limits 7).
    pub(crate) is_200: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TryResult {
    NotSent,
    /// The service refused the request, and so created nothing for this try.
    Refused,
    NoProof,
    /// The booking of another caller who used the key before.
    AnotherBooking,
    Booked,
}

/// Whether a booking existed before the attempt: it is older than the run (`is_older`), and neither
/// an earlier try of the run (`in_doubt`) nor an earlier run may have made it.
pub(crate) fn existed_before(is_older: bool, in_doubt: bool, earlier: Earlier) -> bool {
    is_older && !in_doubt && earlier != Earlier::MayHaveBooked
}

/// Whether the booking that answers a try may have been modified since it was made: only one that
/// an earlier try may have made.
pub(crate) fn may_be_modified(key: KeyOrigin, in_doubt: bool, earlier: Earlier) -> bool {
    in_doubt || earlier != Earlier::Nothing || !matches!(key, KeyOrigin::Generated { .. })
}

/// Judges a booking that answered a booking request. What an earlier run was answered with is the
/// requested one. One that is older than the attempt counts only if others may have sent the key.
pub(crate) fn judge(
    displayed: ShownBooking,
    key: KeyOrigin,
    in_doubt: bool,
    earlier: Earlier,
) -> TryResult {
    let is_foreign = existed_before(displayed.is_older, in_doubt, earlier);
    match (displayed.agrees, is_foreign, key) {
        _ if displayed.is_known => TryResult::Booked,
        (true, true, KeyOrigin::Generated { .. }) => TryResult::NoProof,
        (true, ..) => TryResult::Booked,
        (false, true, KeyOrigin::Caller) if displayed.is_200 => TryResult::AnotherBooking,
        (false, ..) => TryResult::NoProof,
    }
}

/// Derives the end of a run from its last try.
///
/// `in_doubt` is whether an earlier try of the run may have booked: a later refusal proves nothing
/// about it. `is_of_another_key` is whether another attempt at the service has the booking: it
/// cannot be both (spec, Limits 7).
pub(crate) fn outcome_of(last: TryResult, in_doubt: bool, is_of_another_key: bool) -> Outcome {
    match last {
        TryResult::Booked if is_of_another_key => Outcome::InDoubt,
        TryResult::Booked => Outcome::Booked,
        TryResult::AnotherBooking => Outcome::AnotherBooking,
        TryResult::NoProof => Outcome::InDoubt,
        TryResult::Refused | TryResult::NotSent if in_doubt => Outcome::InDoubt,
        TryResult::Refused => Outcome::Refused,
        TryResult::NotSent => Outcome::NotSent,
    }
}

/// What a command may say of an attempt when one of its runs ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conclusion {
    Booked,
    /// No run of the attempt created a booking.
    NothingBooked,
    /// The service had made another booking under the key before: exit code 7.
    AnotherBooking,
    /// A booking may exist: exit code 16, or 9 where a rate limit was met last.
    Unknown,
}

/// Derives what may be said from how the run ended and the state that its attempt then has; `None`
/// where the journal could not note the end.
pub(crate) fn conclusion(outcome: Outcome, state: Option<State>) -> Conclusion {
    match (outcome, state) {
        (Outcome::Booked, _) => Conclusion::Booked,
        // The journal knows better than such an answer which booking the key has.
        (Outcome::AnotherBooking, Some(State::Resolved)) => Conclusion::Unknown,
        (Outcome::AnotherBooking, _) => Conclusion::AnotherBooking,
        (Outcome::Refused | Outcome::NotSent, Some(State::Refused)) => Conclusion::NothingBooked,
        _ => Conclusion::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_proves_nothing_of_the_tries_before_it() {
        for last in [TryResult::Refused, TryResult::NotSent] {
            assert_eq!(outcome_of(last, true, false), Outcome::InDoubt);
            assert_ne!(outcome_of(last, false, false), Outcome::InDoubt);
        }
    }

    #[test]
    fn booking_resolves_attempt_if_it_agrees() {
        const MADE: Earlier = Earlier::Booked;
        use Earlier::{MayHaveBooked, Nothing};
        use KeyOrigin::Caller;
        use TryResult::{AnotherBooking, Booked, NoProof};
        const GENERATED: KeyOrigin = KeyOrigin::Generated { allow_duplicate: false };
        const ROW: KeyOrigin = KeyOrigin::Derived { allow_duplicate: false };
        for (agrees, is_older, is_200, key, in_doubt, earlier, verdict) in [
            (true, false, false, GENERATED, false, Nothing, Booked),
            (true, true, true, GENERATED, false, Nothing, NoProof),
            (true, true, true, GENERATED, true, Nothing, Booked),
            (true, true, true, GENERATED, false, MayHaveBooked, Booked),
            (true, true, true, ROW, false, Nothing, Booked),
            (true, true, true, Caller, false, Nothing, Booked),
            (false, true, true, Caller, false, Nothing, AnotherBooking),
            (false, true, true, Caller, false, MADE, AnotherBooking),
            (false, true, true, Caller, false, MayHaveBooked, NoProof),
            (false, true, true, Caller, true, Nothing, NoProof),
            (false, true, false, Caller, false, Nothing, NoProof),
            (false, false, true, Caller, false, Nothing, NoProof),
            (false, true, true, GENERATED, false, Nothing, NoProof),
            (false, true, true, ROW, false, Nothing, NoProof),
        ] {
            let is_first = key == GENERATED && !in_doubt && earlier == Nothing;
            assert_eq!(may_be_modified(key, in_doubt, earlier), !is_first);
            let mut displayed = ShownBooking { agrees, is_known: false, is_older, is_200 };
            let judged = judge(displayed, key, in_doubt, earlier);
            assert_eq!(judged, verdict, "{displayed:?} {key:?} {in_doubt} {earlier:?}");
            // What was booked before may have been modified since.
            displayed.is_known = true;
            assert_eq!(judge(displayed, key, false, MADE), Booked);
        }
    }
}
