//! What the runs of an attempt prove: pure functions, which the model checker calls too (`protocol_model`).
//!
//! An attempt is an idempotency key and a request. Each time it is sent is a run, which is recorded before its first
//! byte is sent. Several processes may run one attempt at the same time, so a run ends by itself: the answer to one
//! run says nothing about another.

/// What is known of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// The run has not ended, or its process died: the request may have been sent.
    UnderWay,
    /// The run ended without a proof of what the service did.
    InDoubt,
    /// The service answered with a booking for something else, and said that it existed before. That may have been the
    /// answer to another request, so the attempt stays open.
    AnotherBooking,
    /// No byte of the request left this machine.
    NotSent,
    /// The service refused the request: this run created nothing.
    Refused,
    /// The service answered with the booking that was asked for.
    Booked,
}

impl Outcome {
    const ALL: [Outcome; 6] = [
        Outcome::UnderWay,
        Outcome::InDoubt,
        Outcome::AnotherBooking,
        Outcome::NotSent,
        Outcome::Refused,
        Outcome::Booked,
    ];

    /// For a person: what became of the request.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Outcome::UnderWay => "not ended",
            Outcome::InDoubt => "result unknown",
            Outcome::AnotherBooking => "another booking",
            Outcome::NotSent => "not sent",
            Outcome::Refused => "refused",
            // It may have failed.
            Outcome::Booked => "a booking was made",
        }
    }

    /// The word that the journal and `attempts --json` use.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Outcome::UnderWay => "under_way",
            Outcome::InDoubt => "in_doubt",
            Outcome::AnotherBooking => "another_booking",
            Outcome::NotSent => "not_sent",
            Outcome::Refused => "refused",
            Outcome::Booked => "booked",
        }
    }

    /// Parses a word of the journal. An unknown word proves nothing.
    pub(crate) fn parse(word: &str) -> Self {
        let known = Outcome::ALL.into_iter().find(|it| it.as_str() == word);
        known.unwrap_or(Outcome::InDoubt)
    }

    pub(crate) fn may_have_booked(self) -> bool {
        !matches!(self, Outcome::NotSent | Outcome::Refused)
    }
}

/// One time that an attempt was sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Run<I = String> {
    /// Numbered from 1 within the attempt.
    pub(crate) number: u32,
    /// Distinguishes it from every other run, wherever it was begun.
    pub(super) token: I,
    /// The fingerprint of the API key that it used; `None` where it could not be recovered.
    pub(super) account: Option<I>,
    /// Who began it, unless the run was recovered.
    pub(crate) maker: Option<Maker>,
    /// The id of the process, unless the run was recovered.
    pub(crate) process: Option<u32>,
    pub(crate) outcome: Outcome,
    /// Whether a person has abandoned the attempt since the run began.
    pub(super) abandoned: bool,
    pub(crate) http_status: Option<u16>,
    pub(crate) booking_id: Option<I>,
    /// RFC 3339.
    pub(crate) started_at: I,
    /// RFC 3339.
    pub(crate) ended_at: Option<I>,
}

/// A user on a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Maker {
    pub(crate) user: String,
    pub(crate) host: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum State {
    /// A run may have created a booking that is not known: the attempt is open.
    Unsettled,
    /// A booking answered a run.
    Settled,
    /// Every run was refused or not sent: nothing was created.
    Refused,
    /// A person gave up the runs that may have created a booking.
    Abandoned,
}

impl State {
    const ALL: [State; 4] = [
        State::Unsettled,
        State::Settled,
        State::Refused,
        State::Abandoned,
    ];

    /// The word that the journal and `attempts --json` use.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            State::Unsettled => "unsettled",
            State::Settled => "settled",
            State::Refused => "refused",
            State::Abandoned => "abandoned",
        }
    }

    /// Parses a word of the journal. An unknown word proves nothing.
    pub(crate) fn parse(word: &str) -> Self {
        let known = State::ALL.into_iter().find(|it| it.as_str() == word);
        known.unwrap_or(State::Unsettled)
    }
}

