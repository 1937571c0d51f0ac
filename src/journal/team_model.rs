//! A model of a journal that runners of a batch share, which `stateright` checks state by state: one row of the batch, leases
//! that end at any time, runners that die, a server that loses a commit, or the answer to one, and requests that arrive
//! late. How runs are judged is decided by the functions in `runs` that the program calls.
//!
//! One step is one transaction of the journal, or one event between a runner and the service. The service makes one booking
//! for a key (spec, Limits 7), and all runners send the row with the same key.

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::runs::{
    Conclusion, Earlier, Evidence, LastTry, Outcome, State, conclusion, earlier, outcome_of,
    state_of,
};

/// What may happen how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Left {
    kills: u8,
    /// Connections that are cut while a commit is under way.
    cuts: u8,
    /// Leases that end while their runner works.
    leases: u8,
    /// Failovers to a server that has not received the last commit.
    failovers: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// It claims the row next.
    Free,
    /// It writes its intent next.
    Claimed,
    /// Its request is under way.
    Sent(Earlier),
    Told(LastTry, Earlier),
    /// Whether it showed a booking; `None` if the outcome is unknown.
    Done(Option<bool>),
    Dead,
}

/// A run as it is committed. Its runner is its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Run {
    runner: usize,
    outcome: Outcome,
}

/// What is committed on the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Journal {
    claimed_by: Option<usize>,
    runs: Vec<Run>,
}

impl Journal {
    fn state(&self) -> Option<State> {
        let known = !self.runs.is_empty();
        known.then(|| state_of(self.runs.iter().map(evidence)))
    }
}

