//! What a command is given: the context, how it is built, and what is in flight.

mod context;
pub(crate) mod flags;
pub(crate) mod in_flight;
pub(crate) mod input;
pub(crate) mod pages;
pub(crate) mod plan;
pub(crate) mod shared_journal;
mod startup;
pub(crate) mod understood;

pub(crate) use context::{Context, sandbox_error};
pub(crate) use startup::Startup;

use crate::outcome::{Error, Result};
use crate::platform::signals::EndSignals;

/// Listens for the signals that end a command, which are awaited next to it.
pub(crate) fn listen_for_signals() -> Result<EndSignals> {
    EndSignals::listen().map_err(|error| Error::io("signals cannot be listened for", error))
}
