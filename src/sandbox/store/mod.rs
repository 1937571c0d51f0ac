//! What the sandbox remembers: one SQLite file that several processes share, or memory.
//!
//! One connection, prepared statements, and group commit: whoever writes hands a job to the
//! [`queue`], all jobs that wait go into one transaction, and none is answered before it is
//! committed. Reads run at once.

mod bookings;
mod deliveries;
mod events;
mod faults;
mod ledger;
mod messages;
mod number;
mod open;
mod organizations;
mod queue;
mod sessions;
mod windows;

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use tokio::sync::Notify;

pub(crate) use deliveries::Errand;
pub(crate) use faults::WaitingFault;
pub(crate) use ledger::Ledger;
pub(crate) use messages::About;
pub(crate) use number::{one_time_code, reference};
pub(crate) use open::{Database, OpenError, explain};

use super::rules::refusal::Refusal;
use crate::platform::sqlite;
use queue::{Job, Pending};

/// The size from which a log is folded into the file at a command's end. What is only in the log is lost with it, and a
/// checkpoint takes two syncs: so it is paid for once in ten bookings or so.
const LARGE_LOG: u64 = 512 * 1024;

/// The sandbox's memory.
pub(crate) struct Store {
    connection: Mutex<Connection>,
    /// Its file, unless it ends with the process.
    file: Option<PathBuf>,
    queue: Mutex<Vec<Box<dyn Job>>>,
    arrival: Notify,
    /// The clock's offset in ms as it was last seen, for what need not be exact.
    offset: AtomicI64,
}

impl Store {
    /// Opens the database, and creates it where there is none.
    pub(crate) fn open(database: &Database) -> Result<Self, OpenError> {
        Ok(Self {
            connection: Mutex::new(open::connect(database)?),
            file: match database {
                Database::File(path) => Some(path.clone()),
                Database::Memory => None,
            },
            queue: Mutex::default(),
            arrival: Notify::new(),
            offset: AtomicI64::new(0),
        })
    }

    /// The sandbox's clock.
    pub(crate) fn now(&self) -> rusqlite::Result<Timestamp> {
        let connection = self.lock();
        let ledger = Ledger::at_present(&connection)?;
        self.see(&ledger);
        Ok(ledger.now)
    }

    /// The sandbox's clock as of the last request, without a look at the database.
    pub(crate) fn recent_now(&self) -> Timestamp {
        let offset = SignedDuration::from_millis(self.offset.load(Ordering::Relaxed));
        Timestamp::now().saturating_add(offset).unwrap_or_default()
    }

    /// Reads. Where something is due by the clock, it happens first.
    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, Refusal>
    where
        T: Send + 'static,
        F: FnOnce(&Ledger<'_>) -> Result<T, Refusal> + Send + 'static,
    {
        {
            let connection = self.lock();
            let ledger = Ledger::at_present(&connection)?;
            self.see(&ledger);
            if !ledger.is_behind() {
                return work(&ledger);
            }
        }
        self.write(work).await
    }

    /// Writes: the work is done in a transaction, after what was due by the clock, and its result
    /// is given out once that is committed. A refusal commits what led to it; only a broken
    /// store takes the work back.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, Refusal>
    where
        T: Send + 'static,
        F: FnOnce(&Ledger<'_>) -> Result<T, Refusal> + Send + 'static,
    {
        let (job, answer) = Pending::job(work);
        self.waiting().push(job);
        self.arrival.notify_one();
        answer
            .await
            .unwrap_or_else(|_| Err(Refusal::Broken("the store has stopped".to_owned())))
    }

    /// Commits what is written, for as long as it is polled.
    pub(crate) async fn commit_writes(&self) {
        loop {
            self.arrival.notified().await;
            // Whatever else is ready to write joins the same transaction.
            tokio::task::yield_now().await;
            let jobs = std::mem::take(&mut *self.waiting());
            queue::commit(&self.lock(), jobs);
        }
    }

    /// Moves what is in the log into the file itself. What does not succeed now the next process does.
    pub(crate) fn fold_in(&self) {
        self.fold_in_from(1);
    }

    fn fold_in_from(&self, size: u64) {
        if self
            .file
            .as_deref()
            .is_some_and(|file| sqlite::log_size(file) >= size)
        {
            let _ = sqlite::fold_in(&self.lock());
        }
    }

    fn see(&self, ledger: &Ledger<'_>) {
        self.offset.store(ledger.offset_ms, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Box<dyn Job>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.fold_in_from(LARGE_LOG);
    }
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        Self::Broken(format!("the sandbox's database: {error}"))
    }
}
