//! The requests that the sandbox has answered, with their answers: what `/sandbox/requests`, the
//! log of `sandbox serve` and HAR files show.
//!
//! While a request is answered, what came and went is kept, and counted for the report. What it
//! means is worked out when somebody asks.

mod curl;
mod exchange;
mod har;
mod log;
mod notes;
mod secrets;

pub(crate) use exchange::Exchange;
pub(super) use exchange::{NO_KEY, OTHER_BOOKING};
pub(crate) use har::{HarFile, open_own};
pub(super) use log::read_filter;
pub(crate) use log::{Evidence, ExchangeLog, Judge};
