//! What was attempted and what came of it, and the venues and slots that were last seen.
//!
//! Before the first byte of a create leaves, the journal holds its idempotency key, its request and where it
//! goes, synced to the disk. Without a journal nothing is sent.

mod attempts;
mod remembered;
mod store;

pub(crate) use attempts::{Attempt, Begun};
pub(crate) use remembered::{List, RememberedSlot, Shown};
pub(crate) use store::Journal;
