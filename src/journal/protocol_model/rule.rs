//! The rules of the model: the program's own, and defective ones that earlier versions had.

use super::state::{Account, Attempt, Request, Run, Text};
use crate::journal::judgement::{self, Conclusion, KeyOrigin, ShownBooking, TryResult};
use crate::journal::protocol::{self, Begun, End, Forbidden};
use crate::journal::runs::{self, Earlier, Outcome, State};

type Beginning = Result<Begun<Text, Request>, Forbidden<Text>>;
type Ended = (Option<Attempt>, Outcome, State);

/// The decisions of the program. The defaults are the functions that the program calls.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) begin: fn(Option<Attempt>, Attempt, bool, &[Attempt]) -> Beginning,
    pub(super) end: fn(Option<Attempt>, End<Text>, Request) -> Ended,
    pub(super) copy: fn(Option<Attempt>, Attempt) -> Option<Attempt>,
    pub(super) recover: fn(&mut Attempt, Text) -> bool,
    pub(super) judge: fn(ShownBooking, KeyOrigin, bool, Earlier) -> TryResult,
    /// What the end of a run may say, by the state of its attempt.
    pub(super) conclusion: fn(Outcome, Option<State>) -> Conclusion,
    /// How the journal distinguishes API keys.
    pub(super) fingerprint: fn(Account) -> Text,
    /// Whether `--same-organization` permits the attempt despite runs of other accounts.
    pub(super) is_excused: fn(Account, &[Run]) -> bool,
    /// Whether `recover` keeps writers out from its first read until the new file is in place.
    pub(super) recover_keeps_writers_out: bool,
    /// What is compared and looked at before an answer is judged.
    pub(super) reads: Reads,
}

/// How responses are read: the model uses the program's rules in words, the code reads JSON.
#[derive(Clone, Copy)]
pub(super) struct Reads {
    /// A 4xx that is none of the service's documents proves nothing.
    pub(super) pages_prove_nothing: bool,
    /// An id and a status do not make a booking.
    pub(super) knows_a_booking: bool,
    /// A refusal that shows the booking, or speaks of progress, proves nothing.
    pub(super) looks_into_refusals: bool,
    /// A modification excuses a difference only if it started from the request.
    pub(super) compares_what_was_modified: bool,
    /// The journal is asked whether another key has the booking.
    pub(super) asks_for_other_keys: bool,
}

impl Default for Rule {
    fn default() -> Self {
        Rule {
            begin: |known, first, any_account, open| {
                protocol::begin(known, first, any_account, open)
            },
            end: protocol::end,
            copy: protocol::copy,
            recover: Attempt::recover,
            judge: judgement::judge,
            conclusion: judgement::conclusion,
            fingerprint: |account| match account {
                Account::One => 1,
                Account::OneRenewed => 2,
                Account::Two => 3,
            },
            // The promise does not cover a person who gives the flag although it is false.
            is_excused: |account, all| {
                let is_own = |name: Text| usize::from(name == 3) == account.organization();
                let mut all = all.iter().filter(|it| it.outcome.may_have_booked());
                all.all(|it| it.account.is_none_or(is_own))
            },
            recover_keeps_writers_out: true,
            reads: Reads {
                pages_prove_nothing: true,
                knows_a_booking: true,
                looks_into_refusals: true,
                compares_what_was_modified: true,
                asks_for_other_keys: true,
            },
        }
    }
}

impl Rule {
    /// Whether the account may send the attempt, including with `--same-organization`.
    pub(super) fn allows(&self, account: Account, same_organization: bool, runs: &[Run]) -> bool {
        runs::may_be_sent_by(&(self.fingerprint)(account), runs)
            || same_organization && (self.is_excused)(account, runs)
    }

    fn reading(change: fn(&mut Reads)) -> Self {
        let mut rule = Rule::default();
        change(&mut rule.reads);
        rule
    }

    /// A refusal closed the attempt with all its runs, and a later doubt did not reopen it (C1).
    pub(super) fn a_refusal_closes_the_attempt() -> Self {
        Rule {
            end: |known, end, sent| {
                let outcome = judgement::outcome_of(end.last, end.in_doubt, end.is_of_another_key);
                let mut known = known;
                let is_settled = known.as_ref().is_some_and(|it| it.state == State::Resolved);
                if outcome == Outcome::Refused && !is_settled {
                    let runs = known.iter_mut().flat_map(|it| &mut it.runs);
                    runs.for_each(|it| it.outcome = outcome);
                }
                if matches!(outcome, Outcome::InDoubt | Outcome::AnotherBooking) {
                    let state = known.as_ref().map_or(State::Unresolved, |it| it.state);
                    return (known, outcome, state);
                }
                protocol::end(known, end, sent)
            },
            ..Rule::default()
        }
    }

    /// A run that sent nothing removed the attempt with all its runs (C1).
    pub(super) fn a_run_that_sent_nothing_removes_the_attempt() -> Self {
        Rule {
            end: |known, end, sent| match protocol::end(known, end, sent) {
                (_, Outcome::NotSent, State::Unresolved) => {
                    (None, Outcome::NotSent, State::Refused)
                }
                ended => ended,
            },
            ..Rule::default()
        }
    }

    /// `recover` did not copy the account of an attempt (D1).
    pub(super) fn recover_forgets_the_account() -> Self {
        Rule {
            recover: |attempt, token| {
                attempt.account = None;
                attempt.recover(token)
            },
            ..Rule::default()
        }
    }

    /// `recover` let others write while it read the old journal, and replaced it afterwards.
    pub(super) fn recover_lets_others_write() -> Self {
        Rule { recover_keeps_writers_out: false, ..Rule::default() }
    }

