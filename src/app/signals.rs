//! The signals that end a command, awaited next to it: Ctrl-C, SIGTERM, SIGHUP and SIGQUIT, and their like on Windows.

use crate::outcome::{Error, Exit, Result};
use crate::platform::signals::EndSignals;

/// Listens for the signals from its creation on.
pub(crate) struct Signals(EndSignals);

impl Signals {
    pub(crate) fn listen() -> Result<Self> {
        EndSignals::listen()
            .map(Signals)
            .map_err(|error| Error::io("signals cannot be listened for", error))
    }

    pub(crate) async fn next(&mut self) -> Exit {
        self.0.next().await
    }
}
