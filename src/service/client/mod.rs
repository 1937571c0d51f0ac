//! The HTTP layer: the wire format, without terminals, files or people.

pub(crate) mod answer;
pub(crate) mod call;
pub(crate) mod credential;
pub(crate) mod draft;
pub(crate) mod endpoints;
pub(crate) mod failure;
pub(crate) mod http_client;
pub(crate) mod named_fields;
pub(crate) mod rate_limit;
pub(crate) mod refusal;
pub(crate) mod retry;
pub(crate) mod suggest_fix;
pub(crate) mod wire_trace;

pub(crate) use answer::{Answer, Head};
pub(crate) use call::{Call, with_fields, with_parameter};
pub(crate) use credential::{key_sent_as, shown_headers, shown_path};
pub(crate) use draft::Draft;
pub(crate) use endpoints::{
    BookingRequest, Changes, Continuation, SearchLocation, SearchQuery, VENDOR_PAYMENT, VenueWish,
    cancel_call, create_call, session, show_call,
};
pub(crate) use failure::{Cause, Failure};
pub(crate) use http_client::{Client, Connection, Trace};
pub(crate) use named_fields::named_in;
pub(crate) use rate_limit::{RATE_LIMIT_WINDOW, RateLimit};
pub(crate) use wire_trace::redacted;