/// Derives the state of an attempt from its runs.
///
/// A booking settles all runs, because the service keeps one booking for a key (spec, Limits 7). Without one, a single
/// run that may have booked keeps the attempt open. An attempt without runs is open too: its runs were lost, and
/// nothing is proved.
pub(crate) fn state_of<I>(runs: &[Run<I>]) -> State {
    let (mut any, mut open, mut abandoned) = (false, false, false);
    for run in runs {
        any = true;
        match run.outcome {
            Outcome::Booked => return State::Settled,
            Outcome::Refused | Outcome::NotSent => {}
            Outcome::UnderWay | Outcome::InDoubt | Outcome::AnotherBooking => match run.abandoned {
                true => abandoned = true,
                false => open = true,
            },
        }
    }
    match (any, open, abandoned) {
        (false, ..) | (_, true, _) => State::Unsettled,
        (_, _, true) => State::Abandoned,
        _ => State::Refused,
    }
}

/// Whether `account` may send the attempt.
///
/// Idempotency keys belong to an organization. If a run with another organization's API key may have booked, the same
/// key would book a second time. A run whose key is not known may be anybody's.
pub(crate) fn may_be_sent_by<I: PartialEq>(account: &I, runs: &[Run<I>]) -> bool {
    runs.iter()
        .filter(|run| run.outcome.may_have_booked())
        .all(|run| run.account.as_ref().is_none_or(|known| known == account))
}

/// What the earlier runs of an attempt leave possible for a run that begins now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Earlier {
    /// No earlier run can have created a booking, as far as the service's answers can be believed.
    Nothing,
    MayHaveBooked,
    /// An earlier run was answered with a booking.
    Booked,
}

/// Derives what the earlier runs leave possible; abandoned runs may have booked all the same.
pub(crate) fn earlier<I>(runs: &[Run<I>]) -> Earlier {
    runs.iter()
        .map(|run| match run.outcome {
            Outcome::Booked => Earlier::Booked,
            Outcome::UnderWay | Outcome::InDoubt => Earlier::MayHaveBooked,
            Outcome::AnotherBooking | Outcome::NotSent | Outcome::Refused => Earlier::Nothing,
        })
        .max_by_key(|it| match it {
            Earlier::Nothing => 0,
            Earlier::MayHaveBooked => 1,
            Earlier::Booked => 2,
        })
        .unwrap_or(Earlier::Nothing)
}

/// Who chose an idempotency key, and so who else may have sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KeyOrigin {
    /// This attempt made it, so only this attempt's runs have sent it.
    Generated {
        /// Whether a person wants the booking beside one that an open attempt may have made.
        may_be_second: bool,
    },
    /// It is derived from a row of a batch: others may have sent it, for the same request.
    Derived,
    /// The caller gave it: others may have sent it, for anything.
    Caller,
}

impl KeyOrigin {
    /// Whether the booking may be made although an open attempt under another key is for the same. A new key from the
    /// caller says so, and the rows of a batch are compared before it is sent.
    pub(crate) fn may_be_second(self) -> bool {
        self != KeyOrigin::Generated {
            may_be_second: false,
        }
    }
}

/// What a 2xx with a booking shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ShownBooking {
    /// Whether it agrees with what was asked for, in each field that it shows.
    pub(crate) agrees: bool,
    /// Whether an earlier run of the attempt was answered with it. It may have been modified since.
    pub(crate) is_known: bool,
    /// Whether it says itself that it was made before the run began.
    pub(crate) is_older: bool,
    /// Whether the status was 200, which the service sends for a booking that exists (spec, Limits 7).
    pub(crate) is_200: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LastTry {
    /// No byte of the request left this machine.
    NotSent,
    /// The service refused the request, and so created nothing for this try.
    Refused,
    /// Nothing that proves what the service did.
    NoProof,
    /// The booking of somebody else who used the caller's key before.
    AnotherBooking,
    /// The booking that was asked for.
    Booked,
}

