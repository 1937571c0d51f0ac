//! A model of the booking protocol, which `stateright` checks state by state: processes that begin and end runs, a
//! service that books or refuses, answers that arrive, are lost or belong to another request, and people who resume,
//! abandon, forget and recover. All decisions are made by the functions in `runs` that the program calls.
//!
//! One step is one transaction of the journal, or one event between a process and the service. Whatever happens in
//! between is invisible to others.

mod actions;
mod journal;
mod properties;
mod resume;
mod rule;
mod state;
mod steps;
mod tests;

use stateright::{Model, Property};

use actions::{Action, Program, Task};
use rule::Rule;
use state::{Left, Phase, Process, Request, World};

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
    /// Whether anything but the service answers: proxies, or the answers to other requests.
    has_strangers: bool,
    /// `--retention 0`: guests are deleted whenever a run ends.
    forgets_at_once: bool,
    /// States that must be reached, to prove that the model covers them.
    reaches: Vec<Property<Protocol>>,
    /// States for which "a resume always ends" is already proved.
    resumed: resume::Checked,
}

impl Protocol {
    fn new(programs: Vec<Program>) -> Self {
        Protocol {
            rule: Rule::default(),
            resumed: resume::Checked::default(),
            programs,
            left: Left::default(),
            tries: 2,
            waits: 0,
            has_strangers: false,
            forgets_at_once: true,
            reaches: Vec::new(),
        }
    }

    /// The state before anything is started.
    fn first(&self) -> World {
        let process = |program: &Program| {
            let (key, request) = match program.task {
                Task::Book(request) => (0, request),
                Task::Batch => (0, Request::Ada),
                Task::Resume(key) => (key, Request::Ada),
            };
            Process {
                phase: Phase::NotStarted,
                key,
                request,
                run: 0,
                tries: 0,
                in_doubt: false,
                follows_doubt: false,
                waits: self.waits,
                generation: 0,
            }
        };
        World {
            processes: self.programs.iter().map(process).collect(),
            journals: Default::default(),
            copy: None,
            service: Default::default(),
            late: Default::default(),
            left: self.left,
            lies: Default::default(),
        }
    }
}

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
        all.extend(self.reaches.iter().cloned());
        all
    }
}
