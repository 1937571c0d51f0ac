//! What the runs of an attempt prove: pure functions that the model checker calls too.
//!
//! An attempt is an idempotency key and a request. Each time it is sent is a run, which is recorded
//! before its first byte is sent. Several processes may run one attempt at the same time, so a run
//! ends by itself: the answer to one run says nothing about another.

use serde::Serialize;

use crate::outcome::word::Word;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// The run has not ended, or its process died: the request may have been sent.
    UnderWay,
    /// The run ended without a proof of what the service did.
    InDoubt,
    /// The service answered with a booking for something else, and said that it existed before.
    /// That may have been the answer to another request, so the attempt stays open.
    AnotherBooking,
    /// No byte of the request left this computer.
    NotSent,
    /// The service refused the request: this run created nothing.
    Refused,
    /// The service answered with the booking that was asked for.
    Booked,
}

impl Outcome {
    /// Each, in the enum's order, with its word in the journal and in `attempts --json`, and its
    /// words for a person.
    const WORDS: [(Outcome, &str, &str); 6] = [
        (Outcome::UnderWay, "under_way", "not ended"),
        (Outcome::InDoubt, "in_doubt", "result unknown"),
        (Outcome::AnotherBooking, "another_booking", "another booking"),
        (Outcome::NotSent, "not_sent", "not sent"),
        (Outcome::Refused, "refused", "refused"),
        // It may have failed.
        (Outcome::Booked, "booked", "a booking was made"),
    ];

    pub(crate) fn in_words(self) -> &'static str {
        Outcome::WORDS[self as usize].2
    }

    pub(crate) fn as_str(self) -> &'static str {
        Outcome::WORDS[self as usize].1
    }

    /// Parses a word of the journal. An unknown word proves nothing.
    pub(crate) fn parse(word: &str) -> Self {
        Outcome::WORDS.into_iter().find(|it| it.1 == word).map_or(Outcome::InDoubt, |it| it.0)
    }

    pub(crate) fn may_have_booked(self) -> bool {
        !matches!(self, Outcome::NotSent | Outcome::Refused)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Run<I = String> {
    /// Numbered from 1 within the attempt.
    pub(crate) number: u32,
    /// Distinguishes it from every other run, wherever it was begun.
    #[serde(skip)]
    pub(super) token: I,
    /// The fingerprint of the API key that it used; `None` where it could not be recovered.
    #[serde(skip)]
    pub(super) account: Option<I>,
    /// Who began it, unless the run was recovered.
    #[serde(flatten)]
    pub(crate) maker: Option<Actor>,
    /// The id of the process, unless the run was recovered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) process: Option<u32>,
    pub(crate) outcome: Outcome,
    /// Whether a person has abandoned the attempt since the run began.
    #[serde(skip)]
    pub(super) abandoned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) http_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_code: Option<I>,
    /// The service's id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<I>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) booking_id: Option<I>,
    /// RFC 3339.
    pub(crate) started_at: I,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<I>,
}

