//! The effect of an action on a state.

use super::Protocol;
use super::actions::{Action, Task};
use super::state::{
    Answer, Attempt, KEYS, Message, NO_BOOKING, Phase, Process, RECOVERED, Report, Run, Text,
    World, id_of,
};
use crate::journal::judgement::{Conclusion, KeyOrigin, ShownBooking, TryResult};
use crate::journal::protocol::{End, Forbidden};
use crate::journal::runs::{Earlier, Outcome, State};

/// The service of the model, and any time: neither makes a difference.
const ONLY: Text = 0;

impl Protocol {
    pub(super) fn after(&self, world: &World, action: Action) -> World {
        let mut world = world.clone();
        match action {
            Action::Read(number) => self.read(&mut world, number),
            Action::Begin(number) => self.begin(&mut world, number),
            Action::Answer(number) => {
                let message = self.message(&world, number);
                let is_new = world.arrive(message).1;
                let answer = self.booking(&world, number, message.key, !is_new);
                self.receive(&mut world, number, answer);
            }
            Action::RefusalShowsIt(number) => {
                let message = self.message(&world, number);
                world.arrive(message);
                self.receive(&mut world, number, Answer::Refusal { shows_it: true });
            }
            Action::Instead(number, answer) => self.cut_off(&mut world, number, Some(answer)),
            Action::OfAnotherKey(number, key) => {
                let answer = self.booking(&world, number, key, true);
                self.cut_off(&mut world, number, Some(answer));
            }
            Action::Refusal(number) => {
                self.receive(&mut world, number, Answer::Refusal { shows_it: false });
            }
            Action::Limit(number) => self.receive(&mut world, number, Answer::Limit),
            Action::NoConnection(number) => {
                world.processes[number].phase = Phase::Told(Answer::NotSent);
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
                let attempt = world.journals[machine].attempts[key].as_mut();
                attempt.map(Attempt::abandon).unwrap_or_default();
            }
            Action::Forget(machine) => {
                world.left.forgets -= 1;
                forget(&mut world, machine);
            }
            Action::Copy => {
                world.left.copies -= 1;
                (0..KEYS).for_each(|key| self.copy(&mut world, key));
            }
            Action::Recover { lost } => {
                world.left.recovers -= 1;
                self.recover(&mut world, lost);
            }
            Action::ReadOld { lost } => {
                world.left.recovers -= 1;
                let old = world.journals[0].clone();
                self.recover(&mut world, lost);
                let new = std::mem::replace(&mut world.journals[0], old);
                world.read = Some(Box::new(new));
            }
            Action::Replace => {
                if let Some(new) = world.read.take() {
                    world.journals[0] = *new;
                }
            }
        }
        world
    }

    /// The booking request that a process sends.
    pub(super) fn message(&self, world: &World, number: usize) -> Message {
        let (program, process) = (&self.programs[number], &world.processes[number]);
        Message {
            journals: process.journals,
            organization: program.account.organization(),
            key: process.key,
            request: process.request,
        }
    }

    /// The answer with the booking under a key.
    fn booking(&self, world: &World, number: usize, key: usize, is_200: bool) -> Answer {
        let process = &world.processes[number];
        let organization = self.programs[number].account.organization();
        let there = world.service[organization][key];
        there.map_or(Answer::None, |booking| Answer::Booking {
            id: id_of(organization, key),
            request: booking.request,
            is_200,
            is_older: process.older & 1 << key != 0,
            says_modified: false,
        })
    }

    fn read(&self, world: &mut World, number: usize) {
        let program = &self.programs[number];
        let process = &world.processes[number];
        let known = world.attempt(program.machine, process.key);
        let may_send =
            |runs: &[Run]| self.rule.allows(program.account, program.same_organization, runs);
        let mut is_false = false;
        let phase = match known {
            Some(known) if may_send(&known.runs) => match known.state {
                State::Resolved => {
                    let displayed = known.booking_id;
                    is_false = !displayed.is_some_and(|it| self.is_true(world, number, it));
                    Phase::Done(Report::Success)
                }
                _ if known.forgotten_at.is_some() => Phase::Done(Report::NotAllowed),
                _ => Phase::Ready,
            },
            _ => Phase::Done(Report::NotAllowed),
        };
        let request = known.map_or(process.request, |it| it.request);
        let generation = world.journals[program.machine].generation;
        world.lies.success |= is_false;
        let process = &mut world.processes[number];
        process.request = request;
        process.generation = generation;
        match phase {
            Phase::Ready => process.phase = phase,
            _ => finish(process, phase),
        }
    }

