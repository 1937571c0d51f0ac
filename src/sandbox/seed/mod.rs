//! What the sandbox offers: venues, the places they stand in, their slots and the scenarios they play.
//!
//! All of it follows from tables and from arithmetic on (venue, day): nothing is stored, nothing is
//! random, and no clock is read. The same venue and day give the same slots, with the same ids, on
//! every machine and in every version.

mod city;
mod draw;
mod gazetteer;
mod money;
mod nearby;
mod place;
mod programme;
mod provider;
mod scenario;
mod slot;
mod slot_id;
mod terms;
mod venue;
mod venues;
mod vertical;

pub(crate) use money::Money;
pub(crate) use nearby::{near_place, near_point};
pub(crate) use place::{Place, resolve_place};
pub(crate) use provider::Provider;
pub(crate) use scenario::Scenario;
#[cfg(test)]
pub(crate) use slot::slot_at;
pub(crate) use slot::{Slot, slot, slots_at, slots_on};
pub(crate) use terms::{CancellationTerms, CardTerms};
pub(crate) use venue::{Venue, venue};
pub(crate) use vertical::Vertical;
