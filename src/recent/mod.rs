//! What this terminal saw: the rows of the last lists, for `@N`, and the venues and slots of the last searches.
//!
//! It is always a local file, `recent.db`, wherever the journal is. It may be lost: nothing in it is needed to know what
//! was booked. So nothing of it is synced, and a file that cannot be used is replaced.

mod index;
mod rows;
mod store;

pub(crate) use index::RecentIndex;
pub(crate) use rows::{RecentList, RecentSlot, Shown};
pub(crate) use store::Recent;
