//! What was attempted and its result, what was booked, and what is left of the rate limits.
//!
//! The journal holds the idempotency key and the request of an attempt, synced to disk, before the
//! first byte of the request is sent. Without a journal nothing is sent.

mod attempts;
mod batch_rows;
mod bookings;
mod claim;
mod completion_index;
mod copy;
mod guests;
mod judgement;
mod limits;
mod live;
mod protocol;
#[cfg(test)]
mod protocol_model;
pub(crate) mod recent;
mod recover;
mod run_log;
mod runs;
mod schema;
mod scope;
mod search;
mod searched;
mod store;
mod summary;
mod team;
#[cfg(test)]
mod team_model;
mod wish;
mod writes;

pub(crate) use attempts::{abandoned, another_account};
pub(crate) use batch_rows::{BatchRecord, RowLine};
pub(crate) use bookings::KeptBooking;
pub(crate) use claim::LONGEST_LEASE;
pub(crate) use completion_index::{CompletionIndex, IndexedRow};
pub(crate) use copy::{Copied, copy};
pub(crate) use guests::Forgotten;
pub(crate) use judgement::{
    Conclusion, KeyOrigin, ShownBooking, TryResult, conclusion, existed_before, judge,
    may_be_modified, outcome_of,
};
pub(crate) use limits::{RateLimitWindow, ServiceClock};
pub(crate) use protocol::Attempt;
pub(crate) use recover::{TakenOver, recover, set_aside_with};
pub(crate) use run_log::{BeginOutcome, Intent, RunEnd, RunId};
pub(crate) use runs::{Actor, Earlier, Outcome, State};
pub(crate) use scope::Scope;
pub(crate) use search::{FoundBookings, SearchCriteria};
pub(crate) use store::Journal;
pub(crate) use summary::Summary;
pub(crate) use team::prepare;
pub(crate) use wish::RecordedRequest;
pub(crate) use writes::BookingWrite;

#[cfg(test)]
mod tests;