/// Whether a booking existed before the attempt: it is older than the run (`is_older`), and neither an earlier try of the run
/// (`in_doubt`) nor an earlier run may have made it.
pub(crate) fn existed_before(is_older: bool, in_doubt: bool, earlier: Earlier) -> bool {
    is_older && !in_doubt && earlier != Earlier::MayHaveBooked
}

/// Judges a booking that answered a booking request. It is the requested one if it agrees with what was asked, and is not
/// older than what may have made it. Only a key that others may have sent can have an older booking.
pub(crate) fn judge(
    shown: ShownBooking,
    key: KeyOrigin,
    in_doubt: bool,
    earlier: Earlier,
) -> LastTry {
    let is_older = existed_before(shown.is_older, in_doubt, earlier);
    match (shown.agrees, is_older, key) {
        _ if shown.is_known => LastTry::Booked,
        (true, false, _) | (true, true, KeyOrigin::Derived | KeyOrigin::Caller) => LastTry::Booked,
        (false, true, KeyOrigin::Caller) if shown.is_200 => LastTry::AnotherBooking,
        _ => LastTry::NoProof,
    }
}

/// Derives how a run ends from what its last try was told.
///
/// `in_doubt` is whether an earlier try of the run may have booked: a later refusal proves nothing about it.
/// `is_of_another_key` is whether another attempt at the service has the booking: it cannot be both (spec, Limits 7).
pub(crate) fn outcome_of(last: LastTry, in_doubt: bool, is_of_another_key: bool) -> Outcome {
    match last {
        LastTry::Booked if is_of_another_key => Outcome::InDoubt,
        LastTry::Booked => Outcome::Booked,
        LastTry::AnotherBooking => Outcome::AnotherBooking,
        LastTry::NoProof => Outcome::InDoubt,
        LastTry::Refused | LastTry::NotSent if in_doubt => Outcome::InDoubt,
        LastTry::Refused => Outcome::Refused,
        LastTry::NotSent => Outcome::NotSent,
    }
}

/// What a command may say of an attempt when one of its runs ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conclusion {
    /// The booking that was asked for exists.
    Booked,
    /// No run of the attempt created a booking.
    NothingBooked,
    /// The service had made another booking under the key before: exit code 7.
    AnotherBooking,
    /// A booking may exist: exit code 16, or 9 where a rate limit was met last.
    Unknown,
}

