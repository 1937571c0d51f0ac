//! The HTTP layer. It knows the service's wire format, and nothing about terminals, files or people.

mod answer;
mod call;
mod credential;
mod endpoints;
mod failure;
mod http_client;
mod named_fields;
mod rate_limit;
mod refusal;
mod retry;
mod wire_trace;

pub(crate) use answer::{Answer, Head};
pub(crate) use call::{Call, with_fields};
pub(crate) use credential::{key_sent_as, shown_headers, shown_path};
pub(crate) use endpoints::{
    BookingRequest, Changes, Continuation, Customer, NewBooking, SearchLocation, SlotQuery,
    VENDOR_PAYMENT, VenueQuery, cancel_call, create_call, session, show_call,
};
pub(crate) use failure::Failure;
pub(crate) use http_client::{Client, Connection, Trace};
pub(crate) use named_fields::{Named, named};
pub(crate) use rate_limit::RATE_LIMIT_WINDOW;
pub(crate) use wire_trace::redacted;
