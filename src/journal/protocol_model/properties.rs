//! Properties that hold in every state, and states that must be reached.

use stateright::Property;

use super::Protocol;
use super::resume;
use super::state::{Attempt, KEYS, MACHINES, Phase, Report, World, id_of};
use crate::journal::runs::{Outcome, State};

pub(super) const ONE_BOOKING: &str = "an attempt has at most one booking";
pub(super) const ONE_WISH: &str = "a wish is not sent again under a new key while it is in doubt";
pub(super) const KNOWN: &str = "the journal knows every booking that it may have made";
pub(super) const WHOLE: &str = "an open attempt has its whole request";
pub(super) const GIVEN_UP: &str = "what a person gave up stays so when a journal is copied";
pub(super) const TRUE_SUCCESS: &str = "a success shows the booking that was asked for";
pub(super) const TRUE_REFUSAL: &str = "where no booking is said to exist, none exists or comes";
pub(super) const TRUE_ANOTHER: &str = "where nothing new is said to be booked, nothing is";
pub(super) const TRUE_EARLIER: &str = "a run knows what earlier runs may have done";
pub(super) const RESUME_ENDS: &str = "a resume ends, with the booking where the service makes one";

/// The promises, which hold in every state.
pub(super) fn promises() -> Vec<Property<Protocol>> {
    vec![
        Property::always(ONE_BOOKING, |_, world: &World| {
            each_attempt(|machine, key| {
                let requested = |it: &super::state::Booking| it.asked_by & 1 << machine != 0;
                let bookings = world.service.iter().filter_map(|of| of[key].as_ref());
                bookings.filter(|it| requested(it)).count() <= 1
            })
        }),
        Property::always(ONE_WISH, |_, world: &World| !world.lies.second),
        Property::always(KNOWN, |model, world: &World| {
            each_attempt(|machine, key| is_known(model, world, machine, key))
        }),
        Property::always(WHOLE, |_, world: &World| {
            each_attempt(|machine, key| {
                let is_whole =
                    |it: &Attempt| it.forgotten_at.is_none() || it.state != State::Unresolved;
                world.attempt(machine, key).is_none_or(is_whole)
            })
        }),
        Property::always(GIVEN_UP, |_, world: &World| !world.lies.given_up),
        Property::always(TRUE_SUCCESS, |_, world: &World| !world.lies.success),
        Property::always(TRUE_REFUSAL, |_, world: &World| !world.lies.nothing_booked),
        Property::always(TRUE_ANOTHER, |_, world: &World| !world.lies.another),
        Property::always(TRUE_EARLIER, |_, world: &World| !world.lies.earlier),
        Property::always(RESUME_ENDS, resume::always_ends),
    ]
}

fn each_attempt(holds: impl Fn(usize, usize) -> bool) -> bool {
    (0..MACHINES).all(|machine| (0..KEYS).all(|key| holds(machine, key)))
}

/// Whether the journal leads to every booking that this machine's requests made: the attempt is
/// open, is settled with this booking, or was abandoned by a person.
fn is_known(model: &Protocol, world: &World, machine: usize, key: usize) -> bool {
    world.service.iter().enumerate().all(|(organization, of)| {
        let Some(booking) = of[key].filter(|it| it.asked_by & 1 << machine != 0) else {
            return true;
        };
        let Some(attempt) = world.attempt(machine, key) else {
            return false;
        };
        attempt.request == booking.request
            && match attempt.state {
                State::Unresolved => true,
                State::Resolved => attempt.booking_id == Some(id_of(organization, key)),
                State::Abandoned => world.left.abandons < model.left.abandons,
                State::Refused => false,
            }
    })
}

