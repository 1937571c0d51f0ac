//! The signals that end a command, and the one that continues it.

use std::io;

use signal_hook::consts::SIGCONT;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::outcome::Exit;

/// The signals that end a command: SIGINT, SIGTERM, SIGHUP and SIGQUIT.
pub(crate) struct EndSignals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Option<Signal>,
    quit: Option<Signal>,
}

impl EndSignals {
    pub(crate) fn listen() -> io::Result<Self> {
        let unless_ignored = |kind| unless_ignored(kind).map(signal).transpose();
        Ok(EndSignals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: unless_ignored(SignalKind::hangup())?,
            quit: unless_ignored(SignalKind::quit())?,
        })
    }

    pub(crate) async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Terminated,
            () = received(&mut self.hangup) => Exit::HungUp,
            () = received(&mut self.quit) => Exit::Quit,
        }
    }
}

/// Waits for a signal; forever if there is none to wait for.
async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// The signal, unless the process was started with it ignored, as `nohup` does: it then must not end the command.
fn unless_ignored(kind: SignalKind) -> Option<SignalKind> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let bit = 1 << (kind.as_raw_value() - 1);
    (ignored.unwrap_or_default() & bit == 0).then_some(kind)
}

/// What reaches a question beside its keys.
pub(crate) struct QuestionSignals {
    interrupt: Signal,
    /// A handler for the signal that stops a process could not be removed again; this one changes nothing elsewhere.
    continued: Signal,
}

pub(crate) enum QuestionSignal {
    Interrupted,
    /// The process was stopped, and continues.
    Continued,
}

impl QuestionSignals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(QuestionSignals {
            interrupt: signal(SignalKind::interrupt())?,
            continued: signal(SignalKind::from_raw(SIGCONT))?,
        })
    }

    pub(crate) async fn next(&mut self) -> QuestionSignal {
        tokio::select! {
            _ = self.interrupt.recv() => QuestionSignal::Interrupted,
            _ = self.continued.recv() => QuestionSignal::Continued,
        }
    }
}
