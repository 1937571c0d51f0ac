//! Group commit: the waiting writes run in one transaction.

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::number::count_on;
use super::tx::Tx;
use crate::sandbox::rules::api_error::ApiError;

/// A write that waits for its transaction.
pub(super) trait Job: Send {
    /// Does the work; returns false if it has to be rolled back.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Sends the result to the caller: that of the work, or the error of the transaction.
    fn answer(self: Box<Self>, committed: &rusqlite::Result<()>);
}

/// The work, its outcome once it ran, and the caller that waits for it.
pub(super) struct PendingWrite<T, F> {
    work: Option<F>,
    outcome: Option<Result<T, ApiError>>,
    writer: oneshot::Sender<Result<T, ApiError>>,
}

impl<T, F> PendingWrite<T, F>
where
    T: Send + 'static,
    F: FnOnce(&Tx<'_>) -> Result<T, ApiError> + Send + 'static,
{
    /// The job for `work`, and the receiver of its result.
    pub(super) fn job(work: F) -> (Box<dyn Job>, oneshot::Receiver<Result<T, ApiError>>) {
        let (writer, answer) = oneshot::channel();
        let job = Self {
            work: Some(work),
            outcome: None,
            writer,
        };
        (Box::new(job), answer)
    }
}

impl<T, F> Job for PendingWrite<T, F>
where
    T: Send,
    F: FnOnce(&Tx<'_>) -> Result<T, ApiError> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        if let Some(work) = self.work.take() {
            self.outcome = Some(up_to_date(connection).and_then(|tx| work(&tx)));
        }
        !matches!(self.outcome, Some(Err(ApiError::Broken(_))))
    }

    fn answer(self: Box<Self>, committed: &rusqlite::Result<()>) {
        let outcome = match committed {
            Ok(()) => self.outcome,
            Err(error) => Some(Err(ApiError::Broken(format!(
                "the sandbox's database: {error}"
            )))),
        };
        if let Some(outcome) = outcome {
            // The caller may have gone away meanwhile.
            let _ = self.writer.send(outcome);
        }
    }
}

/// The transaction, after the changes that were due by its clock.
fn up_to_date(connection: &Connection) -> Result<Tx<'_>, ApiError> {
    let tx = Tx::begin(connection)?;
    if tx.has_due_bookings() {
        tx.apply_due_bookings()?;
    }
    Ok(tx)
}

/// Runs the jobs in one transaction, each in its own savepoint, so that one can be rolled back alone;
/// then sends the results.
pub(super) fn commit(connection: &Connection, mut jobs: Vec<Box<dyn Job>>) {
    let committed = run_all(connection, &mut jobs);
    if committed.is_err() && !connection.is_autocommit() {
        // If this fails too, the next BEGIN reports it.
        let _ = connection.execute_batch("ROLLBACK");
    }
    for job in jobs {
        job.answer(&committed);
    }
}

fn run_all(connection: &Connection, jobs: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    let execute = |sql| connection.prepare_cached(sql)?.execute(()).map(|_| ());
    execute("BEGIN IMMEDIATE")?;
    count_on(connection)?;
    for job in jobs {
        execute("SAVEPOINT job")?;
        if !job.run(connection) {
            execute("ROLLBACK TO job")?;
        }
        execute("RELEASE job")?;
    }
    execute("COMMIT")
}
