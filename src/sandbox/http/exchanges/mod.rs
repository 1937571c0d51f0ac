//! The requests that the sandbox has answered, with their answers: what `/sandbox/requests`, the log of `sandbox serve`
//! and HAR files show.
//!
//! Only bytes are kept while a request is answered. What they mean is worked out when somebody asks.

mod document;
mod exchange;
mod har;
mod log;
mod notes;
mod secrets;

pub(crate) use document::ExchangeDocument;
pub(crate) use exchange::Exchange;
pub(super) use exchange::{Opening, Received, Refusal};
pub(crate) use har::HarFile;
pub(crate) use log::ExchangeLog;
pub(super) use log::Filter;