/// Derives what may be said from how the run ended and the state that its attempt then has; `None` where the journal
/// could not note the end.
pub(crate) fn conclusion(outcome: Outcome, state: Option<State>) -> Conclusion {
    match (outcome, state) {
        (Outcome::Booked, _) => Conclusion::Booked,
        // The journal knows better than such an answer which booking the key has.
        (Outcome::AnotherBooking, Some(State::Settled)) => Conclusion::Unknown,
        (Outcome::AnotherBooking, _) => Conclusion::AnotherBooking,
        (Outcome::Refused | Outcome::NotSent, Some(State::Refused)) => Conclusion::NothingBooked,
        _ => Conclusion::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(outcome: Outcome) -> Run<&'static str> {
        Run {
            number: 1,
            token: "",
            account: Some("one"),
            maker: None,
            process: None,
            outcome,
            abandoned: false,
            http_status: None,
            booking_id: None,
            started_at: "",
            ended_at: None,
        }
    }

    fn abandoned(outcome: Outcome) -> Run<&'static str> {
        Run {
            abandoned: true,
            ..run(outcome)
        }
    }

    #[test]
    fn a_refusal_or_a_run_that_was_not_sent_says_nothing_about_another_run() {
        for open in [Outcome::UnderWay, Outcome::InDoubt, Outcome::AnotherBooking] {
            for ended in [Outcome::Refused, Outcome::NotSent] {
                assert_eq!(state_of(&[run(open), run(ended)]), State::Unsettled);
                assert_eq!(state_of(&[run(ended), run(open)]), State::Unsettled);
            }
        }
    }

    #[test]
    fn a_booking_settles_every_run_of_its_key() {
        for other in Outcome::ALL {
            assert_eq!(
                state_of(&[run(other), run(Outcome::Booked)]),
                State::Settled
            );
            assert_eq!(
                state_of(&[run(Outcome::Booked), run(other)]),
                State::Settled
            );
        }
    }

    #[test]
    fn an_attempt_is_refused_where_every_run_was_refused_or_not_sent() {
        assert_eq!(state_of(&[run(Outcome::Refused)]), State::Refused);
        assert_eq!(
            state_of(&[run(Outcome::NotSent), run(Outcome::Refused)]),
            State::Refused
        );
    }

    #[test]
    fn an_abandoned_attempt_is_open_again_as_soon_as_a_further_run_begins() {
        let given_up = || abandoned(Outcome::InDoubt);
        assert_eq!(state_of(&[given_up()]), State::Abandoned);
        assert_eq!(
            state_of(&[given_up(), run(Outcome::Refused)]),
            State::Abandoned
        );
        assert_eq!(
            state_of(&[given_up(), run(Outcome::UnderWay)]),
            State::Unsettled
        );
        assert_eq!(state_of(&[abandoned(Outcome::Booked)]), State::Settled);
    }

    #[test]
    fn what_is_not_proven_is_open() {
        assert_eq!(state_of::<&str>(&[]), State::Unsettled);
        assert_eq!(Outcome::parse("a later version's word"), Outcome::InDoubt);
        assert_eq!(State::parse("a later version's word"), State::Unsettled);
    }

    #[test]
    fn another_account_may_send_only_what_cannot_have_booked() {
        for (outcome, may) in [
            (Outcome::UnderWay, false),
            (Outcome::InDoubt, false),
            (Outcome::AnotherBooking, false),
            (Outcome::Booked, false),
            (Outcome::Refused, true),
            (Outcome::NotSent, true),
        ] {
            assert_eq!(may_be_sent_by(&"two", &[run(outcome)]), may, "{outcome:?}");
            assert!(may_be_sent_by(&"one", &[run(outcome)]));
        }
        assert!(!may_be_sent_by(&"two", &[abandoned(Outcome::InDoubt)]));
        let unknown = Run {
            account: None,
            ..run(Outcome::InDoubt)
        };
        assert!(may_be_sent_by(&"two", &[unknown]));
    }

    #[test]
    fn a_run_that_begins_knows_whether_an_earlier_one_may_have_booked() {
        assert_eq!(earlier::<&str>(&[]), Earlier::Nothing);
        assert_eq!(earlier(&[run(Outcome::Refused)]), Earlier::Nothing);
        assert_eq!(earlier(&[run(Outcome::AnotherBooking)]), Earlier::Nothing);
        assert_eq!(
            earlier(&[abandoned(Outcome::InDoubt), run(Outcome::Refused)]),
            Earlier::MayHaveBooked
        );
        assert_eq!(
            earlier(&[run(Outcome::Booked), run(Outcome::UnderWay)]),
            Earlier::Booked
        );
    }

    #[test]
    fn a_refusal_ends_a_run_in_doubt_where_an_earlier_try_may_have_booked() {
        for (last, outcome) in [
            (LastTry::Refused, Outcome::Refused),
            (LastTry::NotSent, Outcome::NotSent),
            (LastTry::NoProof, Outcome::InDoubt),
            (LastTry::Booked, Outcome::Booked),
        ] {
            assert_eq!(outcome_of(last, false, false), outcome, "{last:?}");
            let in_doubt = match last {
                LastTry::Booked => Outcome::Booked,
                _ => Outcome::InDoubt,
            };
            assert_eq!(outcome_of(last, true, false), in_doubt, "{last:?}");
        }
    }

    #[test]
    fn a_booking_that_another_key_has_settles_nothing() {
        assert_eq!(outcome_of(LastTry::Booked, false, true), Outcome::InDoubt);
    }

    #[test]
    fn a_booking_settles_an_attempt_if_it_agrees_and_is_not_older_than_what_may_have_made_it() {
        let shown = |agrees, is_older, is_200| ShownBooking {
            agrees,
            is_known: false,
            is_older,
            is_200,
        };
        use Earlier::{Booked, MayHaveBooked, Nothing};
        use KeyOrigin::{Caller, Derived};
        const GENERATED: KeyOrigin = KeyOrigin::Generated {
            may_be_second: false,
        };
        for (shown, key, in_doubt, earlier, verdict) in [
            (
                shown(true, false, false),
                GENERATED,
                false,
                Nothing,
                LastTry::Booked,
            ),
            (
                shown(true, true, true),
                GENERATED,
                false,
                Nothing,
                LastTry::NoProof,
            ),
            (
                shown(true, true, true),
                GENERATED,
                true,
                Nothing,
                LastTry::Booked,
            ),
            (
                shown(true, true, true),
                GENERATED,
                false,
                MayHaveBooked,
                LastTry::Booked,
            ),
            (
                shown(true, true, true),
                Derived,
                false,
                Nothing,
                LastTry::Booked,
            ),
            (
                shown(true, true, true),
                Caller,
                false,
                Nothing,
                LastTry::Booked,
            ),
            (
                shown(false, true, true),
                Caller,
                false,
                Nothing,
                LastTry::AnotherBooking,
            ),
            (
                shown(false, true, true),
                Caller,
                false,
                Booked,
                LastTry::AnotherBooking,
            ),
            (
                shown(false, true, true),
                Caller,
                false,
                MayHaveBooked,
                LastTry::NoProof,
            ),
            (
                shown(false, true, true),
                Caller,
                true,
                Nothing,
                LastTry::NoProof,
            ),
            (
                shown(false, true, false),
                Caller,
                false,
                Nothing,
                LastTry::NoProof,
            ),
            (
                shown(false, false, true),
                Caller,
                false,
                Nothing,
                LastTry::NoProof,
            ),
            (
                shown(false, true, true),
                GENERATED,
                false,
                Nothing,
                LastTry::NoProof,
            ),
            (
                shown(false, true, true),
                Derived,
                false,
                Nothing,
                LastTry::NoProof,
            ),
        ] {
            let judged = judge(shown, key, in_doubt, earlier);
            assert_eq!(judged, verdict, "{shown:?} {key:?} {in_doubt} {earlier:?}");
        }
        let modified = ShownBooking {
            is_known: true,
            ..shown(false, true, true)
        };
        assert_eq!(judge(modified, GENERATED, false, Booked), LastTry::Booked);
    }

    #[test]
    fn nothing_is_said_to_be_booked_only_where_the_journal_notes_that_every_run_was_refused() {
        for outcome in [Outcome::Refused, Outcome::NotSent] {
            for (state, expected) in [
                (Some(State::Refused), Conclusion::NothingBooked),
                (Some(State::Settled), Conclusion::Unknown),
                (Some(State::Unsettled), Conclusion::Unknown),
                (Some(State::Abandoned), Conclusion::Unknown),
                (None, Conclusion::Unknown),
            ] {
                assert_eq!(conclusion(outcome, state), expected, "{state:?}");
            }
        }
        for (outcome, expected) in [
            (Outcome::Booked, Conclusion::Booked),
            (Outcome::AnotherBooking, Conclusion::AnotherBooking),
            (Outcome::InDoubt, Conclusion::Unknown),
        ] {
            assert_eq!(conclusion(outcome, None), expected);
        }
        let (another, settled) = (Outcome::AnotherBooking, Some(State::Settled));
        assert_eq!(conclusion(another, settled), Conclusion::Unknown);
    }

    #[test]
    fn every_word_is_read_back() {
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::parse(outcome.as_str()), outcome);
        }
        for state in State::ALL {
            assert_eq!(State::parse(state.as_str()), state);
        }
    }
}