    fn begin(&self, world: &mut World, number: usize) {
        let program = &self.programs[number];
        let process = &mut world.processes[number];
        process.token += 1;
        process.journals = 1 << program.machine;
        let first = self.first_run(program.machine, number, process);
        let (key, origin, own_generation) = (process.key, process.origin, process.generation);
        let is_first_step = process.phase == Phase::NotStarted;
        let journal = &world.journals[program.machine];
        let generation = journal.generation;
        let known = journal.attempts[key].clone();
        let open: Vec<Attempt> = match origin.allow_duplicate() {
            true => Vec::new(),
            false => journal.attempts.iter().flatten().cloned().collect(),
        };
        let is_excused = program.same_organization
            && known.as_ref().is_none_or(|it| (self.rule.is_excused)(program.account, &it.runs));
        let begun = match is_first_step || own_generation == generation {
            true => (self.rule.begin)(known.clone(), first, is_excused, &open),
            false => Err(Forbidden::AnotherService),
        };
        let begun = match begun {
            Ok(begun) => begun,
            Err(why) => {
                let report = match why {
                    Forbidden::OpenUnder(_) => Report::AskedBefore,
                    _ => Report::NotAllowed,
                };
                finish(&mut world.processes[number], Phase::Done(report));
                return;
            }
        };
        let known_booking = known.as_ref().and_then(|it| it.booking_id);
        let saw_another = known.is_some_and(|it| {
            let mut runs = it.runs.iter();
            runs.any(|run| run.outcome == Outcome::AnotherBooking)
        });
        world.lies.earlier |= match begun.earlier {
            // The service's word that the key has another booking may belong to another request. It
            // decides which error a later run reports, and leaves the attempt open.
            Earlier::Nothing => !saw_another && self.may_exist(world, number, key),
            Earlier::MayHaveBooked => false,
            Earlier::Booked => !known_booking.is_some_and(|it| self.is_true(world, number, it)),
        };
        world.lies.second |= !origin.allow_duplicate()
            && (0..KEYS).any(|other| other != key && self.is_in_doubt(world, number, other));
        world.journals[program.machine].attempts[key] = Some(begun.attempt);
        let there = &world.service[program.account.organization()];
        let older = (0..KEYS).filter(|key| there[*key].is_some());
        let older = older.fold(0, |bits, key| bits | 1 << key);
        let process = &mut world.processes[number];
        process.generation = generation;
        process.phase = Phase::Sent;
        process.tries = 1;
        process.older = older;
        process.earlier = begun.earlier;
        process.known_booking = known_booking.filter(|_| begun.earlier == Earlier::Booked);
    }

    /// The attempt with the run that a process begins.
    fn first_run(&self, machine: usize, number: usize, process: &Process) -> Attempt {
        let account = Some((self.rule.fingerprint)(self.programs[number].account));
        let token = process.token + 100 * machine as Text;
        let run = Run::begun(token, account, ONLY);
        Attempt::first(process.key as Text, ONLY, process.request, run)
    }

    fn receive(&self, world: &mut World, number: usize, answer: Answer) {
        let is_doubtful = matches!(answer, Answer::None | Answer::Page | Answer::Refusal { .. })
            && self.failure(answer) == TryResult::NoProof;
        let process = &mut world.processes[number];
        process.in_doubt |= is_doubtful;
        process.phase = Phase::Told(answer);
    }

