//! What was attempted and what came of it, what was booked, and the venues and slots that were last seen.
//!
//! Before the first byte of a booking request leaves, the journal holds its idempotency key, the request and where it
//! goes, synced to the disk. Without a journal nothing is sent.

mod attempts;
mod bookings;
mod completing;
mod guests;
mod limits;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod protocol_model;
mod rate_window;
mod recover;
mod remembered;
mod run_log;
mod runs;
mod schema;
mod store;

pub(crate) use attempts::{Attempt, Run, another_account};
pub(crate) use bookings::KeptBooking;
pub(crate) use completing::{Made, Memory};
pub(crate) use guests::Forgotten;
pub(crate) use rate_window::Window;
pub(crate) use recover::{Recovery, recover};
pub(crate) use remembered::{List, RememberedSlot, Shown};
pub(crate) use run_log::{Begun, RunId};
pub(crate) use runs::{Earlier, State};
pub(crate) use store::Journal;
