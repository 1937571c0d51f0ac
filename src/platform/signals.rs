//! The signals that end a command, and the one that continues it. They are awaited next to the
//! command; blocking code, at a locked file or a filter, polls [`caught`] instead.

use std::future::poll_fn;
use std::io;
use std::sync::Once;
#[cfg(unix)]
use std::sync::atomic::{AtomicUsize, Ordering};
#[cfg(unix)]
use std::sync::{Arc, LazyLock};
#[cfg(windows)]
use std::sync::{OnceLock, mpsc};
use std::task::{Context, Poll};

#[cfg(unix)]
use tokio::signal::unix::SignalKind;

use crate::outcome::Exit;

static BEGUN: Once = Once::new();
/// The number of the last signal, or 0.
#[cfg(unix)]
static CAUGHT: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);
#[cfg(windows)]
static CAUGHT: OnceLock<Exit> = OnceLock::new();

#[cfg(unix)]
const KINDS: [(Exit, fn() -> SignalKind); 4] = [
    (Exit::Interrupted, SignalKind::interrupt),
    (Exit::Terminated, SignalKind::terminate),
    (Exit::HungUp, SignalKind::hangup),
    (Exit::Quit, SignalKind::quit),
];

/// Waits for one signal. It has come when the function is ready.
type SignalListener = Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<()>> + Send>;

/// The signals that end a command: SIGINT, SIGTERM, SIGHUP and SIGQUIT; on Windows Ctrl-C,
/// Ctrl-Break and the closed console.
pub(crate) struct EndSignals {
    listeners: Vec<(Exit, SignalListener)>,
    /// One that was caught before: a blocked write may have come first.
    earlier: Option<Exit>,
}

impl EndSignals {
    #[cfg(unix)]
    pub(crate) fn listen() -> io::Result<Self> {
        watch();
        let listeners = heard().into_iter().map(|(exit, kind)| Ok((exit, listener(kind)?)));
        Ok(EndSignals { listeners: listeners.collect::<io::Result<_>>()?, earlier: caught() })
    }

    #[cfg(windows)]
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close};

        let (mut interrupt, mut ctrl_break, mut close) = (ctrl_c()?, ctrl_break()?, ctrl_close()?);
        let listeners: [SignalListener; 3] = [
            Box::new(move |context| interrupt.poll_recv(context)),
            Box::new(move |context| ctrl_break.poll_recv(context)),
            Box::new(move |context| close.poll_recv(context)),
        ];
        let exits = [Exit::Interrupted, Exit::Terminated, Exit::HungUp];
        Ok(EndSignals { listeners: exits.into_iter().zip(listeners).collect(), earlier: caught() })
    }

    pub(crate) async fn next(&mut self) -> Exit {
        if let Some(exit) = self.earlier.take() {
            return exit;
        }
        poll_fn(|context| {
            for (exit, listener) in &mut self.listeners {
                if listener(context).is_ready() {
                    return Poll::Ready(*exit);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Notices that the process was stopped and continues. Windows stops no process by keys.
pub(crate) struct Continued(SignalListener);

impl Continued {
    pub(crate) fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        let listener = listener(SignalKind::from_raw(signal_hook::consts::SIGCONT))?;
        #[cfg(windows)]
        let listener: SignalListener = Box::new(|_| Poll::Pending);
        Ok(Continued(listener))
    }

    pub(crate) async fn next(&mut self) {
        poll_fn(|context| (self.0)(context)).await;
    }
}

/// The signals that end a command, but for those that it was started to ignore.
#[cfg(unix)]
fn heard() -> Vec<(Exit, SignalKind)> {
    let ignored = ignored();
    let kinds = KINDS.into_iter().map(|(exit, kind)| (exit, kind()));
    let is_ignored = |kind: SignalKind| ignored & (1 << (kind.as_raw_value() - 1)) != 0;
    kinds.filter(|(exit, kind)| *exit == Exit::Terminated || !is_ignored(*kind)).collect()
}

#[cfg(unix)]
fn listener(kind: SignalKind) -> io::Result<SignalListener> {
    let mut signal = tokio::signal::unix::signal(kind)?;
    Ok(Box::new(move |context| signal.poll_recv(context)))
}

/// A bit for each signal that the process was started to ignore, as `nohup` does. A shell's job in
/// the background has SIGINT ignored: Ctrl-C is not meant for it.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// Remembers signals from now on, for what blocks and polls [`caught`].
#[cfg(unix)]
pub(crate) fn watch() {
    BEGUN.call_once(|| {
        for (_, kind) in heard() {
            let number = kind.as_raw_value();
            let caught = Arc::clone(&CAUGHT);
            // Without it, blocking code ends at its own time limit.
            let _ =
                signal_hook::flag::register_usize(number, caught, number.unsigned_abs() as usize);
        }
    });
}

/// The exit code of the last signal that was received since [`watch`], if any.
#[cfg(unix)]
pub(crate) fn caught() -> Option<Exit> {
    let number = CAUGHT.load(Ordering::Relaxed);
    let is_it = |kind: SignalKind| kind.as_raw_value().unsigned_abs() as usize == number;
    KINDS.into_iter().find(|(_, kind)| is_it(kind())).map(|(exit, _)| exit)
}

/// Starts a thread that listens for signals, and returns when it does, for what blocks.
#[cfg(windows)]
pub(crate) fn watch() {
    BEGUN.call_once(|| {
        let (ready, listens) = mpsc::channel();
        // Without the thread, blocking code ends at its own time limit.
        if std::thread::Builder::new().spawn(|| catch(ready)).is_ok() {
            // An error says that nothing listens.
            let _ = listens.recv();
        }
    });
}

/// The exit code of the signal that was received since [`watch`], if any.
#[cfg(windows)]
pub(crate) fn caught() -> Option<Exit> {
    CAUGHT.get().copied()
}

#[cfg(windows)]
fn catch(ready: mpsc::Sender<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
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
