//! The requests that the sandbox has answered, with their answers: what `/sandbox/requests`, the
//! log of `sandbox serve` and HAR files show.
//!
//! While a request is answered, only what came and went is kept. What it means is worked out when
//! somebody asks, or before it is deleted.

mod curl;
mod exchange;
mod har;
mod log;
mod met;
mod notes;
mod secrets;

pub(crate) use exchange::Exchange;
pub(crate) use har::{HarFile, open_own};
pub(super) use log::Filter;
pub(crate) use log::{ExchangeLog, Shown};
pub(super) use met::{NO_KEY, OTHER_BOOKING};
