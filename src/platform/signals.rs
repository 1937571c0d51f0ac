//! The signals that end a command, while the only thread is blocked, by a locked file or a filter.
//!
//! Everywhere else signals are awaited next to the command. Blocking code cannot await, and polls here instead.

use std::sync::{Once, OnceLock, mpsc};

use tokio::signal::unix::{Signal, SignalKind, signal};

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
        let mut interrupt = signal(SignalKind::interrupt()).ok()?;
        let mut terminate = signal(SignalKind::terminate()).ok()?;
        let listen = |kind| unless_ignored(kind).and_then(|kind| signal(kind).ok());
        let mut hangup = listen(SignalKind::hangup());
        let mut quit = listen(SignalKind::quit());
        drop(ready);
        Some(tokio::select! {
            _ = interrupt.recv() => Exit::Interrupted,
            _ = terminate.recv() => Exit::Terminated,
            () = received(&mut hangup) => Exit::HungUp,
            () = received(&mut quit) => Exit::Quit,
        })
    });
    if let Some(exit) = caught {
        let _ = CAUGHT.set(exit);
    }
}

/// Waits for a signal; forever if there is none to wait for.
pub(crate) async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// The signal, unless the process was started with it ignored, as `nohup` does: it then must not end the command.
pub(crate) fn unless_ignored(kind: SignalKind) -> Option<SignalKind> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let bit = 1 << (kind.as_raw_value() - 1);
    (ignored.unwrap_or_default() & bit == 0).then_some(kind)
}
