//! Ctrl-C and SIGTERM, awaited next to a command.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::outcome::{Error, Exit, Result};

/// Listens for Ctrl-C and SIGTERM from its creation on.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Starts to listen.
    pub(crate) fn listen() -> Result<Self> {
        let listen =
            |kind| signal(kind).map_err(|error| Error::io("signals cannot be listened for", error));
        Ok(Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal, and returns its exit code.
    pub(crate) async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Terminated,
        }
    }
}
