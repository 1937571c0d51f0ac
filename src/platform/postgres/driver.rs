//! The thread that drives a connection to PostgreSQL. Code that blocks waits for it: every wait has a limit, is said to the
//! person, and ends with a signal.

use std::future::Future;
use std::sync::mpsc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::failure::Failure;
use crate::platform::lock_wait::{LockWait, LockWaitSettings};
use crate::platform::signals;
use crate::platform::sql::{Answer, Trouble};

/// How long one wait for an answer takes before it is watched for signals and its limit.
const UNWATCHED: Duration = Duration::from_millis(20);

pub(super) struct Driver {
    handle: Handle,
    /// Ends the thread when it is dropped.
    _stop: oneshot::Sender<()>,
    whom: String,
    /// Whether answers are waited for as long as it takes.
    is_patient: bool,
}

impl Driver {
    pub(super) fn start(whom: String) -> std::io::Result<Self> {
        signals::watch_ahead();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let run = move || {
            let _ = runtime.block_on(stopped);
            runtime.shutdown_background();
        };
        std::thread::Builder::new()
            .name("postgres".to_owned())
            .spawn(run)?;
        Ok(Driver {
            handle,
            _stop: stop,
            whom,
            is_patient: false,
        })
    }

    /// The same, which waits for answers as long as it takes.
    pub(super) fn patient(self) -> Self {
        Driver {
            is_patient: true,
            ..self
        }
    }

    pub(super) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.handle.spawn(work)
    }

    /// A wait that has just begun.
    pub(super) fn patience(&self) -> LockWait {
        LockWait::for_answer(&self.whom)
    }

    pub(super) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Answer<T> {
        let (sender, receiver) = mpsc::channel();
        let task = self.handle.spawn(async move {
            let _ = sender.send(work.await);
        });
        let mut wait = None;
        loop {
            match receiver.recv_timeout(UNWATCHED) {
                Ok(outcome) => return outcome.map_err(Trouble::Postgres),
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    let reason = "its thread has ended".to_owned();
                    return Err(Trouble::Postgres(Failure::Lost(reason)));
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            let wait = wait.get_or_insert_with(|| {
                if self.is_patient {
                    self.patience().without_limit()
                } else {
                    self.patience()
                }
            });
            if !wait.pause() {
                task.abort();
                let seconds = LockWaitSettings::limit().as_secs();
                return Err(Trouble::Postgres(Failure::Late(seconds)));
            }
        }
    }
}
