//! Ctrl-C and SIGTERM while the one thread is blocked: by a file that another process holds, by a filter.
//!
//! Elsewhere signals are awaited beside the command. What blocks cannot await, and asks here instead.

use std::sync::{Once, OnceLock};

use tokio::signal::unix::{SignalKind, signal};

use crate::outcome::Exit;

static BEGUN: Once = Once::new();
static CAUGHT: OnceLock<Exit> = OnceLock::new();

/// Listens on a thread of its own from now on; it costs nothing before something really blocks.
pub(crate) fn watch() {
    BEGUN.call_once(|| {
        // Where no thread can be had, what blocks ends at its own bound.
        let _ = std::thread::Builder::new().spawn(listen);
    });
}

/// The signal that came since [`watch`], as the exit code that it stands for.
pub(crate) fn caught() -> Option<Exit> {
    CAUGHT.get().copied()
}

fn listen() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    let Ok(runtime) = runtime else { return };
    let caught = runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt()).ok()?;
        let mut terminate = signal(SignalKind::terminate()).ok()?;
        Some(tokio::select! {
            _ = interrupt.recv() => Exit::Interrupted,
            _ = terminate.recv() => Exit::Terminated,
        })
    });
    if let Some(exit) = caught {
        let _ = CAUGHT.set(exit);
    }
}
