//! The signals that end a command, awaited next to it: Ctrl-C, SIGTERM, SIGHUP and SIGQUIT.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::outcome::{Error, Exit, Result};
use crate::platform::signals::{received, unless_ignored};

/// Listens for the signals from its creation on.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Option<Signal>,
    quit: Option<Signal>,
}

impl Signals {
    /// Starts to listen.
    pub(crate) fn listen() -> Result<Self> {
        let listen =
            |kind| signal(kind).map_err(|error| Error::io("signals cannot be listened for", error));
        Ok(Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: unless_ignored(SignalKind::hangup())
                .map(listen)
                .transpose()?,
            quit: unless_ignored(SignalKind::quit()).map(listen).transpose()?,
        })
    }

    /// Waits for the next signal, and returns its exit code.
    pub(crate) async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Terminated,
            () = received(&mut self.hangup) => Exit::HungUp,
            () = received(&mut self.quit) => Exit::Quit,
        }
    }
}