    /// What a failure proves.
    fn failure(&self, answer: Answer) -> TryResult {
        let reads = self.rule.reads;
        match answer {
            Answer::NotSent => TryResult::NotSent,
            Answer::Page if reads.pages_prove_nothing => TryResult::NoProof,
            Answer::Refusal { shows_it: true } if reads.looks_into_refusals => TryResult::NoProof,
            Answer::Limit | Answer::Page | Answer::Refusal { .. } => TryResult::Refused,
            Answer::None | Answer::Document | Answer::Booking { .. } => TryResult::NoProof,
        }
    }

    /// The sender stops waiting for an answer, and the request stays under way.
    fn cut_off(&self, world: &mut World, number: usize, answer: Option<Answer>) {
        let message = self.message(world, number);
        world.give_up(message);
        if let Some(answer) = answer {
            self.receive(world, number, answer);
        }
    }

    /// What the last answer proves, and the booking that settles the attempt.
    fn judged(&self, process: &Process, answer: Answer) -> (TryResult, Option<Text>) {
        let reads = self.rule.reads;
        let (id, displayed) = match answer {
            Answer::Booking { id, request, is_200, is_older, says_modified } => {
                let displayed = ShownBooking {
                    agrees: request == process.request
                        || says_modified && !reads.compares_what_was_modified,
                    is_known: process.known_booking == Some(id),
                    is_older,
                    is_200,
                };
                (id, displayed)
            }
            Answer::Document if !reads.knows_a_booking => {
                let displayed =
                    ShownBooking { agrees: true, is_known: false, is_older: false, is_200: true };
                (NO_BOOKING, displayed)
            }
            failure => return (self.failure(failure), None),
        };
        let last = (self.rule.judge)(displayed, process.origin, process.in_doubt, process.earlier);
        (last, Some(id).filter(|_| last == TryResult::Booked))
    }

    fn end(&self, world: &mut World, number: usize) {
        let program = &self.programs[number];
        let process = world.processes[number].clone();
        let Phase::Told(answer) = process.phase else {
            return;
        };
        let (last, booking_id) = self.judged(&process, answer);
        let journal = &mut world.journals[program.machine];
        let other_keys = (0..KEYS).filter(|key| *key != process.key);
        let has_it = |key: usize| {
            let attempt = journal.attempts[key].as_ref();
            booking_id.is_some() && attempt.is_some_and(|it| it.booking_id == booking_id)
        };
        let end = End {
            token: process.token + 100 * program.machine as Text,
            last,
            in_doubt: process.in_doubt,
            booking_id,
            is_of_another_key: self.rule.reads.asks_for_other_keys && { other_keys }.any(has_it),
            http_status: None,
            error_code: None,
            request_id: None,
            ended_at: ONLY,
        };
        let outcome;
        let mut state = None;
        // A run cannot be ended in a file that was set aside.
        if process.generation == journal.generation {
            let place = &mut journal.attempts[process.key];
            let (attempt, ended, now) = (self.rule.end)(place.take(), end, process.request);
            *place = attempt;
            (outcome, state) = (ended, Some(now));
            if self.forgets_at_once {
                forget(world, program.machine);
            }
        } else {
            outcome =
                crate::journal::judgement::outcome_of(last, end.in_doubt, end.is_of_another_key);
        }
        let report = match (self.rule.conclusion)(outcome, state) {
            Conclusion::Booked => Report::Success,
            Conclusion::NothingBooked => Report::NothingBooked,
            Conclusion::AnotherBooking => Report::Another,
            Conclusion::Unknown => Report::Unknown,
        };
        let may_exist = self.may_exist(world, number, process.key);
        let displayed = booking_id.is_some_and(|it| self.is_true(world, number, it));
        world.lies.success |= report == Report::Success && !displayed;
        world.lies.nothing_booked |= report == Report::NothingBooked && may_exist;
        // Others may have used the caller's key. That "nothing new was booked" is the service's
        // word then, and the attempt stays open.
        let is_the_services_word =
            process.origin == KeyOrigin::Caller && state.is_none_or(|it| it == State::Unresolved);
        world.lies.another |= report == Report::Another && may_exist && !is_the_services_word;
        let was_limited = answer == Answer::Limit && outcome == Outcome::Refused;
        let is_batch = program.task == Task::Batch;
        let process = &mut world.processes[number];
        if was_limited && process.waits > 0 && state.is_some() {
            process.waits -= 1;
            finish(process, Phase::Ready);
        } else if is_batch && process.key + 1 < KEYS && state.is_some() {
            process.key += 1;
            finish(process, Phase::Ready);
        } else {
            finish(process, Phase::Done(report));
        }
    }

