//! The thin HTTP layer: it knows the wire, and nothing of terminals, files or people.

mod client;
mod dialect;
mod endpoints;
mod failure;
mod retry;
mod wire_trace;

pub(crate) use client::{Answer, Call, Client, Connection, Trace, shown_headers};
pub(crate) use dialect::{Dialect, list};
pub(crate) use endpoints::{
    Changes, Continuation, NewBooking, SlotQuery, VenueQuery, Where, cancel_call, create_call,
    session, show_call,
};
pub(crate) use failure::Failure;
