//! The actions that are possible in a state.

use super::Protocol;
use super::state::{Account, KEYS, MACHINES, Message, Phase, Process, Request, Verdict, World};
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
    /// `book`: one booking request under the first key.
    Book(Request),
    /// `book --batch`: one booking request under each key.
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
    /// No answer comes, or an unreadable one. The request may still arrive.
    NoAnswer(usize),
    /// A proxy answers instead of the service. The request may still arrive.
    Page(usize),
    /// The answer to another request comes. This request may still arrive.
    StrangersAnswer {
        process: usize,
        is_new: bool,
    },
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
    /// A request arrives although nobody waits for it any more.
    LateArrival(Message),
    Abandon {
        machine: usize,
        key: usize,
    },
    /// `bookings forget`, or the end of the retention.
    Forget(usize),
    /// `attempts recover`, while the runs in this bit set cannot be read.
    Recover {
        machine: usize,
        lost: u8,
    },
    /// The two halves of a `recover` that does not keep writers out.
    Copy {
        lost: u8,
    },
    Replace,
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
                // Of equal programs the first is started first. Which of them it is makes no difference.
                let program = &self.programs[number];
                let waits_for_another = (0..number).any(|other| {
                    self.programs[other] == *program
                        && world.processes[other].phase == Phase::NotStarted
                });
                if !waits_for_another {
                    actions.push(match program.task {
                        Task::Resume(_) => Action::Read(number),
                        Task::Book(_) | Task::Batch => Action::Begin(number),
                    });
                }
            }
            Phase::Ready => actions.push(Action::Begin(number)),
            Phase::Sent => {
                actions.extend([
                    Action::Answer(number),
                    Action::NoAnswer(number),
                    Action::Refusal(number),
                    Action::NoConnection(number),
                ]);
                if process.waits > 0 {
                    actions.push(Action::Limit(number));
                }
                if self.has_strangers {
                    actions.push(Action::Page(number));
                    for is_new in [true, false] {
                        let process = number;
                        actions.push(Action::StrangersAnswer { process, is_new });
                    }
                }
            }
            Phase::Told(verdict) => {
                actions.push(Action::End(number));
                let may_pass = matches!(verdict, Verdict::Nothing | Verdict::NotSent);
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

    /// What people do besides starting processes.
    fn possible_by_hand(&self, world: &World, machine: usize, actions: &mut Vec<Action>) {
        let state = |key| world.attempt(machine, key).map(|it| it.state(&self.rule));
        for key in 0..KEYS {
            if world.left.abandons > 0 && state(key) == Some(State::Unsettled) {
                actions.push(Action::Abandon { machine, key });
            }
        }
        if world.left.forgets > 0
            && (0..KEYS).any(|key| {
                let is_whole = world.attempt(machine, key).is_some_and(|it| it.is_whole);
                is_whole && state(key) != Some(State::Unsettled)
            })
        {
            actions.push(Action::Forget(machine));
        }
        // The journals are independent of each other, so one machine is enough.
        if machine > 0 {
            return;
        }
        if world.copy.is_some() {
            actions.push(Action::Replace);
        } else if world.left.recovers > 0 && world.attempt(machine, 0).is_some() {
            let runs = world.attempt(machine, 0).map_or(0, |it| it.runs.len());
            actions.extend((0..1 << runs).map(|lost| {
                if self.rule.recover_keeps_writers_out {
                    Action::Recover { machine, lost }
                } else {
                    Action::Copy { lost }
                }
            }));
        }
    }
}
