//! The signals that end a command, while the only thread is blocked, by a locked file or a filter.
//!
//! Everywhere else signals are awaited next to the command. Blocking code cannot await, and polls here instead.

use std::sync::{Once, OnceLock, mpsc};

use super::system::signals::EndSignals;
use crate::outcome::Exit;

static BEGUN: Once = Once::new();
static CAUGHT: OnceLock<Exit> = OnceLock::new();

/// Starts a thread that listens for signals. Call it only when something blocks, so that other commands do not pay
/// for it.
pub(crate) fn watch() {
    BEGUN.call_once(|| {
        // Without the thread, blocking code ends at its own time limit.
        let _ = std::thread::Builder::new().spawn(|| listen(None));
    });
}

/// The same, before something that is going to block: returns when the thread listens, so that no signal is missed.
#[cfg(feature = "postgres")]
pub(crate) fn watch_ahead() {
    BEGUN.call_once(|| {
        let (ready, listens) = mpsc::channel();
        if std::thread::Builder::new()
            .spawn(|| listen(Some(ready)))
            .is_ok()
        {
            let _ = listens.recv();
        }
    });
}

/// The exit code of the signal that was received since [`watch`], if any.
pub(crate) fn caught() -> Option<Exit> {
    CAUGHT.get().copied()
}

fn listen(ready: Option<mpsc::Sender<()>>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    let Ok(runtime) = runtime else { return };
    let caught = runtime.block_on(async {
        let mut signals = EndSignals::listen().ok()?;
        drop(ready);
        Some(signals.next().await)
    });
    if let Some(exit) = caught {
        let _ = CAUGHT.set(exit);
    }
}
