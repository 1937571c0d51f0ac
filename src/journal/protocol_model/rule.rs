//! The rules of the model: the program's own, and defective ones that earlier versions had.

use super::state::{Account, Attempt, Run, Shown, Verdict};
use crate::journal::runs::{self, Conclusion, Earlier, Outcome, State};

/// An answer before it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Booking {
        shown: Shown,
        /// Whether the status is 201 rather than 200.
        is_new: bool,
        is_asked_for: bool,
    },
    /// One of the service's documents with a 4xx.
    Refusal,
    /// 429.
    Limit,
    /// A 4xx without one of the service's documents.
    Page,
    /// No answer, a part of one, or a 5xx.
    None,
}

/// The decisions of the program. The defaults are the functions that the program calls.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) state_of: fn(&[Run]) -> State,
    pub(super) may_be_sent_by: fn(Account, &[Run]) -> bool,
    pub(super) earlier: fn(&[Run]) -> Earlier,
    /// Records the end of a run in its attempt.
    pub(super) end: fn(&mut Option<Attempt>, usize, Outcome),
    pub(super) judge: fn(Answer) -> Verdict,
    /// What the end of a run may say, by the state of its attempt.
    pub(super) conclusion: fn(Outcome, Option<State>) -> Conclusion,
    /// Whether `--same-organization` permits the attempt despite runs of other accounts.
    pub(super) is_excused: fn(Account, &[Run]) -> bool,
    /// The account of the run that `recover` writes in place of lost ones.
    pub(super) recovered_account: fn(&Attempt) -> Option<Account>,
    /// Whether `recover` keeps writers out from its first read until the new file is in place.
    pub(super) recover_keeps_writers_out: bool,
}

impl Default for Rule {
    fn default() -> Self {
        Rule {
            state_of: |all| runs::state_of(all.iter().map(Run::evidence)),
            may_be_sent_by: |account, all| {
                let account = Run {
                    outcome: Outcome::UnderWay,
                    abandoned: false,
                    account: Some(account),
                };
                let name = account.evidence().account.unwrap_or_default();
                runs::may_be_sent_by(name, all.iter().map(Run::evidence))
            },
            earlier: |all| runs::earlier(all.iter().map(Run::evidence)),
            end: end_own_run,
            judge,
            conclusion: runs::conclusion,
            // The promise does not cover a person who gives the flag although it is false.
            is_excused: |account, all| {
                let is_own = |it: Account| it.organization() == account.organization();
                all.iter()
                    .filter(|it| !matches!(it.outcome, Outcome::Refused | Outcome::NotSent))
                    .all(|it| it.account.is_none_or(is_own))
            },
            recovered_account: |attempt| Some(attempt.account),
            recover_keeps_writers_out: true,
        }
    }
}

impl Rule {
    /// Whether the account may send the attempt, including with `--same-organization`.
    pub(super) fn allows(&self, account: Account, same_organization: bool, runs: &[Run]) -> bool {
        (self.may_be_sent_by)(account, runs)
            || same_organization && (self.is_excused)(account, runs)
    }

    /// A refusal closed the attempt with all its runs, and a later doubt did not reopen it (C1).
    pub(super) fn a_refusal_closes_the_attempt() -> Self {
        Rule {
            end: |attempt, run, outcome| match (outcome, &mut *attempt) {
                (Outcome::Refused, Some(known)) => {
                    let is_settled = known.runs.iter().any(|it| it.outcome == Outcome::Booked);
                    if !is_settled {
                        known.runs.iter_mut().for_each(|it| it.outcome = outcome);
                    }
                }
                (Outcome::UnderWay | Outcome::InDoubt | Outcome::AnotherBooking, _) => {}
                _ => end_own_run(attempt, run, outcome),
            },
            ..Rule::default()
        }
    }

    /// A run that sent nothing removed the attempt with all its runs (C1).
    pub(super) fn a_run_that_sent_nothing_removes_the_attempt() -> Self {
        Rule {
            end: |attempt, run, outcome| {
                let state = |it: &Attempt| runs::state_of(it.runs.iter().map(Run::evidence));
                let is_open = attempt.as_ref().map(state) == Some(State::Unsettled);
                if outcome == Outcome::NotSent && is_open {
                    *attempt = None;
                } else {
                    end_own_run(attempt, run, outcome);
                }
            },
            ..Rule::default()
        }
    }

    /// `recover` did not copy the account of an attempt (D1).
    pub(super) fn recover_forgets_the_account() -> Self {
        Rule {
            recovered_account: |_| None,
            ..Rule::default()
        }
    }

    /// Every 4xx counted as a refusal (H3).
    pub(super) fn a_page_is_a_refusal() -> Self {
        Rule {
            judge: |answer| match answer {
                Answer::Page => Verdict::Refused,
                other => judge(other),
            },
            ..Rule::default()
        }
    }

    /// The booking of a 201 was not compared with the request (H1).
    pub(super) fn a_new_booking_is_not_compared() -> Self {
        Rule {
            judge: |answer| match answer {
                Answer::Booking {
                    shown,
                    is_new: true,
                    ..
                } => Verdict::Booked(shown),
                other => judge(other),
            },
            ..Rule::default()
        }
    }

    /// The booking of a 200 was not compared with the request (H2).
    pub(super) fn an_older_booking_is_not_compared() -> Self {
        Rule {
            judge: |answer| match answer {
                Answer::Booking {
                    shown,
                    is_new: false,
                    ..
                } => Verdict::Booked(shown),
                other => judge(other),
            },
            ..Rule::default()
        }
    }

    /// A run that was refused reported that nothing was booked unless the attempt was open.
    pub(super) fn a_refusal_speaks_for_other_runs() -> Self {
        Rule {
            conclusion: |outcome, state| match (outcome, state) {
                (Outcome::Refused | Outcome::NotSent, Some(state)) if state != State::Unsettled => {
                    Conclusion::NothingBooked
                }
                _ => runs::conclusion(outcome, state),
            },
            ..Rule::default()
        }
    }

    /// `--same-organization` also covered runs that the person did not know of.
    pub(super) fn any_account_is_excused() -> Self {
        Rule {
            is_excused: |_, _| true,
            ..Rule::default()
        }
    }

    /// `recover` let others write while it read the old journal, and replaced it afterwards.
    pub(super) fn recover_lets_others_write() -> Self {
        Rule {
            recover_keeps_writers_out: false,
            ..Rule::default()
        }
    }
}

/// A run ends by itself. An attempt that was never sent is removed.
fn end_own_run(attempt: &mut Option<Attempt>, run: usize, outcome: Outcome) {
    let Some(known) = attempt else { return };
    if let Some(run) = known.runs.get_mut(run) {
        run.outcome = outcome;
        run.abandoned = false;
    }
    if known.runs.iter().all(|it| it.outcome == Outcome::NotSent) {
        *attempt = None;
    }
}

fn judge(answer: Answer) -> Verdict {
    match answer {
        Answer::Booking {
            shown,
            is_asked_for: true,
            ..
        } => Verdict::Booked(shown),
        Answer::Booking { is_new, .. } => Verdict::Another { is_new },
        Answer::Refusal => Verdict::Refused,
        Answer::Limit => Verdict::Limited,
        Answer::Page | Answer::None => Verdict::Nothing,
    }
}