impl<I> Run<I> {
    /// A run that begins, as the first of its attempt.
    pub(super) fn begun(token: I, account: Option<I>, started_at: I) -> Self {
        Run {
            number: 1,
            token,
            account,
            maker: None,
            process: None,
            outcome: Outcome::UnderWay,
            abandoned: false,
            http_status: None,
            error_code: None,
            request_id: None,
            booking_id: None,
            started_at,
            ended_at: None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Actor {
    pub(crate) user: String,
    pub(crate) host: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// A run may have created a booking that is not known: the attempt is open.
    Unresolved,
    /// A run was answered with the requested booking.
    Resolved,
    /// Every run was refused or not sent: nothing was created.
    Refused,
    /// A person gave up the runs that may have created a booking.
    Abandoned,
}

impl State {
    /// Each, in the enum's order, with the word that the journal and `attempts --json` use.
    const WORDS: [(State, &str); 4] = [
        (State::Unresolved, Word::UNRESOLVED.name),
        (State::Resolved, Word::RESOLVED.name),
        (State::Refused, Word::REFUSED.name),
        (State::Abandoned, Word::ABANDONED.name),
    ];

    pub(crate) fn as_str(self) -> &'static str {
        State::WORDS[self as usize].1
    }

    /// Parses a word of the journal. An unknown word proves nothing.
    pub(crate) fn parse(word: &str) -> Self {
        State::WORDS.into_iter().find(|it| it.1 == word).map_or(State::Unresolved, |it| it.0)
    }
}

/// Derives the state of an attempt from its runs.
///
/// A booking settles all runs, because the service keeps one booking for a key (spec, Limits 7).
/// Without one, a single run that may have booked keeps the attempt open. An attempt without runs
/// is open too: its runs were lost, and nothing is proved.
pub(crate) fn state_of<I>(runs: &[Run<I>]) -> State {
    let may_have_booked = || runs.iter().filter(|run| run.outcome.may_have_booked());
    if may_have_booked().any(|run| run.outcome == Outcome::Booked) {
        State::Resolved
    } else if runs.is_empty() || may_have_booked().any(|run| !run.abandoned) {
        State::Unresolved
    } else if may_have_booked().next().is_some() {
        State::Abandoned
    } else {
        State::Refused
    }
}

/// Whether `account` may send the attempt. Idempotency keys belong to an organization: if a run
/// with another organization's API key may have booked, the same key would book a second time. A
/// run whose API key is not known may be anybody's.
pub(crate) fn may_be_sent_by<I: PartialEq>(account: &I, runs: &[Run<I>]) -> bool {
    runs.iter()
        .filter(|run| run.outcome.may_have_booked())
        .all(|run| run.account.as_ref().is_none_or(|known| known == account))
}

/// What the earlier runs of an attempt leave possible for a new one. The strongest run counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Earlier {
    /// No earlier run can have created a booking, as far as the service's answers can be believed.
    Nothing,
    MayHaveBooked,
    /// An earlier run was answered with a booking.
    Booked,
}

impl Earlier {
    /// Derives it from the runs before; abandoned ones may have booked all the same.
    pub(super) fn left_by<I>(runs: &[Run<I>]) -> Self {
        let left = runs.iter().map(|run| match run.outcome {
            Outcome::Booked => Earlier::Booked,
            Outcome::UnderWay | Outcome::InDoubt => Earlier::MayHaveBooked,
            Outcome::AnotherBooking | Outcome::NotSent | Outcome::Refused => Earlier::Nothing,
        });
        left.max().unwrap_or(Earlier::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(outcome: Outcome) -> Run<&'static str> {
        Run { outcome, ..Run::begun("", Some("one"), "") }
    }

    fn abandoned(outcome: Outcome) -> Run<&'static str> {
        Run { abandoned: true, ..run(outcome) }
    }

    #[test]
    fn runs_together_prove_the_state_of_their_attempt() {
        for (other, ..) in Outcome::WORDS {
            for runs in [[other, Outcome::Booked], [Outcome::Booked, other]] {
                assert_eq!(state_of(&runs.map(run)), State::Resolved);
            }
        }
        for open in [Outcome::UnderWay, Outcome::InDoubt, Outcome::AnotherBooking] {
            for ended in [Outcome::Refused, Outcome::NotSent] {
                assert_eq!(state_of(&[run(open), run(ended)]), State::Unresolved);
                assert_eq!(state_of(&[run(ended), run(open)]), State::Unresolved);
                assert_eq!(state_of(&[run(ended), run(Outcome::Refused)]), State::Refused);
                assert_eq!(state_of(&[abandoned(open), run(ended)]), State::Abandoned);
            }
        }
        let reopened = [abandoned(Outcome::InDoubt), run(Outcome::UnderWay)];
        assert_eq!(state_of(&reopened), State::Unresolved);
        assert_eq!(state_of(&[abandoned(Outcome::Booked)]), State::Resolved);
        assert_eq!(state_of::<&str>(&[]), State::Unresolved, "nothing is proved");
    }

    #[test]
    fn new_run_knows_whether_an_earlier_one_may_have_booked() {
        assert_eq!(Earlier::left_by::<&str>(&[]), Earlier::Nothing);
        for (earlier, last, left) in [
            (Outcome::Refused, Outcome::AnotherBooking, Earlier::Nothing),
            (Outcome::InDoubt, Outcome::Refused, Earlier::MayHaveBooked),
            (Outcome::Booked, Outcome::UnderWay, Earlier::Booked),
        ] {
            assert_eq!(Earlier::left_by(&[abandoned(earlier), run(last)]), left);
        }
    }

    #[test]
    fn every_word_is_read_back_and_an_unknown_one_proves_nothing() {
        for (outcome, ..) in Outcome::WORDS {
            assert_eq!(Outcome::parse(outcome.as_str()), outcome);
        }
        for (state, _) in State::WORDS {
            assert_eq!(State::parse(state.as_str()), state);
        }
        assert_eq!(Outcome::parse("a later version's word"), Outcome::InDoubt);
        assert_eq!(State::parse("a later version's word"), State::Unresolved);
    }
}
