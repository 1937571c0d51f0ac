//! The actions that are possible in a state.

use super::Protocol;
use super::state::{Account, Answer, KEYS, MACHINES, Message, Phase, Process, Request, World};
use crate::journal::judgement::KeyOrigin;
use crate::journal::runs::State;

/// What a process was started for. Each is started once, at any time, or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) machine: usize,
    pub(super) account: Account,
    /// `--same-organization`, which the model gives only if it is true.
    pub(super) same_organization: bool,
    pub(super) task: Task,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// `book`: one booking request.
    Book { key: usize, request: Request, origin: KeyOrigin },
    /// `batch`: the same booking request under each key.
    Batch,
    /// `attempts resume` of a key.
    Resume(usize),
}

/// One step. A process's number is its index among the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// `resume` reads the attempt.
    Read(usize),
    /// The process records a run, and sends the request.
    Begin(usize),
    /// The request arrives, and so does its answer.
    Answer(usize),
    /// The request arrives, and is refused with a document that shows the booking.
    RefusalShowsIt(usize),
    /// Something else answers. The request may still arrive.
    Instead(usize, Answer),
    /// The service answers with the booking of another key. The request may still arrive.
    OfAnotherKey(usize, usize),
    /// The service refuses, and books nothing.
    Refusal(usize),
    /// The service refuses because of a rate limit.
    Limit(usize),
    /// Nothing leaves the machine.
    NoConnection(usize),
    /// The process retries within its run.
    Retry(usize),
    /// The process records how its run ended, and reports it.
    End(usize),
    /// The process dies.
    Kill(usize),
    /// A request arrives after its sender stopped waiting.
    LateArrival(Message),
    Abandon {
        machine: usize,
        key: usize,
    },
    /// `bookings forget`, or the end of the retention.
    Forget(usize),
    /// `journal copy` from machine 0 into the journal of machine 1.
    Copy,
    /// `journal recover` on machine 0, while the runs in this bit set cannot be read.
    Recover {
        lost: u8,
    },
    /// The two halves of a `recover` that does not keep writers out.
    ReadOld {
        lost: u8,
    },
    Replace,
}

/// Which bookings of other keys the service may answer with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherKeys {
    None,
    /// Those that the journal knows to be another key's.
    Known,
    /// Also those of open attempts.
    Any,
}

impl Protocol {
    pub(super) fn possible(&self, world: &World, actions: &mut Vec<Action>) {
        for (number, process) in world.processes.iter().enumerate() {
            self.possible_of(world, number, process, actions);
        }
        actions.extend(world.late.all().map(Action::LateArrival));
        for machine in 0..MACHINES {
            self.possible_by_hand(world, machine, actions);
        }
    }

    fn possible_of(
        &self,
        world: &World,
        number: usize,
        process: &Process,
        actions: &mut Vec<Action>,
    ) {
        match process.phase {
            Phase::NotStarted => {
                // Of equal programs the first starts first: they are interchangeable.
                let program = &self.programs[number];
                let waits_for_another = (0..number).any(|other| {
                    self.programs[other] == *program
                        && world.processes[other].phase == Phase::NotStarted
                });
                if !waits_for_another {
                    actions.push(match program.task {
                        Task::Resume(_) => Action::Read(number),
                        Task::Book { .. } | Task::Batch => Action::Begin(number),
                    });
                }
            }
            Phase::Ready => actions.push(Action::Begin(number)),
            Phase::Sent => {
                actions.extend([
                    Action::Answer(number),
                    Action::Instead(number, Answer::None),
                    Action::Refusal(number),
                    Action::NoConnection(number),
                ]);
                if process.waits > 0 {
                    actions.push(Action::Limit(number));
                }
                let instead = self.instead.iter();
                actions.extend(instead.map(|it| match it {
                    Answer::Refusal { shows_it: true } => Action::RefusalShowsIt(number),
                    other => Action::Instead(number, *other),
                }));
                let others = (0..KEYS).filter(|key| self.may_be_answered_with(world, number, *key));
                actions.extend(others.map(|key| Action::OfAnotherKey(number, key)));
            }
            Phase::Told(answer) => {
                actions.push(Action::End(number));
                let may_pass = matches!(answer, Answer::None | Answer::Page | Answer::NotSent);
                if may_pass && process.tries < self.tries {
                    actions.push(Action::Retry(number));
                }
            }
            Phase::Done(_) | Phase::Dead => return,
        }
        if world.left.kills > 0 && matches!(process.phase, Phase::Sent | Phase::Told(_)) {
            actions.push(Action::Kill(number));
        }
    }

    fn may_be_answered_with(&self, world: &World, number: usize, key: usize) -> bool {
        let (program, process) = (&self.programs[number], &world.processes[number]);
        let is_known = || {
            let attempt = world.attempt(program.machine, key);
            attempt.is_some_and(|it| it.state == State::Resolved)
        };
        key != process.key
            && world.service[program.account.organization()][key].is_some()
            && match self.other_keys {
                OtherKeys::None => false,
                OtherKeys::Known => is_known(),
                OtherKeys::Any => true,
            }
    }

    /// What people do besides starting processes.
    fn possible_by_hand(&self, world: &World, machine: usize, actions: &mut Vec<Action>) {
        let state = |key| world.attempt(machine, key).map(|it| it.state);
        for key in 0..KEYS {
            if world.left.abandons > 0 && state(key) == Some(State::Unresolved) {
                actions.push(Action::Abandon { machine, key });
            }
        }
        let has_guest = |key| {
            let attempt = world.attempt(machine, key);
            attempt.is_some_and(|it| it.forgotten_at.is_none() && it.state != State::Unresolved)
        };
        if world.left.forgets > 0 && (0..KEYS).any(has_guest) {
            actions.push(Action::Forget(machine));
        }
        if machine > 0 {
            return;
        }
        if world.left.copies > 0 && (0..KEYS).any(|key| state(key).is_some()) {
            actions.push(Action::Copy);
        }
        // The journals are independent of each other, so one machine is enough.
        if world.read.is_some() {
            actions.push(Action::Replace);
        } else if let Some(attempt) = world.attempt(0, 0).filter(|_| world.left.recovers > 0) {
            actions.extend((0..1 << attempt.runs.len()).map(|lost| {
                if self.rule.recover_keeps_writers_out {
                    Action::Recover { lost }
                } else {
                    Action::ReadOld { lost }
                }
            }));
        }
    }
}
