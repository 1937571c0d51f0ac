//! The sandbox's state: one SQLite file that several processes share, or memory.
//!
//! One connection, prepared statements and group commit: a write adds a job to the [`queue`], all
//! waiting jobs run in one transaction, and each gets its result after the commit. Reads run at
//! once.

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
pub(crate) use number::{next_number, one_time_code, random, reference};
pub(crate) use open::{OpenError, explain, set_aside};
pub(crate) use tx::Tx;

use super::rules::api_error::ApiError;
use crate::platform::sqlite;
use queue::Job;
use tx::{Clock, Handle};

/// The size in bytes from which the log is checkpointed when the store is dropped. A checkpoint takes two syncs, so
/// that it happens about once in ten bookings.
const LARGE_LOG: u64 = 192 * 1024;

pub(crate) struct Store {
    handle: Mutex<Handle>,
    file: Option<PathBuf>,
    queue: Mutex<Vec<Job>>,
    arrival: Notify,
    /// The clock as last read, for [`Store::recent_now`].
    clock: watch::Sender<Clock>,
    pub(crate) changes: Arc<ChangeFeed>,
}

impl Store {
    pub(crate) fn open(database: Option<&Path>) -> Result<Self, OpenError> {
        let connection = open::connect(database)?;
        Ok(Self {
            handle: Mutex::new(Handle::new(connection)),
            file: database.map(Path::to_owned),
            queue: Mutex::default(),
            arrival: Notify::new(),
            clock: watch::Sender::default(),
            changes: Arc::new(ChangeFeed::new()),
        })
    }

    /// Adds a change for every row that is written from now on. Returns the place of the last one, to wait for the next.
    pub(crate) fn follow(&self) -> rusqlite::Result<watch::Receiver<Tip>> {
        changes::watch_rows(&mut self.lock().connection, &self.changes)?;
        Ok(self.changes.follow())
    }

    pub(crate) fn now(&self) -> rusqlite::Result<Timestamp> {
        let handle = self.lock();
        let tx = Tx::begin(&handle)?;
        self.remember_clock(tx.clock);
        Ok(tx.now)
    }

    /// Reads at once, without the changes that are due.
    pub(crate) fn look<T, E: From<rusqlite::Error>>(
        &self,
        read: impl FnOnce(&Tx<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        read(&Tx::begin(&self.lock())?)
    }

    pub(crate) fn has_faults(&self) -> rusqlite::Result<bool> {
        let handle = self.lock();
        let mut any = handle.connection.prepare_cached("SELECT 1 FROM faults")?;
        any.exists(())
    }

    /// The sandbox's clock as last read, without reading the database.
    pub(crate) fn recent_now(&self) -> Timestamp {
        let clock = *self.clock.borrow();
        Timestamp::from_millisecond(clock.now()).unwrap_or_default()
    }

    /// Tells when the clock was moved, stopped or set. What another process did is told at the next [`Store::now`].
    pub(crate) fn clock_moves(&self) -> watch::Receiver<impl Sized + use<>> {
        self.clock.subscribe()
    }

    /// Runs `work` without a transaction. If a booking is due to change by time alone, this becomes a
    /// [`Store::write`], which applies the change first.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        {
            let handle = self.lock();
            let tx = Tx::begin(&handle)?;
            self.remember_clock(tx.clock);
            if !tx.has_due_bookings()? {
                return work(&tx);
            }
        }
        self.write(work).await
    }

    /// Applies due changes, then runs `work` in a transaction, and returns its result after the commit. An error commits
    /// what was written before it; only [`ApiError::Broken`] rolls back, which other callers of that transaction get too.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
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
        self.waiting().push(Job { work, done });
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
            self.remember_clock(handle.clock.get());
        }
    }

    /// Checkpoints the log if it has so many bytes. If that fails, the next process does it.
    pub(crate) fn fold_in(&self, size: u64) {
        let file = self.file.as_deref();
        if file.is_some_and(|it| sqlite::log_size(it) >= size) {
            let _ = sqlite::fold_in(&self.lock().connection);
        }
    }

    fn remember_clock(&self, clock: Clock) {
        if *self.clock.borrow() != clock {
            self.clock.send_replace(clock);
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
        self.fold_in(LARGE_LOG);
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
