//! Group commit: many writers, one transaction.

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::ledger::Ledger;
use super::number::count_on;
use crate::sandbox::rules::refusal::Refusal;

/// A write that waits for its transaction.
pub(super) trait Job: Send {
    /// Does the work; false if it has to be taken back.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Tells the writer what came of it: its own result, unless the transaction failed.
    fn answer(self: Box<Self>, committed: &rusqlite::Result<()>);
}

/// Work, then its outcome, and who waits for it.
pub(super) struct Pending<T, F> {
    work: Option<F>,
    outcome: Option<Result<T, Refusal>>,
    writer: oneshot::Sender<Result<T, Refusal>>,
}

impl<T, F> Pending<T, F>
where
    T: Send + 'static,
    F: FnOnce(&Ledger<'_>) -> Result<T, Refusal> + Send + 'static,
{
    /// The job that does the work, and where its outcome will be told.
    pub(super) fn job(work: F) -> (Box<dyn Job>, oneshot::Receiver<Result<T, Refusal>>) {
        let (writer, answer) = oneshot::channel();
        let job = Self {
            work: Some(work),
            outcome: None,
            writer,
        };
        (Box::new(job), answer)
    }
}

impl<T, F> Job for Pending<T, F>
where
    T: Send,
    F: FnOnce(&Ledger<'_>) -> Result<T, Refusal> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        if let Some(work) = self.work.take() {
            self.outcome = Some(up_to_date(connection).and_then(|ledger| work(&ledger)));
        }
        !matches!(self.outcome, Some(Err(Refusal::Broken(_))))
    }

    fn answer(self: Box<Self>, committed: &rusqlite::Result<()>) {
        let outcome = match committed {
            Ok(()) => self.outcome,
            Err(error) => Some(Err(Refusal::Broken(format!(
                "the sandbox's database: {error}"
            )))),
        };
        if let Some(outcome) = outcome {
            // A writer that went away meanwhile does not want to know.
            let _ = self.writer.send(outcome);
        }
    }
}

/// The ledger with everything done that was due by its clock.
fn up_to_date(connection: &Connection) -> Result<Ledger<'_>, Refusal> {
    let ledger = Ledger::at_present(connection)?;
    if ledger.is_behind() {
        ledger.catch_up()?;
    }
    Ok(ledger)
}

/// Runs the jobs in one transaction, each in a savepoint of its own, so that one that breaks does
/// not take the others along; then answers them.
pub(super) fn commit(connection: &Connection, mut jobs: Vec<Box<dyn Job>>) {
    let committed = run_all(connection, &mut jobs);
    if committed.is_err() && !connection.is_autocommit() {
        // The error that is told is the first; if this fails too, the next BEGIN will say so.
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
