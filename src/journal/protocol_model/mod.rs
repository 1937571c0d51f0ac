//! A model of the booking protocol, which `stateright` checks state by state: processes that begin
//! and end runs, a service that books or refuses, answers that arrive, are lost or belong to
//! another request, and people who resume, abandon, forget, recover and copy. What becomes of an
//! attempt is decided by the functions in `protocol` and `runs` that the program calls.
//!
//! One step is one transaction of the journal, or one event between a process and the service.
//! Whatever happens in between is invisible to others.

mod actions;
mod properties;
mod resume;
mod rule;
mod state;
mod steps;

use stateright::{Model, Property};

use crate::journal::judgement::KeyOrigin;
use crate::journal::runs::Earlier;
use actions::{Action, OtherKeys, Program, Task};
use properties::Reached;
use rule::Rule;
use state::{Answer, Booking, Left, Phase, Process, Request, Text, World};

/// One configuration of the model: the programs that may run, and what may go wrong.
#[derive(Clone)]
struct Protocol {
    rule: Rule,
    programs: Vec<Program>,
    /// How often people and failures may intervene.
    left: Left,
    tries: u8,
    /// How often a process waits for a rate limit.
    waits: u8,
    /// What may come instead of the service's true answer, besides nothing: of proxies, caches, or
    /// of a service that errs.
    instead: &'static [Answer],
    /// Which bookings of other keys the service may answer with.
    other_keys: OtherKeys,
    /// A booking made under the first key before, elsewhere.
    older: Option<Request>,
    /// `--retention 0`: guests are deleted whenever a run ends.
    forgets_at_once: bool,
    reaches: &'static [Reached],
    /// The token of the first process's first run.
    first_token: Text,
    /// States for which "a resume always ends" is already proved.
    resumed: resume::Checked,
}

impl Protocol {
    fn new(programs: Vec<Program>) -> Self {
        Protocol {
            rule: Rule::default(),
            resumed: resume::Checked::default(),
            programs,
            first_token: 0,
            left: Left::default(),
            tries: 2,
            waits: 0,
            instead: &[],
            other_keys: OtherKeys::None,
            older: None,
            forgets_at_once: true,
            reaches: &[],
        }
    }

    /// The state before anything is started.
    fn first(&self) -> World {
        let process = |(number, program): (usize, &Program)| {
            let (key, request, origin) = match program.task {
                Task::Book { key, request, origin } => (key, request, origin),
                Task::Batch => (0, Request::Ada, row(false)),
                Task::Resume(key) => (key, Request::Ada, row(true)),
            };
            Process {
                phase: Phase::NotStarted,
                key,
                origin,
                request,
                token: self.first_token + MOST_RUNS * number as Text,
                tries: 0,
                in_doubt: false,
                earlier: Earlier::Nothing,
                known_booking: None,
                older: 0,
                journals: 0,
                waits: self.waits,
                generation: 0,
            }
        };
        let mut world = World {
            processes: self.programs.iter().enumerate().map(process).collect(),
            journals: Default::default(),
            read: None,
            service: Default::default(),
            late: Default::default(),
            left: self.left,
            lies: Default::default(),
        };
        let of_nobody = |request| Booking { request, asked_by: 0 };
        world.service[0][0] = self.older.map(of_nobody);
        world
    }
}

const fn row(allow_duplicate: bool) -> KeyOrigin {
    KeyOrigin::Derived { allow_duplicate }
}

/// More runs than a process begins.
const MOST_RUNS: Text = 8;

impl Model for Protocol {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![self.first()]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        self.possible(world, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        Some(self.after(world, action))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = properties::promises();
        let reached = self.reaches.iter();
        all.extend(reached.map(|(name, is_reached)| Property::sometimes(name, *is_reached)));
        all
    }
}

#[cfg(test)]
mod tests;
