//! What a command is given: its context, how it starts, and what it has in flight.

mod context;
pub(crate) mod flags;
pub(crate) mod in_flight;
mod startup;

pub(crate) use context::{Context, Signals, Waited, sandbox_error};
pub(crate) use startup::Setup;
