//! The journal's transactions. Each is one step: it is on disk as a whole, or not at all.

use super::rule::Rule;
use super::state::{Account, Attempt, Journal, KEYS, Request, Run, Shown};
use crate::journal::runs::{Earlier, Outcome, State};

/// A run that may be sent.
pub(super) struct Begun {
    pub(super) run: usize,
    pub(super) earlier: Earlier,
}

impl Attempt {
    pub(super) fn state(&self, rule: &Rule) -> State {
        (rule.state_of)(&self.runs)
    }
}

impl Journal {
    /// Records a run. Returns `None` if the attempt is for another request, or may belong to another organization.
    pub(super) fn begin(
        &mut self,
        rule: &Rule,
        key: usize,
        request: Request,
        account: Account,
        same_organization: bool,
    ) -> Option<Begun> {
        if let Some(known) = &self.attempts[key] {
            let is_own = rule.allows(account, same_organization, &known.runs);
            if known.request != request || !is_own {
                return None;
            }
        }
        let attempt = self.attempts[key].get_or_insert(Attempt {
            request,
            is_whole: true,
            account,
            booking: None,
            runs: Vec::new(),
        });
        let earlier = (rule.earlier)(&attempt.runs);
        attempt.account = account;
        attempt.runs.push(Run {
            outcome: Outcome::UnderWay,
            abandoned: false,
            account: Some(account),
        });
        // A settled attempt does not get its guest back.
        attempt.is_whole |= attempt.state(rule) == State::Unsettled;
        Some(Begun {
            run: attempt.runs.len() - 1,
            earlier,
        })
    }

    /// Ends a run, and returns the state of its attempt. That is `Refused` if the attempt was removed because nothing
    /// was ever sent.
    pub(super) fn end(
        &mut self,
        rule: &Rule,
        key: usize,
        run: usize,
        outcome: Outcome,
        booking: Option<Shown>,
        purges: bool,
    ) -> State {
        let attempt = &mut self.attempts[key];
        (rule.end)(attempt, run, outcome);
        let state = match attempt {
            None => State::Refused,
            Some(attempt) => {
                let state = attempt.state(rule);
                if state == State::Settled {
                    // A key has one booking: the first that was seen.
                    attempt.booking = attempt.booking.or(booking);
                }
                if matches!(outcome, Outcome::InDoubt | Outcome::AnotherBooking) {
                    attempt.is_whole |= state == State::Unsettled;
                }
                state
            }
        };
        if purges {
            self.forget(rule);
        }
        state
    }

    /// A person gives up all runs whose outcome is unknown.
    pub(super) fn abandon(&mut self, key: usize) {
        let runs = self.attempts[key].iter_mut().flat_map(|it| &mut it.runs);
        let is_open = |it: &Outcome| {
            matches!(
                it,
                Outcome::UnderWay | Outcome::InDoubt | Outcome::AnotherBooking
            )
        };
        runs.filter(|run| is_open(&run.outcome))
            .for_each(|run| run.abandoned = true);
    }

    /// Deletes the guests of all attempts that are not open.
    pub(super) fn forget(&mut self, rule: &Rule) {
        let attempts = self.attempts.iter_mut().flatten();
        attempts
            .filter(|it| it.state(rule) != State::Unsettled)
            .for_each(|it| it.is_whole = false);
    }

    /// The journal that `recover` makes of this one. The runs of the keys in the bit set `lost` cannot be read; the
    /// row of an attempt then tells its state.
    pub(super) fn recovered(&self, rule: &Rule, lost: u8) -> Journal {
        let mut new = self.clone();
        new.generation += 1;
        for key in 0..KEYS {
            let Some(attempt) = &mut new.attempts[key] else {
                continue;
            };
            let state = attempt.state(rule);
            if key == 0 {
                let mut place = 0;
                attempt.runs.retain(|_| {
                    place += 1;
                    lost & 1 << (place - 1) == 0
                });
            }
            if !attempt.runs.is_empty() && attempt.state(rule) == state {
                continue;
            }
            let (outcome, abandoned) = match state {
                State::Settled => (Outcome::Booked, false),
                State::Refused => (Outcome::Refused, false),
                State::Unsettled => (Outcome::InDoubt, false),
                State::Abandoned => (Outcome::InDoubt, true),
            };
            let account = (rule.recovered_account)(attempt);
            attempt.runs.push(Run {
                outcome,
                abandoned,
                account,
            });
        }
        new
    }
}
