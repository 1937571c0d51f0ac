//! Group commit: many writers, one transaction.

use std::fmt;
use std::sync::{Arc, mpsc};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::Webhooks;
use crate::outcome::{Error, Result, reason};
use crate::platform::sqlite::Failure;

/// The most that is committed at once.
const BATCH: usize = 1024;

/// Why nothing was written: in words.
#[derive(Clone, Debug)]
pub(crate) struct StoreError(String);

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A write that waits for its transaction.
trait Job: Send {
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()>;

    /// Tells the writer what came of it, once the transaction has ended.
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
        // A writer that went away meanwhile does not want to know.
        let _ = writer.send(committed.and_then(|()| outcome.ok_or_else(gone)));
    }
}

fn gone() -> StoreError {
    StoreError("the deliveries' file is closed".to_owned())
}

/// The writing side of the file; clones share the one thread that writes, which ends with the last of them.
#[derive(Clone)]
pub(crate) struct Store {
    jobs: mpsc::Sender<Box<dyn Job>>,
    pub(super) origin: Arc<str>,
}

impl Store {
    /// Hands the file over to a thread of its own.
    pub(crate) fn new(webhooks: Webhooks) -> Result<Self> {
        let (jobs, waiting) = mpsc::channel();
        let origin = webhooks.origin.as_str().into();
        std::thread::Builder::new()
            .name("webhooks".to_owned())
            .spawn(move || write(webhooks.connection, &waiting))
            .map_err(|error| {
                Error::webhooks(format!(
                    "deliveries cannot be written down: {}",
                    reason(&error)
                ))
            })?;
        Ok(Store { jobs, origin })
    }

    /// Runs `work` in a transaction that is on the disk when this returns.
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

/// While one transaction is committed, the next one's jobs gather.
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
    format!("the deliveries' file {}", Failure::from(error))
}

fn commit(connection: &mut Connection, jobs: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for job in jobs {
        job.run(&transaction)?;
    }
    transaction.commit()
}
