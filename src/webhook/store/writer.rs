//! Group commit: one thread commits the writes of many tasks in one transaction.

use std::fmt;
use std::sync::{Arc, mpsc};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::Webhooks;
use crate::outcome::{Code, Error, Result};
use crate::platform::sqlite::Failure;

/// The largest number of writes in one transaction.
const BATCH: usize = 1024;

/// Why a write failed, as a sentence about the database.
#[derive(Clone, Debug)]
pub(crate) struct StoreError(String);

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Error::webhooks(error.0)
            .hint("free some disk space or make it writable, or set BOOKCTL_HOME to another folder")
    }
}

/// A write that waits for a transaction.
trait Job: Send {
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()>;

    /// Sends the result to the task that waits for it, once the transaction has ended.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

struct Pending<T, F> {
    work: Option<F>,
    outcome: Option<T>,
    writer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for Pending<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> rusqlite::Result<T> + Send,
{
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if let Some(work) = self.work.take() {
            self.outcome = Some(work(connection)?);
        }
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Pending {
            outcome, writer, ..
        } = *self;
        // The task may have been cancelled.
        let _ = writer.send(committed.and_then(|()| outcome.ok_or_else(gone)));
    }
}

fn gone() -> StoreError {
    StoreError("the webhook file is closed".to_owned())
}

/// A handle to the writing thread, which ends when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Store {
    jobs: mpsc::Sender<Box<dyn Job>>,
    pub(super) origin: Arc<str>,
}

impl Store {
    /// Moves the database to a thread of its own.
    ///
    /// # Errors
    /// `webhooks` if the thread cannot be started.
    pub(crate) fn new(webhooks: Webhooks) -> Result<Self> {
        let (jobs, waiting) = mpsc::channel();
        let origin = webhooks.origin.as_str().into();
        std::thread::Builder::new()
            .name("webhooks".to_owned())
            .spawn(move || write(webhooks.connection, &waiting))
            .map_err(|error| Error::caused(Code::Webhooks, "cannot store deliveries", error))?;
        Ok(Store { jobs, origin })
    }

    /// Runs `work` in a transaction. It is on the disk when this returns.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (writer, outcome) = oneshot::channel();
        let job = Pending {
            work: Some(work),
            outcome: None,
            writer,
        };
        self.jobs.send(Box::new(job)).map_err(|_| gone())?;
        outcome.await.unwrap_or_else(|_| Err(gone()))
    }
}

/// Commits jobs until the last [`Store`] is dropped. Jobs that arrive during a commit form the next transaction.
fn write(mut connection: Connection, waiting: &mpsc::Receiver<Box<dyn Job>>) {
    while let Ok(first) = waiting.recv() {
        let others = waiting.try_iter().take(BATCH - 1);
        let mut jobs: Vec<Box<dyn Job>> = std::iter::once(first).chain(others).collect();
        let committed =
            commit(&mut connection, &mut jobs).map_err(|error| StoreError(in_words(&error)));
        for job in jobs {
            job.answer(committed.clone());
        }
    }
}

fn in_words(error: &rusqlite::Error) -> String {
    format!("the webhook file {}", Failure::from(error))
}

fn commit(connection: &mut Connection, jobs: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for job in jobs {
        job.run(&transaction)?;
    }
    transaction.commit()
}
