//! The effect of an action on a state.

use super::Protocol;
use super::actions::{Action, Task};
use super::rule::Answer;
use super::state::{KEYS, Message, Phase, Process, Report, Shown, Verdict, World};
use crate::journal::runs::{
    Conclusion, Earlier, KeyOrigin, LastTry, Outcome, ShownBooking, State, judge, outcome_of,
};

impl Protocol {
    pub(super) fn after(&self, world: &World, action: Action) -> World {
        let mut world = world.clone();
        match action {
            Action::Read(number) => self.read(&mut world, number),
            Action::Begin(number) => self.begin(&mut world, number),
            Action::Answer(number) => {
                let message = self.message(&world, number);
                let (booking, is_new) = world.arrive(message);
                let shown = Shown::Booking {
                    organization: message.organization,
                    request: booking.request,
                };
                let is_asked_for = booking.request == message.request;
                self.told(
                    &mut world,
                    number,
                    Answer::Booking {
                        shown,
                        is_new,
                        is_asked_for,
                    },
                );
            }
            Action::NoAnswer(number) => self.cut_off(&mut world, number, Some(Answer::None)),
            Action::Page(number) => self.cut_off(&mut world, number, Some(Answer::Page)),
            Action::StrangersAnswer { process, is_new } => {
                let answer = Answer::Booking {
                    shown: Shown::Strangers,
                    is_new,
                    is_asked_for: false,
                };
                self.cut_off(&mut world, process, Some(answer));
            }
            Action::Refusal(number) => self.told(&mut world, number, Answer::Refusal),
            Action::Limit(number) => self.told(&mut world, number, Answer::Limit),
            Action::NoConnection(number) => {
                world.processes[number].phase = Phase::Told(Verdict::NotSent);
            }
            Action::Retry(number) => {
                world.processes[number].phase = Phase::Sent;
                world.processes[number].tries += 1;
            }
            Action::End(number) => self.end(&mut world, number),
            Action::Kill(number) => {
                world.left.kills -= 1;
                if world.processes[number].phase == Phase::Sent {
                    self.cut_off(&mut world, number, None);
                }
                finish(&mut world.processes[number], Phase::Dead);
            }
            Action::LateArrival(message) => {
                world.arrive(message);
            }
            Action::Abandon { machine, key } => {
                world.left.abandons -= 1;
                world.journals[machine].abandon(key);
            }
            Action::Forget(machine) => {
                world.left.forgets -= 1;
                world.journals[machine].forget(&self.rule);
            }
            Action::Recover { machine, lost } => {
                world.left.recovers -= 1;
                let old = &world.journals[machine];
                world.journals[machine] = old.recovered(&self.rule, lost);
            }
            Action::Copy { lost } => {
                world.left.recovers -= 1;
                let copy = world.journals[0].recovered(&self.rule, lost);
                world.copy = Some(Box::new(copy));
            }
            Action::Replace => {
                if let Some(copy) = world.copy.take() {
                    world.journals[0] = *copy;
                }
            }
        }
        world
    }

    /// The booking request that a process sends.
    pub(super) fn message(&self, world: &World, number: usize) -> Message {
        let (program, process) = (&self.programs[number], &world.processes[number]);
        Message {
            machine: program.machine,
            organization: program.account.organization(),
            key: process.key,
            request: process.request,
        }
    }

    fn read(&self, world: &mut World, number: usize) {
        let program = &self.programs[number];
        let process = &world.processes[number];
        let known = world.attempt(program.machine, process.key);
        let may_send = |runs: &[_]| {
            self.rule
                .allows(program.account, program.same_organization, runs)
        };
        let mut is_false = false;
        let phase = match known {
            Some(known) if may_send(&known.runs) => match known.state(&self.rule) {
                State::Settled => {
                    let shown = known.booking;
                    is_false = !shown.is_some_and(|it| self.is_true(world, number, it));
                    Phase::Done(Report::Success)
                }
                _ if !known.is_whole => Phase::Done(Report::NotAllowed),
                _ => Phase::Ready,
            },
            _ => Phase::Done(Report::NotAllowed),
        };
        let request = known.map_or(process.request, |it| it.request);
        let generation = world.journals[program.machine].generation;
        world.lies.success |= is_false;
        let process = &mut world.processes[number];
        process.phase = phase;
        process.request = request;
        process.generation = generation;
    }

    fn begin(&self, world: &mut World, number: usize) {
        let program = &self.programs[number];
        let process = &world.processes[number];
        let (key, request) = (process.key, process.request);
        let journal = &mut world.journals[program.machine];
        let is_first_step = process.phase == Phase::NotStarted;
        let begun = if is_first_step || process.generation == journal.generation {
            journal.begin(
                &self.rule,
                key,
                request,
                program.account,
                program.same_organization,
            )
        } else {
            None
        };
        let generation = journal.generation;
        let Some(begun) = begun else {
            finish(
                &mut world.processes[number],
                Phase::Done(Report::NotAllowed),
            );
            return;
        };
        let saw_another_booking = world.attempt(program.machine, key).is_some_and(|it| {
            let mut runs = it.runs.iter();
            runs.any(|run| run.outcome == Outcome::AnotherBooking)
        });
        world.lies.earlier |= match begun.earlier {
            // The service's word that the key has another booking may belong to another request. It decides which
            // error a later run reports, and leaves the attempt open.
            Earlier::Nothing => !saw_another_booking && self.may_exist(world, number),
            Earlier::MayHaveBooked => false,
            Earlier::Booked => !world.service.iter().any(|it| it[key].is_some()),
        };
        let process = &mut world.processes[number];
        process.generation = generation;
        process.phase = Phase::Sent;
        process.run = begun.run;
        process.tries = 1;
        process.in_doubt = false;
        process.follows_doubt = begun.earlier == Earlier::MayHaveBooked;
    }