    /// Copies what machine 0 knows of a key into the journal of machine 1.
    fn copy(&self, world: &mut World, key: usize) {
        let Some(copied) = world.journals[0].attempts[key].clone() else {
            return;
        };
        let there = world.journals[1].attempts[key].clone();
        let Some(now) = (self.rule.copy)(there.clone(), copied) else {
            return;
        };
        let given_up = there.iter().flat_map(|it| &it.runs).filter(|it| it.abandoned);
        let is_kept = |run: &Run| {
            let mut runs = now.runs.iter();
            runs.any(|it| it.token == run.token && it.abandoned)
        };
        world.lies.given_up |= !{ given_up }.all(is_kept);
        world.journals[1].attempts[key] = Some(now);
        world.tell(key);
    }

    /// Replaces the journal of machine 0. Runs in the bit set `lost` cannot be read.
    fn recover(&self, world: &mut World, lost: u8) {
        let journal = &mut world.journals[0];
        journal.generation += 1;
        if let Some(attempt) = &mut journal.attempts[0] {
            let mut place = 0;
            attempt.runs.retain(|_| {
                place += 1;
                lost & 1 << (place - 1) == 0
            });
        }
        let attempts = journal.attempts.iter_mut().flatten();
        attempts.for_each(|it| _ = (self.rule.recover)(it, RECOVERED));
    }

    /// Whether a booking is the one that the process asked for.
    fn is_true(&self, world: &World, number: usize, id: Text) -> bool {
        let process = &world.processes[number];
        let requested = world
            .attempt(self.programs[number].machine, process.key)
            .map_or(process.request, |it| it.request);
        let mut there = world.service.iter().enumerate();
        there.any(|(organization, of)| {
            id == id_of(organization, process.key)
                && of[process.key].is_some_and(|it| it.request == requested)
        })
    }

    /// Whether a request of this process's journal under a key has made a booking for what the
    /// process wants, or may still make one.
    fn may_exist(&self, world: &World, number: usize, key: usize) -> bool {
        let own = 1 << self.programs[number].machine;
        let wanted = world.processes[number].request;
        let is_own = |it: &Message| it.journals & own != 0 && it.key == key && it.request == wanted;
        let mut booked = world.service.iter().filter_map(|of| of[key]);
        let is_booked = booked.any(|it| it.request == wanted && it.asked_by & own != 0);
        let is_under_way = (0..world.processes.len()).any(|other| {
            world.processes[other].phase == Phase::Sent && is_own(&self.message(world, other))
        });
        is_booked || is_under_way || world.late.all().any(|it| is_own(&it))
    }

    /// Whether what the process wants may be booked under another key, and the journal does not
    /// know it: neither is the attempt settled, nor has a person given it up.
    fn is_in_doubt(&self, world: &World, number: usize, key: usize) -> bool {
        let attempt = world.attempt(self.programs[number].machine, key);
        let is_known =
            attempt.is_some_and(|it| matches!(it.state, State::Resolved | State::Abandoned));
        !is_known && self.may_exist(world, number, key)
    }
}

/// Deletes the guests of all attempts that are not open.
fn forget(world: &mut World, machine: usize) {
    let attempts = world.journals[machine].attempts.iter_mut().flatten();
    attempts.for_each(|it| it.forget(ONLY));
}

/// Clears what a process knew of its run, so that equal states stay equal.
fn finish(process: &mut Process, phase: Phase) {
    process.phase = phase;
    process.tries = 0;
    process.in_doubt = false;
    process.earlier = Earlier::Nothing;
    process.known_booking = None;
    process.older = 0;
    process.journals = 0;
    if matches!(phase, Phase::Done(_) | Phase::Dead) {
        process.key = 0;
        process.token = 0;
        process.waits = 0;
        process.generation = 0;
    }
}
