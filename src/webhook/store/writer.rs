//! Group commit: one thread commits the writes of many tasks in one transaction.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

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
    /// Events whose sender was told that they were received, which the next transaction notes. A transaction of its own
    /// would cost each delivery another sync.
    answered: Arc<Mutex<Vec<i64>>>,
}

impl Store {
    /// Moves the database to a thread of its own.
    ///
    /// # Errors
    /// `webhooks` if the thread cannot be started.
    pub(crate) fn new(webhooks: Webhooks) -> Result<Self> {
        let (jobs, waiting) = mpsc::channel();
        let origin = webhooks.origin.as_str().into();
        let answered = Arc::<Mutex<Vec<i64>>>::default();
        std::thread::Builder::new()
            .name("webhooks".to_owned())
            .spawn({
                let answered = answered.clone();
                move || write(webhooks.connection, &waiting, &answered)
            })
            .map_err(|error| Error::caused(Code::Webhooks, "cannot store deliveries", error))?;
        Ok(Store {
            jobs,
            origin,
            answered,
        })
    }

    /// Takes note that the sender of an event was told that it was received.
    pub(crate) fn note_answered(&self, number: i64) {
        lock(&self.answered).push(number);
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

fn lock(answered: &Mutex<Vec<i64>>) -> std::sync::MutexGuard<'_, Vec<i64>> {
    answered.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Commits jobs until the last [`Store`] is dropped. Jobs that arrive during a commit form the next transaction.
fn write(
    mut connection: Connection,
    waiting: &mpsc::Receiver<Box<dyn Job>>,
    answered: &Mutex<Vec<i64>>,
) {
    while let Ok(first) = waiting.recv() {
        let others = waiting.try_iter().take(BATCH - 1);
        let mut jobs: Vec<Box<dyn Job>> = std::iter::once(first).chain(others).collect();
        let told = std::mem::take(&mut *lock(answered));
        let committed = commit(&mut connection, &told, &mut jobs)
            .map_err(|error| StoreError(in_words(&error)));
        if committed.is_err() {
            lock(answered).extend(told);
        }
        for job in jobs {
            job.answer(committed.clone());
        }
    }
}

fn in_words(error: &rusqlite::Error) -> String {
    format!("the webhook file {}", Failure::from(error))
}

fn commit(
    connection: &mut Connection,
    answered: &[i64],
    jobs: &mut [Box<dyn Job>],
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for number in answered {
        transaction
            .prepare_cached("UPDATE events SET answered = 1 WHERE number = ?")?
            .execute([number])?;
    }
    for job in jobs {
        job.run(&transaction)?;
    }
    transaction.commit()
}
