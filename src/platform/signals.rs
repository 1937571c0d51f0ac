//! The signals that end a command, while the only thread is blocked, by a locked file or a filter.
//!
//! Everywhere else signals are awaited next to the command. Blocking code cannot await, and polls here instead.

use std::sync::{Once, OnceLock};

use super::system::signals::EndSignals;
use crate::outcome::Exit;

static BEGUN: Once = Once::new();
static CAUGHT: OnceLock<Exit> = OnceLock::new();

/// Starts a thread that listens for signals. Call it only when something blocks, so that other commands do not pay
/// for it.
pub(crate) fn watch() {
    BEGUN.call_once(|| {
        // Without the thread, blocking code ends at its own time limit.
        let _ = std::thread::Builder::new().spawn(listen);
    });
}

/// The exit code of the signal that was received since [`watch`], if any.
pub(crate) fn caught() -> Option<Exit> {
    CAUGHT.get().copied()
}

fn listen() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    let Ok(runtime) = runtime else { return };
    let caught = runtime.block_on(async { Some(EndSignals::listen().ok()?.next().await) });
    if let Some(exit) = caught {
        let _ = CAUGHT.set(exit);
    }
}