    fn told(&self, world: &mut World, number: usize, answer: Answer) {
        let verdict = (self.rule.judge)(answer);
        let process = &mut world.processes[number];
        process.in_doubt |= verdict == Verdict::Nothing;
        process.phase = Phase::Told(verdict);
    }

    /// The sender stops waiting for an answer, and the request stays under way.
    fn cut_off(&self, world: &mut World, number: usize, answer: Option<Answer>) {
        let message = self.message(world, number);
        world.give_up(message);
        if let Some(answer) = answer {
            self.told(world, number, answer);
        }
    }

    fn end(&self, world: &mut World, number: usize) {
        let program = &self.programs[number];
        let process = &world.processes[number];
        let Phase::Told(verdict) = process.phase else {
            return;
        };
        let earlier = match process.follows_doubt {
            true => Earlier::MayHaveBooked,
            false => Earlier::Nothing,
        };
        let (last, booking) = match verdict {
            Verdict::Booked(shown) => (LastTry::Booked, Some(shown)),
            Verdict::Another { is_new } => {
                let shown = ShownBooking {
                    agrees: false,
                    is_known: false,
                    is_older: !is_new,
                    is_200: !is_new,
                };
                let key = match program.task {
                    Task::Book(_) => KeyOrigin::Caller,
                    Task::Batch | Task::Resume(_) => KeyOrigin::Derived,
                };
                (judge(shown, key, process.in_doubt, earlier), None)
            }
            Verdict::Nothing => (LastTry::NoProof, None),
            Verdict::Refused | Verdict::Limited => (LastTry::Refused, None),
            Verdict::NotSent => (LastTry::NotSent, None),
        };
        let outcome = outcome_of(last, process.in_doubt, false);
        let journal = &mut world.journals[program.machine];
        // A run cannot be ended in a file that was set aside.
        let state = (process.generation == journal.generation).then(|| {
            journal.end(
                &self.rule,
                process.key,
                process.run,
                outcome,
                booking,
                self.forgets_at_once,
            )
        });
        let report = match (self.rule.conclusion)(outcome, state) {
            Conclusion::Booked => Report::Success,
            Conclusion::NothingBooked => Report::NothingBooked,
            Conclusion::AnotherBooking => Report::Another,
            Conclusion::Unknown => Report::Unknown,
        };
        world.lies.success |= booking.is_some_and(|it| !self.is_true(world, number, it));
        world.lies.nothing_booked |=
            report == Report::NothingBooked && self.may_exist(world, number);
        let was_limited = verdict == Verdict::Limited && outcome == Outcome::Refused;
        let is_batch = program.task == Task::Batch;
        let process = &mut world.processes[number];
        let next = Phase::Ready;
        if was_limited && process.waits > 0 && state.is_some() {
            process.waits -= 1;
            finish(process, next);
        } else if is_batch && process.key + 1 < KEYS && state.is_some() {
            process.key += 1;
            finish(process, next);
        } else {
            finish(process, Phase::Done(report));
        }
    }

    /// Whether a booking is the one that the process asked for.
    fn is_true(&self, world: &World, number: usize, shown: Shown) -> bool {
        let process = &world.processes[number];
        let asked = world
            .attempt(self.programs[number].machine, process.key)
            .map_or(process.request, |it| it.request);
        let Shown::Booking {
            organization,
            request,
        } = shown
        else {
            return false;
        };
        let there = world.service[organization][process.key];
        request == asked && there.is_some_and(|it| it.request == request)
    }

    /// Whether this machine's request under this key has made a booking, or may still make one.
    fn may_exist(&self, world: &World, number: usize) -> bool {
        let own = self.message(world, number);
        let of_this = |it: &Message| {
            it.machine == own.machine && it.key == own.key && it.request == own.request
        };
        let is_booked = world.service.iter().any(|organization| {
            organization[own.key]
                .is_some_and(|it| it.request == own.request && it.asked_by & 1 << own.machine != 0)
        });
        let is_under_way = (0..world.processes.len()).any(|other| {
            world.processes[other].phase == Phase::Sent && of_this(&self.message(world, other))
        });
        is_booked || is_under_way || world.late.all().any(|it| of_this(&it))
    }
}

/// Clears what a process knew of its run, so that equal states stay equal.
fn finish(process: &mut Process, phase: Phase) {
    process.phase = phase;
    process.run = 0;
    process.tries = 0;
    process.in_doubt = false;
    process.follows_doubt = false;
    if matches!(phase, Phase::Done(_) | Phase::Dead) {
        process.key = 0;
        process.waits = 0;
        process.generation = 0;
    }
}
