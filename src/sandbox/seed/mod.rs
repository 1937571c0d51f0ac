//! The sandbox's venues, with their places, slots and scenarios.
//!
//! Everything follows from tables and arithmetic on (venue, time), without storage, randomness or
//! clock. The same venue and day have the same slots and ids everywhere.

mod city;
mod offer;
mod place;
mod scenario;
mod slot;
mod venues;

pub(crate) use city::{Currency, country_of, timezone};
pub(crate) use offer::{SlotPlan, Vertical};
pub(crate) use place::{SeedPlace, names_city, resolve_place, within_reach};
pub(crate) use scenario::Scenario;
pub(crate) use slot::{OfferedSlot, chance, local_time, number_of, slots_at, slots_on};
pub(crate) use venues::{Provider, SeedVenue, venue, venues};
