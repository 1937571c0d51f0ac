//! A model of a journal that runners of a batch share, which `stateright` checks state by state:
//! one row of the batch, leases that end at any time, a clock that is set back, runners that die, a
//! server that loses a commit, or the answer to one, and requests that arrive late. What becomes of
//! the row's attempt and of a claim is decided by the functions that the program calls.
//!
//! One step is one transaction, or one event between a runner and the service, which makes one
//! booking for a key (spec, Limits 7). All runners send the row with the same key.

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::claim::{LONGEST, is_over};
use super::judgement::{Conclusion, TryResult, conclusion};
use super::protocol::{self, End, begin, end};
use super::runs::{Run, State};
use super::wish::ComparableRequest;

/// What may happen how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Left {
    kills: u8,
    /// Connections that are cut while a commit is under way.
    cuts: u8,
    /// Leases that end while their runner works.
    leases: u8,
    /// Failovers to a server that has not received the last commit.
    failovers: u8,
    /// How often the server's clock is set back by a day.
    set_back: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// It claims the row next.
    Free,
    /// It writes its intent next.
    Claimed,
    /// Its request is under way.
    Sent,
    Told(TryResult),
    /// Whether it showed a booking; `None` if the outcome is unknown.
    Done(Option<bool>),
    Dead,
}

/// The request of the row, which all runners send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Request;

impl ComparableRequest for Request {
    fn is_same_request(&self, _: &Self) -> bool {
        true
    }

    fn is_same_booking(&self, _: &Self) -> bool {
        true
    }
}

/// The token of a run is its runner.
type Attempt = protocol::Attempt<usize, Request>;

/// What is committed on the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Journal {
    /// A runner, and how long its claim lasts, in milliseconds.
    claim: Option<(usize, i64)>,
    attempt: Option<Attempt>,
}

impl Journal {
    fn state(&self) -> Option<State> {
        self.attempt.as_ref().map(|it| it.state)
    }

