//! What a command is given: the context, how it is built, and what is in flight.

mod context;
pub(crate) mod flags;
pub(crate) mod in_flight;
pub(crate) mod shared_journal;
mod signals;
mod startup;

pub(crate) use context::{Context, WaitOutcome, sandbox_error};
pub(crate) use signals::Signals;
pub(crate) use startup::Startup;
