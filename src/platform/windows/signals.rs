//! The console's events that end a command.

use std::io;

use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlLogoff, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close,
    ctrl_logoff, ctrl_shutdown,
};

use crate::outcome::Exit;

/// The events that end a command: Ctrl-C, Ctrl-Break, the closed console, and the end of the session.
///
/// Windows ends the process some seconds after the last two, whatever it does.
pub(crate) struct EndSignals {
    interrupt: CtrlC,
    ctrl_break: CtrlBreak,
    close: CtrlClose,
    logoff: CtrlLogoff,
    shutdown: CtrlShutdown,
}

impl EndSignals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(EndSignals {
            interrupt: ctrl_c()?,
            ctrl_break: ctrl_break()?,
            close: ctrl_close()?,
            logoff: ctrl_logoff()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    pub(crate) async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.ctrl_break.recv() => Exit::Terminated,
            _ = self.close.recv() => Exit::HungUp,
            _ = self.logoff.recv() => Exit::Terminated,
            _ = self.shutdown.recv() => Exit::Terminated,
        }
    }
}

/// What reaches a question beside its keys.
pub(crate) struct QuestionSignals(CtrlC);

pub(crate) enum QuestionSignal {
    Interrupted,
    /// Windows does not stop and continue processes by keys.
    #[expect(dead_code, reason = "other systems continue processes")]
    Continued,
}

impl QuestionSignals {
    pub(crate) fn listen() -> io::Result<Self> {
        ctrl_c().map(QuestionSignals)
    }

    pub(crate) async fn next(&mut self) -> QuestionSignal {
        self.0.recv().await;
        QuestionSignal::Interrupted
    }
}