    fn runs(&self) -> impl Iterator<Item = &Run<usize>> {
        self.attempt.iter().flat_map(|it| &it.runs)
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

impl World {
    /// Lets a time pass on the server's clock.
    fn pass(&mut self, time: i64) {
        for journal in [&mut self.journal, &mut self.before] {
            if let Some((_, lasts)) = &mut journal.claim {
                *lasts -= time;
            }
        }
    }
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
    Answer(usize, TryResult),
    /// The runner gives its request up. It may arrive later.
    GiveUp(usize),
    Arrive,
    Kill(usize),
    EndLease,
    SetBack,
    FailOver,
}

struct Team {
    runners: usize,
    left: Left,
    /// Whether a claim that would last so long is over.
    is_over: fn(i64) -> bool,
}

const DAY: i64 = 86_400_000;

impl Team {
    /// A runner's next transaction, and where it leads; `None` if it waits or has none.
    fn transaction(&self, world: &World, runner: usize) -> Option<(Journal, Phase, bool)> {
        let mut journal = world.journal.clone();
        let next = match world.runners[runner] {
            Phase::Free => {
                let others = journal.claim.filter(|(by, _)| *by != runner);
                if others.is_some_and(|(_, lasts)| !(self.is_over)(lasts)) {
                    return None;
                }
                journal.claim = Some((runner, LONGEST));
                Phase::Claimed
            }
            Phase::Claimed if journal.state() == Some(State::Resolved) => {
                journal.claim = journal.claim.filter(|(by, _)| *by != runner);
                Phase::Done(Some(true))
            }
            Phase::Claimed => {
                let begun = begin(
                    journal.attempt.take(),
                    Attempt::first(0, 0, Request, Run::begun(runner, Some(0), 0)),
                    false,
                    &[],
                );
                journal.attempt = Some(begun.ok()?.attempt);
                Phase::Sent
            }
            Phase::Told(last) => {
                let reported = End {
                    token: runner,
                    last,
                    in_doubt: false,
                    booking_id: None,
                    is_of_another_key: false,
                    http_status: None,
                    error_code: None,
                    request_id: None,
                    ended_at: 0,
                };
                let (attempt, outcome, state) = end(journal.attempt.take(), reported, Request);
                journal.attempt = attempt;
                journal.claim = journal.claim.filter(|(by, _)| *by != runner);
                let wording = match conclusion(outcome, Some(state)) {
                    Conclusion::Booked => Some(true),
                    Conclusion::NothingBooked => Some(false),
                    Conclusion::AnotherBooking | Conclusion::Unknown => None,
                };
                let others = world.runners.contains(&Phase::Sent);
                let may_be_booked = world.is_booked || world.late > 0 || others;
                let is_lie = match wording {
                    Some(true) => !world.is_booked,
                    Some(false) => may_be_booked,
                    None => false,
                };
                return Some((journal, Phase::Done(wording), is_lie));
            }
            Phase::Sent | Phase::Done(_) | Phase::Dead => return None,
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
            if *phase == Phase::Sent {
                actions.push(Action::Answer(runner, TryResult::Booked));
                if !world.is_booked {
                    actions.push(Action::Answer(runner, TryResult::Refused));
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
        if world.left.leases > 0 && world.journal.claim.is_some() {
            actions.push(Action::EndLease);
        }
        if world.left.set_back > 0 && world.journal.claim.is_some() {
            actions.push(Action::SetBack);
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
                next.is_booked |= last == TryResult::Booked;
                next.runners[runner] = Phase::Told(last);
            }
            Action::GiveUp(runner) => {
                next.late += 1;
                next.runners[runner] = Phase::Told(TryResult::NoProof);
            }
            Action::Arrive => {
                next.late -= 1;
                next.is_booked = true;
            }
            Action::Kill(runner) => {
                next.late += u8::from(world.runners[runner] == Phase::Sent);
                next.runners[runner] = Phase::Dead;
                next.left.kills -= 1;
            }
            Action::EndLease => {
                next.pass(LONGEST);
                next.left.leases -= 1;
            }
            Action::SetBack => {
                next.pass(-DAY);
                next.left.set_back -= 1;
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
                !may_be_booked || matches!(state, Some(State::Resolved | State::Unresolved))
            }),
            Property::always(A_LEASE_ENDS, |model: &Team, world: &World| {
                let claim = world.journal.claim;
                claim.is_none_or(|(_, lasts)| (model.is_over)(lasts - LONGEST))
            }),
            Property::always("nothing is sent without its intent", |_, world: &World| {
                let is_written = |runner| world.journal.runs().any(|it| it.token == runner);
                let mut runners = world.runners.iter().enumerate();
                runners.all(|(runner, it)| *it != Phase::Sent || is_written(runner))
            }),
            Property::always("a run is written once", |_, world: &World| {
                let mut runners: Vec<_> = world.journal.runs().map(|run| run.token).collect();
                runners.sort_unstable();
                runners.windows(2).all(|pair| pair[0] != pair[1])
            }),
            Property::always("what a runner says is true", |_, world: &World| !world.has_lied),
            Property::sometimes(
                "the row of a dead runner is booked by another",
                |_, world: &World| {
                    let is_dead = |it: &Run<usize>| world.runners[it.token] == Phase::Dead;
                    world.journal.runs().next().is_some_and(is_dead)
                        && world.runners.contains(&Phase::Done(Some(true)))
                },
            ),
            Property::sometimes("a runner reads what another one booked", |_, world: &World| {
                let done = |it: &&Phase| **it == Phase::Done(Some(true));
                world.journal.runs().count() == 1 && world.runners.iter().filter(done).count() > 1
            }),
            Property::sometimes("two runners send at once", |_, world: &World| {
                let sent = |it: &&Phase| **it == Phase::Sent;
                world.runners.iter().filter(sent).count() > 1
            }),
        ]
    }
}

const KNOWN: &str = "the journal knows every booking that may exist";
const A_LEASE_ENDS: &str = "a claim is over after the longest lease";

fn two_runners(left: Left) -> Team {
    Team { runners: 2, left, is_over: |lasts| is_over(lasts, 0, LONGEST) }
}

#[test]
fn shared_journal_keeps_its_promises_whoever_dies() {
    let team = two_runners(Left { kills: 2, cuts: 2, leases: 2, set_back: 1, ..Left::default() });
    team.checker().spawn_bfs().join().assert_properties();
}

/// What `docs/teams.md` says of backups and failovers: such a server forgets bookings. The batch
/// finds them again, because it sends the same key.
#[test]
fn server_losing_an_acknowledged_commit_forgets_a_booking() {
    let team = two_runners(Left { kills: 1, leases: 1, failovers: 1, ..Left::default() });
    finds(KNOWN, team);
}

/// B3.
#[test]
fn lease_by_clock_lasts_a_day_when_the_clock_is_set_back() {
    let left = Left { kills: 1, set_back: 1, ..Left::default() };
    let team = Team { is_over: |lasts| lasts <= 0, ..two_runners(left) };
    finds(A_LEASE_ENDS, team);
}

fn finds(property: &'static str, team: Team) {
    let found = HasDiscoveries::AnyOf([property].into());
    let checker = team.checker().finish_when(found).spawn_bfs().join();
    assert!(checker.discovery(property).is_some());
}
