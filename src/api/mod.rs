//! The thin HTTP layer: it knows the wire, and nothing of terminals, files or people.

mod allowance;
mod client;
mod dialect;
mod endpoints;
mod failure;
mod retry;
mod wire_trace;

pub(crate) use allowance::WINDOW;
pub(crate) use client::{Answer, Call, Client, Connection, Head, Trace, shown_headers};
pub(crate) use dialect::{Dialect, Pause, list};
pub(crate) use endpoints::{
    Changes, Continuation, NewBooking, SlotQuery, VenueQuery, Where, cancel_call, create_call,
    session, show_call, with_fields,
};
pub(crate) use failure::Failure;
pub(crate) use wire_trace::redacted;