/// A state that must be reached, to prove that the model covers it.
pub(super) type Reached = (&'static str, fn(&Protocol, &World) -> bool);

fn is_in(world: &World, machine: usize, key: usize, state: State) -> bool {
    world.attempt(machine, key).is_some_and(|it| it.state == state)
}

fn has_run(attempt: &Attempt, outcome: Outcome) -> bool {
    attempt.runs.iter().any(|run| run.outcome == outcome)
}

/// Whether an attempt of the first machine is in this state, and has a run with this outcome.
fn stands(world: &World, key: usize, state: State, outcome: Outcome) -> bool {
    let attempt = world.attempt(0, key).filter(|it| it.state == state);
    attempt.is_some_and(|it| has_run(it, outcome))
}

fn is_phase(world: &World, phase: Phase) -> bool {
    world.processes.iter().any(|it| it.phase == phase)
}

/// A command that is run again under a new key is refused.
pub(super) const A_WISH_IS_NOT_SENT_AGAIN: Reached =
    ("a wish in doubt is not sent again", |_, world| {
        is_phase(world, Phase::Done(Report::AskedBefore))
    });

/// A copy brings a run that a journal did not know, and its guest.
pub(super) const A_COPY_OPENS_AN_ATTEMPT: Reached =
    ("a copy opens an attempt whose guest was deleted", |model, world| {
        let was_copied = world.left.copies < model.left.copies;
        let first = world.attempt(1, 0).and_then(|it| it.runs.first());
        let was_refused = first.is_some_and(|run| run.outcome == Outcome::Refused);
        was_copied && was_refused && is_in(world, 1, 0, State::Unresolved)
    });

/// A booking of another key settles nothing.
pub(super) const ANOTHER_KEYS_BOOKING_SETTLES_NOTHING: Reached =
    ("both keys have their own booking, although one was shown for both", |_, world| {
        is_in(world, 0, 0, State::Resolved) && stands(world, 1, State::Resolved, Outcome::InDoubt)
    });

pub(super) const A_KILLED_RUN_IS_SETTLED: Reached =
    ("a run was killed, and its attempt is settled", |_, world| {
        is_phase(world, Phase::Dead) && stands(world, 0, State::Resolved, Outcome::UnderWay)
    });

/// The case of C1.
pub(super) const A_REFUSAL_MEETS_AN_OPEN_RUN: Reached =
    ("a run is refused while another is open", |_, world| {
        (0..KEYS).any(|key| stands(world, key, State::Unresolved, Outcome::Refused))
    });

pub(super) const A_GUEST_IS_FORGOTTEN: Reached = ("a guest is forgotten", |_, world| {
    world.attempt(0, 0).is_some_and(|it| it.forgotten_at.is_some())
});

/// After `recover`, one run stands for the lost ones, and settles the attempt.
pub(super) const A_RECOVERED_ATTEMPT_IS_SETTLED: Reached =
    ("a recovered attempt is resumed and settled", |_, world| {
        let first = world.attempt(0, 0).and_then(|it| it.runs.first());
        let stands_in = first.is_some_and(|run| run.outcome == Outcome::InDoubt);
        world.journals[0].generation > 0 && stands_in && is_in(world, 0, 0, State::Resolved)
    });

pub(super) const A_LATE_REQUEST_BOOKS: Reached =
    ("a request books after everybody gave it up", |_, world| {
        let over = |phase| matches!(phase, Phase::Done(_) | Phase::Dead | Phase::NotStarted);
        is_in(world, 0, 0, State::Unresolved)
            && world.service[0][0].is_some()
            && world.processes.iter().all(|it| over(it.phase))
    });

/// A run ends in doubt after a person gave it up, and no other run was begun.
pub(super) const DOUBT_OPENS_AN_ABANDONED_ATTEMPT: Reached =
    ("an abandoned attempt is open again", |model, world| {
        let others = world.processes.get(1..).unwrap_or_default();
        world.left.abandons < model.left.abandons
            && others.iter().all(|it| it.phase == Phase::NotStarted)
            && world.processes[0].phase == Phase::Done(Report::Unknown)
            && is_in(world, 0, 0, State::Unresolved)
    });

/// The last process belongs to another organization, and is not allowed to send.
pub(super) const ANOTHER_ORGANIZATION_IS_KEPT_OUT: Reached =
    ("another organization's process sends nothing", |_, world| {
        let last = world.processes.last();
        last.is_some_and(|it| it.phase == Phase::Done(Report::NotAllowed))
            && world.attempt(0, 0).is_some()
    });

/// If nothing can have been booked, another organization may use the key.
pub(super) const ANOTHER_ORGANIZATION_BOOKS: Reached =
    ("another organization's process books", |_, world| world.service[1][0].is_some());

pub(super) const TWO_MACHINES_GET_ONE_BOOKING: Reached =
    ("two machines are answered with one booking", |_, world| {
        (0..MACHINES).all(|machine| is_in(world, machine, 0, State::Resolved))
    });

pub(super) const ANOTHER_BOOKING_IS_TOLD: Reached =
    ("a key is found to have another booking", |_, world| {
        is_phase(world, Phase::Done(Report::Another))
    });

pub(super) const A_WHOLE_BATCH_IS_SETTLED: Reached =
    ("a batch waits for the limit, and all of it is settled", |_, world| {
        (0..KEYS).all(|key| stands(world, key, State::Resolved, Outcome::Refused))
    });
