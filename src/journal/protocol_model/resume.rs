//! "A resume always ends": from a state, one `attempts resume` runs alone, with responses.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use super::Protocol;
use super::actions::{Action, Program, Task};
use super::state::{KEYS, Left, MACHINES, Phase, Report, Text, World};
use crate::journal::runs::State;

/// The most steps of a resume: it reads, and each of its runs begins, is answered and ends.
const MOST_STEPS: u8 = 1 + 3 * (1 + WAITS);
const WAITS: u8 = 1;
/// No other process has this token, or one after it.
const UNUSED: Text = 80;

/// Hashes of journals and services for which a resume was found to end.
#[derive(Clone, Default)]
pub(super) struct Checked(Arc<Mutex<HashSet<u64>>>);

/// Whether every resume of every attempt ends in the allowed steps, and reports the truth.
pub(super) fn always_ends(model: &Protocol, world: &World) -> bool {
    // A resume that runs alone does not depend on other messages under way.
    let mut hasher = DefaultHasher::new();
    (&world.journals, &world.service).hash(&mut hasher);
    let hash = hasher.finish();
    let is_known = |checked: &Checked| checked.0.lock().is_ok_and(|it| it.contains(&hash));
    if is_known(&model.resumed) {
        return true;
    }
    let attempts = (0..MACHINES).flat_map(|machine| (0..KEYS).map(move |key| (machine, key)));
    let accounts: HashSet<_> = model.programs.iter().map(|it| it.account).collect();
    let each = attempts.filter(|(machine, key)| world.attempt(*machine, *key).is_some());
    let mut each = each.flat_map(|of| accounts.iter().map(move |account| (of, *account)));
    let ends = each.all(|((machine, key), account)| {
        let program =
            Program { machine, account, same_organization: false, task: Task::Resume(key) };
        let alone = Protocol {
            rule: model.rule,
            waits: WAITS,
            first_token: UNUSED,
            ..Protocol::new(vec![program])
        };
        let start = World {
            processes: alone.first().processes,
            read: None,
            late: Default::default(),
            left: Left::default(),
            ..world.clone()
        };
        let way = Way { model: &alone, before: &start };
        way.ends(&start, MOST_STEPS, true)
    });
    if ends && let Ok(mut checked) = model.resumed.0.lock() {
        checked.insert(hash);
    }
    ends
}

struct Way<'a> {
    model: &'a Protocol,
    before: &'a World,
}

impl Way<'_> {
    /// Follows all ways to continue. `accepts` is whether the service has refused nothing so far.
    fn ends(&self, world: &World, steps: u8, accepts: bool) -> bool {
        if let Phase::Done(report) = world.processes[0].phase {
            return self.is_right(world, report, accepts);
        }
        let mut actions = Vec::new();
        self.model.possible(world, &mut actions);
        // Only the service answers.
        actions.retain(|it| {
            matches!(
                it,
                Action::Read(_)
                    | Action::Begin(_)
                    | Action::Answer(_)
                    | Action::Refusal(_)
                    | Action::Limit(_)
                    | Action::End(_)
            )
        });
        steps > 0
            && !actions.is_empty()
            && actions.into_iter().all(|action| {
                let accepts = accepts && !matches!(action, Action::Refusal(_));
                self.ends(&self.model.after(world, action), steps - 1, accepts)
            })
    }

    fn is_right(&self, world: &World, report: Report, accepts: bool) -> bool {
        let (rule, program) = (&self.model.rule, &self.model.programs[0]);
        let Task::Resume(key) = program.task else {
            return false;
        };
        let state = |world: &World| world.attempt(program.machine, key).map(|it| it.state);
        let (before, after) = (state(self.before), state(world));
        // The key has another booking, made elsewhere. It stands; this attempt can be abandoned.
        let is_anothers = || {
            let there = world.service[program.account.organization()][key];
            let requested = self.before.attempt(program.machine, key);
            there.map(|it| it.request) != requested.map(|it| it.request)
        };
        let is_true = !world.lies.success && !world.lies.nothing_booked;
        is_true
            && match report {
                Report::Success => after == Some(State::Resolved),
                Report::Another | Report::AskedBefore => false,
                // A resume that sends nothing leaves the attempt unchanged. An open attempt of the
                // own account is never refused.
                Report::NotAllowed => {
                    let known = self.before.attempt(program.machine, key);
                    let is_own =
                        known.is_some_and(|it| rule.allows(program.account, false, &it.runs));
                    before == after && (before != Some(State::Unresolved) || !is_own)
                }
                Report::NothingBooked => matches!(after, None | Some(State::Refused)),
                // Neither a refusal nor another booking proves anything about an earlier run.
                Report::Unknown => !accepts || is_anothers(),
            }
    }
}
