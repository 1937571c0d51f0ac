//! The sandbox's venues, with their places, slots and scenarios.
//!
//! Everything follows from tables and from arithmetic on (venue, day): nothing is stored or truly
//! random, and no clock is read. The same venue and day give the same slots with the same ids on
//! every machine and in every version.

mod city;
mod money;
mod nearby;
mod openings;
mod own_offer;
mod place;
mod scenario;
mod scenario_venues;
mod schedule;
mod seeded_random;
mod slot;
mod slot_id;
mod terms;
mod venue;
mod venues;

pub(crate) use city::country_of;
pub(crate) use money::Money;
pub(crate) use nearby::{near_place, near_point, within_reach};
pub(crate) use own_offer::{MOST_SEATINGS, OwnOffer, OwnSlots, number_of, timezone};
pub(crate) use place::{Place, names_city, resolve_place};
pub(crate) use scenario::Scenario;
pub(crate) use schedule::Vertical;
pub(crate) use slot::{Slot, slots_at, slots_on};
#[cfg(test)]
pub(crate) use slot::{slot, slot_at};
pub(crate) use terms::{CancellationTerms, CardTerms, local_time};
pub(crate) use venue::{Provider, Venue};
pub(crate) use venues::{venue, venues};

/// A number from 0 to 1 that a seed and the number of a request determine.
pub(crate) fn chance(seed: u32, number: u32) -> f64 {
    let random = seeded_random::SeededRandom::from_text("fault");
    let bits = random.with(seed.into()).with(number.into()).bits(32);
    // 32 bits are exact in a float.
    bits as f64 / 4_294_967_296.0
}
