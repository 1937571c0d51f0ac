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
                let asked = |it: &super::state::Booking| it.asked_by & 1 << machine != 0;
                let bookings = world.service.iter().filter_map(|of| of[key].as_ref());
                bookings.filter(|it| asked(it)).count() <= 1
            })
        }),
        Property::always(ONE_WISH, |_, world: &World| !world.lies.second),
        Property::always(KNOWN, |model, world: &World| {
            each_attempt(|machine, key| is_known(model, world, machine, key))
        }),
        Property::always(WHOLE, |_, world: &World| {
            each_attempt(|machine, key| {
                let is_whole =
                    |it: &Attempt| it.forgotten_at.is_none() || it.state != State::Unsettled;
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

/// Whether the journal leads to every booking that this machine's requests made: the attempt is open, is settled with
/// this booking, or was abandoned by a person.
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
                State::Unsettled => true,
                State::Settled => attempt.booking_id == Some(id_of(organization, key)),
                State::Abandoned => world.left.abandons < model.left.abandons,
                State::Refused => false,
            }
    })
}

/// A command that is run again under a new key is refused.
pub(super) fn a_wish_is_not_sent_again() -> Property<Protocol> {
    Property::sometimes("a wish in doubt is not sent again", |_, world: &World| {
        let mut phases = world.processes.iter().map(|it| it.phase);
        phases.any(|it| it == Phase::Done(Report::AskedBefore))
    })
}

/// A copy brings a run that a journal did not know, and its guest.
pub(super) fn a_copy_opens_an_attempt() -> Property<Protocol> {
    Property::sometimes(
        "a copy opens an attempt whose guest was deleted",
        |model, world: &World| {
            let was_copied = world.left.copies < model.left.copies;
            let attempt = world.attempt(1, 0).filter(|_| was_copied);
            attempt.is_some_and(|it| {
                let first = it.runs.first().map(|run| run.outcome);
                first == Some(Outcome::Refused) && it.state == State::Unsettled
            })
        },
    )
}

/// A booking of another key settles nothing.
pub(super) fn another_keys_booking_settles_nothing() -> Property<Protocol> {
    Property::sometimes(
        "both keys have their own booking, although one was shown for both",
        |_, world: &World| {
            let of = |key| world.attempt(0, key);
            of(0).is_some_and(|it| it.state == State::Settled)
                && of(1).is_some_and(|it| {
                    let in_doubt = it.runs.iter().any(|run| run.outcome == Outcome::InDoubt);
                    in_doubt && it.state == State::Settled
                })
        },
    )
}

/// A process was killed, and another one settled the attempt.
pub(super) fn a_killed_run_is_settled() -> Property<Protocol> {
    Property::sometimes(
        "a run was killed, and its attempt is settled",
        |_, world: &World| {
            let died = world.processes.iter().any(|it| it.phase == Phase::Dead);
            let cut = world.attempt(0, 0).filter(|it| {
                let under_way = it.runs.iter().any(|run| run.outcome == Outcome::UnderWay);
                under_way && it.state == State::Settled
            });
            died && cut.is_some()
        },
    )
}

/// The case of C1: a refusal meets an open run.
pub(super) fn a_refusal_meets_an_open_run() -> Property<Protocol> {
    Property::sometimes(
        "a run is refused while another is open",
        |_, world: &World| {
            (0..KEYS).any(|key| {
                world.attempt(0, key).is_some_and(|it| {
                    let refused = it.runs.iter().any(|run| run.outcome == Outcome::Refused);
                    refused && it.state == State::Unsettled
                })
            })
        },
    )
}

pub(super) fn a_guest_is_forgotten() -> Property<Protocol> {
    Property::sometimes("a guest is forgotten", |_, world: &World| {
        world
            .attempt(0, 0)
            .is_some_and(|it| it.forgotten_at.is_some())
    })
}

/// After `recover`, one run stands for the lost ones, and settles the attempt.
pub(super) fn a_recovered_attempt_is_settled() -> Property<Protocol> {
    Property::sometimes(
        "a recovered attempt is resumed and settled",
        |_, world: &World| {
            let attempt = world.attempt(0, 0);
            world.journals[0].generation > 0
                && attempt.is_some_and(|it| {
                    let stands_in =
                        it.runs.first().map(|run| run.outcome) == Some(Outcome::InDoubt);
                    stands_in && it.state == State::Settled
                })
        },
    )
}

pub(super) fn a_late_request_books() -> Property<Protocol> {
    Property::sometimes(
        "a request books after everybody gave it up",
        |_, world: &World| {
            let over = |phase| matches!(phase, Phase::Done(_) | Phase::Dead | Phase::NotStarted);
            let is_open = world
                .attempt(0, 0)
                .is_some_and(|it| it.state == State::Unsettled);
            is_open
                && world.service[0][0].is_some()
                && world.processes.iter().all(|it| over(it.phase))
        },
    )
}

/// A run ends in doubt after a person gave it up, and no other run was begun.
pub(super) fn doubt_opens_an_abandoned_attempt() -> Property<Protocol> {
    Property::sometimes(
        "an abandoned attempt is open again",
        |model, world: &World| {
            let was_abandoned = world.left.abandons < model.left.abandons;
            let others = world.processes.get(1..).unwrap_or_default();
            was_abandoned
                && others.iter().all(|it| it.phase == Phase::NotStarted)
                && world.processes[0].phase == Phase::Done(Report::Unknown)
                && world
                    .attempt(0, 0)
                    .is_some_and(|it| it.state == State::Unsettled)
        },
    )
}

/// The last process belongs to another organization, and is not allowed to send.
pub(super) fn another_organization_is_kept_out() -> Property<Protocol> {
    Property::sometimes(
        "another organization's process sends nothing",
        |_, world: &World| {
            let last = world.processes.last();
            last.is_some_and(|it| it.phase == Phase::Done(Report::NotAllowed))
                && world.attempt(0, 0).is_some()
        },
    )
}

/// If nothing can have been booked, another organization may use the key.
pub(super) fn another_organization_books() -> Property<Protocol> {
    Property::sometimes(
        "another organization's process books",
        |_, world: &World| world.service[1][0].is_some(),
    )
}

pub(super) fn two_machines_get_one_booking() -> Property<Protocol> {
    Property::sometimes(
        "two machines are answered with one booking",
        |_, world: &World| {
            (0..MACHINES).all(|machine| {
                world
                    .attempt(machine, 0)
                    .is_some_and(|it| it.state == State::Settled)
            })
        },
    )
}

pub(super) fn another_booking_is_told() -> Property<Protocol> {
    Property::sometimes(
        "a key is found to have another booking",
        |_, world: &World| {
            let mut phases = world.processes.iter().map(|it| it.phase);
            phases.any(|it| it == Phase::Done(Report::Another))
        },
    )
}

pub(super) fn a_whole_batch_is_settled() -> Property<Protocol> {
    Property::sometimes(
        "a batch waits for the limit, and all of it is settled",
        |_, world: &World| {
            let attempts = world.journals[0].attempts.iter();
            attempts.flatten().count() == KEYS
                && world.journals[0].attempts.iter().flatten().all(|it| {
                    let refused = it.runs.iter().any(|run| run.outcome == Outcome::Refused);
                    refused && it.state == State::Settled
                })
        },
    )
}