fn evidence(run: &Run) -> Evidence<'static> {
    Evidence {
        outcome: run.outcome,
        abandoned: false,
        account: Some("one"),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    runners: Vec<Phase>,
    journal: Journal,
    /// The journal before its last commit.
    before: Journal,
    is_booked: bool,
    /// Requests whose runner does not wait any more.
    late: u8,
    left: Left,
    has_lied: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Commit {
    Answered,
    /// It was done, and the runner does not know: it does the transaction again.
    Unanswered,
    /// It was not done, and the runner does not know.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// The next transaction of a runner.
    Write(usize, Commit),
    /// The request of a runner arrives, and its answer, too.
    Answer(usize, LastTry),
    /// The runner gives its request up. It may arrive later.
    GiveUp(usize),
    Arrive,
    Kill(usize),
    EndLease,
    FailOver,
}

struct Team {
    runners: usize,
    left: Left,
}

impl Team {
    /// The transaction that a runner does next, and where it leads. `None` if the runner waits, or has none.
    fn transaction(&self, world: &World, runner: usize) -> Option<(Journal, Phase, bool)> {
        let mut journal = world.journal.clone();
        let next = match world.runners[runner] {
            Phase::Free => {
                if journal.claimed_by.is_some_and(|it| it != runner) {
                    return None;
                }
                journal.claimed_by = Some(runner);
                Phase::Claimed
            }
            Phase::Claimed if journal.state() == Some(State::Settled) => {
                journal.claimed_by = journal.claimed_by.filter(|it| *it != runner);
                Phase::Done(Some(true))
            }
            Phase::Claimed => {
                let own = journal.runs.iter().position(|run| run.runner == runner);
                let number = own.unwrap_or(journal.runs.len());
                let earlier = earlier(journal.runs[..number].iter().map(evidence));
                if own.is_none() {
                    let outcome = Outcome::UnderWay;
                    journal.runs.push(Run { runner, outcome });
                }
                Phase::Sent(earlier)
            }
            Phase::Told(last, _) => {
                let outcome = outcome_of(last, false, false);
                if let Some(own) = journal.runs.iter_mut().find(|run| run.runner == runner) {
                    own.outcome = outcome;
                }
                journal.claimed_by = journal.claimed_by.filter(|it| *it != runner);
                let said = match conclusion(outcome, journal.state()) {
                    Conclusion::Booked => Some(true),
                    Conclusion::NothingBooked => Some(false),
                    Conclusion::AnotherBooking | Conclusion::Unknown => None,
                };
                let others = world.runners.iter().any(|it| matches!(it, Phase::Sent(_)));
                let may_be_booked = world.is_booked || world.late > 0 || others;
                let is_lie = match said {
                    Some(true) => !world.is_booked,
                    Some(false) => may_be_booked,
                    None => false,
                };
                return Some((journal, Phase::Done(said), is_lie));
            }
            Phase::Sent(_) | Phase::Done(_) | Phase::Dead => return None,
        };
        Some((journal, next, false))
    }
}

impl Model for Team {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            runners: vec![Phase::Free; self.runners],
            journal: Journal::default(),
            before: Journal::default(),
            is_booked: false,
            late: 0,
            left: self.left,
            has_lied: false,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        for (runner, phase) in world.runners.iter().enumerate() {
            if self.transaction(world, runner).is_some() {
                actions.push(Action::Write(runner, Commit::Answered));
                if world.left.cuts > 0 {
                    actions.push(Action::Write(runner, Commit::Unanswered));
                    actions.push(Action::Write(runner, Commit::Lost));
                }
            }
            if let Phase::Sent(_) = phase {
                actions.push(Action::Answer(runner, LastTry::Booked));
                if !world.is_booked {
                    actions.push(Action::Answer(runner, LastTry::Refused));
                }
                actions.push(Action::GiveUp(runner));
            }
            if world.left.kills > 0 && !matches!(phase, Phase::Done(_) | Phase::Dead) {
                actions.push(Action::Kill(runner));
            }
        }
        if world.late > 0 {
            actions.push(Action::Arrive);
        }
        if world.left.leases > 0 && world.journal.claimed_by.is_some() {
            actions.push(Action::EndLease);
        }
        if world.left.failovers > 0 && world.journal != world.before {
            actions.push(Action::FailOver);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        match action {
            Action::Write(runner, commit) => {
                let (journal, phase, is_lie) = self.transaction(world, runner)?;
                if commit != Commit::Lost && journal != world.journal {
                    next.before = std::mem::replace(&mut next.journal, journal);
                }
                match commit {
                    Commit::Answered => {
                        next.runners[runner] = phase;
                        next.has_lied |= is_lie;
                    }
                    Commit::Unanswered | Commit::Lost => next.left.cuts -= 1,
                }
            }
            Action::Answer(runner, last) => {
                let Phase::Sent(earlier) = world.runners[runner] else {
                    return None;
                };
                next.is_booked |= last == LastTry::Booked;
                next.runners[runner] = Phase::Told(last, earlier);
            }
            Action::GiveUp(runner) => {
                let Phase::Sent(earlier) = world.runners[runner] else {
                    return None;
                };
                next.late += 1;
                next.runners[runner] = Phase::Told(LastTry::NoProof, earlier);
            }
            Action::Arrive => {
                next.late -= 1;
                next.is_booked = true;
            }
            Action::Kill(runner) => {
                next.late += u8::from(matches!(world.runners[runner], Phase::Sent(_)));
                next.runners[runner] = Phase::Dead;
                next.left.kills -= 1;
            }
            Action::EndLease => {
                next.journal.claimed_by = None;
                next.left.leases -= 1;
            }
            Action::FailOver => {
                next.journal = world.before.clone();
                next.left.failovers -= 1;
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(KNOWN, |_, world: &World| {
                let may_be_booked = world.is_booked || world.late > 0;
                let state = world.journal.state();
                !may_be_booked || matches!(state, Some(State::Settled | State::Unsettled))
            }),
            Property::always("nothing is sent without its intent", |_, world: &World| {
                let is_written = |runner| world.journal.runs.iter().any(|it| it.runner == runner);
                let mut runners = world.runners.iter().enumerate();
                runners.all(|(runner, it)| !matches!(it, Phase::Sent(_)) || is_written(runner))
            }),
            Property::always("a run is written once", |_, world: &World| {
                let mut runners: Vec<usize> =
                    world.journal.runs.iter().map(|run| run.runner).collect();
                runners.sort_unstable();
                runners.windows(2).all(|pair| pair[0] != pair[1])
            }),
            Property::always("what a runner says is true", |_, world: &World| {
                !world.has_lied
            }),
            Property::sometimes(
                "the row of a dead runner is booked by another",
                |_, world: &World| {
                    let is_dead = |it: &Run| world.runners[it.runner] == Phase::Dead;
                    world.journal.runs.first().is_some_and(is_dead)
                        && world.runners.contains(&Phase::Done(Some(true)))
                },
            ),
            Property::sometimes(
                "a runner reads what another one booked",
                |_, world: &World| {
                    let done = |it: &&Phase| **it == Phase::Done(Some(true));
                    world.journal.runs.len() == 1 && world.runners.iter().filter(done).count() > 1
                },
            ),
            Property::sometimes("two runners send at once", |_, world: &World| {
                let sent = |it: &&Phase| matches!(it, Phase::Sent(_));
                world.runners.iter().filter(sent).count() > 1
            }),
        ]
    }
}

const KNOWN: &str = "the journal knows every booking that may exist";

#[test]
fn a_shared_journal_keeps_its_promises_whoever_dies_and_whatever_answer_is_lost() {
    let team = Team {
        runners: 2,
        left: Left {
            kills: 2,
            cuts: 2,
            leases: 2,
            failovers: 0,
        },
    };
    team.checker().spawn_bfs().join().assert_properties();
}

/// What `docs/teams.md` says of backups and failovers: such a server forgets bookings. The batch finds them again, because
/// it sends the same key.
#[test]
fn a_server_that_loses_a_commit_which_it_has_answered_forgets_a_booking() {
    let team = Team {
        runners: 2,
        left: Left {
            kills: 1,
            cuts: 0,
            leases: 1,
            failovers: 1,
        },
    };
    let found = HasDiscoveries::AnyOf([KNOWN].into());
    let checker = team.checker().finish_when(found).spawn_bfs().join();
    assert!(checker.discovery(KNOWN).is_some());
}