    /// Every 4xx counted as a refusal (H3).
    pub(super) fn a_page_is_a_refusal() -> Self {
        Rule::reading(|it| it.pages_prove_nothing = false)
    }

    /// The booking of a 201 was not compared with the request (H1).
    pub(super) fn a_new_booking_is_not_compared() -> Self {
        Rule {
            judge: |displayed, key, in_doubt, earlier| match displayed.is_200 {
                true => judgement::judge(displayed, key, in_doubt, earlier),
                false => TryResult::Booked,
            },
            ..Rule::default()
        }
    }

    /// The booking of a 200 was not compared with the request (H2).
    pub(super) fn an_older_booking_is_not_compared() -> Self {
        Rule {
            judge: |displayed, key, in_doubt, earlier| match displayed.is_200 {
                true => TryResult::Booked,
                false => judgement::judge(displayed, key, in_doubt, earlier),
            },
            ..Rule::default()
        }
    }

    /// A run that was refused reported that nothing was booked unless the attempt was open.
    pub(super) fn a_refusal_speaks_for_other_runs() -> Self {
        Rule {
            conclusion: |outcome, state| match (outcome, state) {
                (Outcome::Refused | Outcome::NotSent, Some(state))
                    if state != State::Unresolved =>
                {
                    Conclusion::NothingBooked
                }
                _ => judgement::conclusion(outcome, state),
            },
            ..Rule::default()
        }
    }

    /// A key was said to have another booking, although the journal knew the one that it has.
    pub(super) fn an_answer_knows_better_than_the_journal() -> Self {
        Rule {
            conclusion: |outcome, state| match outcome {
                Outcome::AnotherBooking => Conclusion::AnotherBooking,
                _ => judgement::conclusion(outcome, state),
            },
            ..Rule::default()
        }
    }

    /// `--same-organization` also covered runs that the person did not know of.
    pub(super) fn any_account_is_excused() -> Self {
        Rule { is_excused: |_, _| true, ..Rule::default() }
    }

    /// A run that seemed to be under way did not keep the same wish from being sent again (A1).
    pub(super) fn what_is_under_way_does_not_block() -> Self {
        Rule {
            begin: |known, first, any_account, open| {
                let is_in_doubt = |it: &&Attempt| {
                    let mut runs = it.runs.iter();
                    runs.any(|run| run.outcome == Outcome::InDoubt)
                };
                protocol::begin(known, first, any_account, open.iter().filter(is_in_doubt))
            },
            ..Rule::default()
        }
    }

    /// An older booking belonged to the key, even if no other caller used it (A2).
    pub(super) fn a_generated_key_has_an_older_booking() -> Self {
        Rule {
            judge: |displayed, _, in_doubt, earlier| {
                judgement::judge(displayed, KeyOrigin::Caller, in_doubt, earlier)
            },
            ..Rule::default()
        }
    }

    /// An attempt whose key had another booking did not stop the same wish (A2).
    pub(super) fn another_booking_does_not_block() -> Self {
        Rule {
            begin: |known, first, any_account, open| {
                let is_in_doubt = |it: &&Attempt| {
                    let mut runs = it.runs.iter();
                    runs.any(|run| matches!(run.outcome, Outcome::UnderWay | Outcome::InDoubt))
                };
                protocol::begin(known, first, any_account, open.iter().filter(is_in_doubt))
            },
            ..Rule::a_generated_key_has_an_older_booking()
        }
    }

    /// An account was a profile's name, which may hold another organization's key (A3).
    pub(super) fn an_account_is_a_name() -> Self {
        Rule { fingerprint: |_| 1, ..Rule::default() }
    }

    /// Whatever had an id and a status was a booking (A4).
    pub(super) fn an_id_and_a_status_are_a_booking() -> Self {
        Rule::reading(|it| it.knows_a_booking = false)
    }

    /// A booking that another key had settled this one, too (A6).
    pub(super) fn a_booking_may_have_two_keys() -> Self {
        Rule::reading(|it| it.asks_for_other_keys = false)
    }

    /// A booking that said that it was modified agreed with everything (A7).
    pub(super) fn whatever_was_modified_agrees() -> Self {
        Rule::reading(|it| it.compares_what_was_modified = false)
    }

    /// A copy brought no request to an attempt that was known there (A8).
    pub(super) fn a_copy_brings_no_request() -> Self {
        Rule {
            copy: |there, copied| {
                let forgotten_at = there.as_ref().map(|it| it.forgotten_at);
                let mut now = protocol::copy(there, copied)?;
                now.forgotten_at = forgotten_at.unwrap_or(now.forgotten_at);
                Some(now)
            },
            ..Rule::default()
        }
    }

    /// A copy opened again what was abandoned there (A8).
    pub(super) fn a_copy_undoes_what_was_abandoned() -> Self {
        Rule {
            copy: |there, copied| {
                let mut there = there;
                let is_copied = |run: &Run| copied.runs.iter().any(|it| it.token == run.token);
                let runs = there.iter_mut().flat_map(|it| &mut it.runs);
                let open = runs.filter(|run| run.outcome == Outcome::UnderWay && is_copied(run));
                open.for_each(|run| run.abandoned = false);
                protocol::copy(there, copied)
            },
            ..Rule::default()
        }
    }

    /// A refusal proved that nothing was booked, even if it showed the booking (B1).
    pub(super) fn a_refusal_is_not_looked_into() -> Self {
        Rule::reading(|it| it.looks_into_refusals = false)
    }
}
