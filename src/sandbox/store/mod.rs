//! The sandbox's state: one SQLite file that several processes share, or memory.
//!
//! One connection, prepared statements and group commit: a write adds a job to the [`queue`], one
//! transaction runs all waiting jobs, and each gets its result after the commit.

mod bookings;
mod changes;
mod deliveries;
mod faults;
mod number;
mod open;
mod organizations;
mod queue;
mod sessions;
mod tx;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::{Notify, oneshot, watch};

pub(crate) use changes::{ChangeFeed, ChangeTopic, ChangedRow, Tip};
pub(crate) use deliveries::{PendingDelivery, SentDelivery};
pub(crate) use number::{next_number, one_time_code, random};
pub(crate) use open::{set_aside, unusable};
pub(crate) use tx::Tx;

use super::rules::api_error::ApiError;
use crate::platform::sql::SqlResult;
use crate::platform::sqlite;
use queue::Job;
use tx::Handle;

/// The size in bytes from which the log is checkpointed when the store is dropped. A checkpoint
/// takes two syncs, so that it happens about once in ten bookings.
const LARGE_LOG: u64 = 192 * 1024;

pub(crate) struct Store {
    handle: Mutex<Handle>,
    file: Option<PathBuf>,
    queue: Mutex<Vec<Job>>,
    arrival: Notify,
    /// How often this process has moved, stopped or set a clock.
    pub(crate) moves: watch::Sender<u64>,
    pub(crate) changes: Arc<ChangeFeed>,
}

impl Store {
    pub(crate) fn open(database: Option<&Path>) -> SqlResult<Self> {
        let connection = open::connect(database)?;
        Ok(Self {
            handle: Mutex::new(Handle::new(connection)),
            file: database.map(Path::to_owned),
            queue: Mutex::default(),
            arrival: Notify::new(),
            moves: watch::Sender::default(),
            changes: Arc::new(ChangeFeed::new()),
        })
    }

    /// Adds a change for every row that is written from now on, before its commit. Returns the place
    /// of the last one, to wait for the next.
    pub(crate) fn follow(&self) -> rusqlite::Result<watch::Receiver<Tip>> {
        let changes = Arc::clone(&self.changes);
        self.lock().connection.update_hook(Some(move |_, _: &str, table: &str, row| {
            if let Some(topic) = ChangeTopic::of_table(table) {
                changes.add(topic, row);
            }
        }))?;
        Ok(self.changes.follow())
    }

    /// The time by the clock of an organization, or of the main one.
    pub(crate) fn now(&self, owner: Option<&str>) -> rusqlite::Result<Timestamp> {
        Ok(Tx::begin(&self.lock(), owner)?.now)
    }

    /// Reads at once, without the changes that are due.
    pub(crate) fn look<T, E: From<rusqlite::Error>>(
        &self,
        read: impl FnOnce(&Tx<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let handle = self.lock();
        let _moment = handle.hold_still()?;
        read(&Tx::begin(&handle, None)?)
    }

    /// Runs `work`, which only reads, at an organization's time, or about all. If a booking is due
    /// to change by time, this becomes a [`Store::write`], which changes it first; so it does where
    /// there are faults, since meeting one is written.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        owner: Option<String>,
        work: impl FnOnce(&Tx<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        {
            let handle = self.lock();
            let _moment = handle.hold_still()?;
            let tx = Tx::begin(&handle, owner.as_deref())?;
            if !tx.has_faults && !tx.has_due_bookings()? {
                return work(&tx);
            }
        }
        self.write(owner, work).await
    }

    /// Applies due changes, then runs `work` in a transaction, and returns its result after the
    /// commit. An error commits what was written before it; only [`ApiError::Broken`] rolls back,
    /// which other callers of that transaction get too.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        owner: Option<String>,
        work: impl FnOnce(&Tx<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (sender, mut outcome) = oneshot::channel();
        let (done, committed) = oneshot::channel();
        let work = Box::new(move |tx: &Tx<'_>| match work(tx) {
            Err(broken @ ApiError::Broken(_)) => Err(broken),
            outcome => {
                let _ = sender.send(outcome);
                Ok(())
            }
        });
        self.waiting().push(Job { owner, work, done });
        self.arrival.notify_one();
        committed.await.map_err(stopped)??;
        outcome.try_recv().map_err(stopped)?
    }

    /// Runs the queued writes, for as long as it is polled.
    pub(crate) async fn commit_writes(&self) {
        loop {
            self.arrival.notified().await;
            // Lets other ready tasks add their writes to the same transaction.
            tokio::task::yield_now().await;
            let jobs = std::mem::take(&mut *self.waiting());
            let handle = self.lock();
            queue::commit(&handle, jobs);
            let moves = handle.moves.get();
            self.moves.send_if_modified(|it| std::mem::replace(it, moves) != moves);
        }
    }

    /// Checkpoints the log if it has so many bytes. If that fails, the next process does it.
    pub(crate) fn checkpoint(&self, size: u64) {
        if self.file.as_deref().is_some_and(|it| sqlite::log_size(it) >= size) {
            let _ = sqlite::checkpoint(&self.lock().connection);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Handle> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Job>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.checkpoint(LARGE_LOG);
    }
}

fn stopped<E>(_: E) -> ApiError {
    ApiError::Broken("the store has stopped".to_owned())
}

impl From<rusqlite::Error> for ApiError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Broken(format!("the sandbox's database: {error}"))
    }
}
