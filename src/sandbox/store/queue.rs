//! Group commit: the waiting writes run in one transaction.

use tokio::sync::oneshot;

use super::number::count_on;
use super::tx::{Handle, Tx};
use crate::sandbox::rules::api_error::ApiError;

pub(super) trait Job: Send {
    /// Does the work; returns false if it has to be rolled back. It runs again if another job has to be.
    fn run(&mut self, handle: &Handle) -> bool;

    /// Sends the result to the caller: that of the work, or the error of the transaction.
    fn answer(self: Box<Self>, failure: Option<ApiError>);
}

pub(super) struct PendingWrite<T, F> {
    work: F,
    outcome: Option<Result<T, ApiError>>,
    writer: oneshot::Sender<Result<T, ApiError>>,
}

impl<T, F> PendingWrite<T, F>
where
    T: Send + 'static,
    F: Fn(&Tx<'_>) -> Result<T, ApiError> + Send + 'static,
{
    pub(super) fn job(work: F) -> (Box<dyn Job>, oneshot::Receiver<Result<T, ApiError>>) {
        let (writer, answer) = oneshot::channel();
        let job = Self {
            work,
            outcome: None,
            writer,
        };
        (Box::new(job), answer)
    }
}

impl<T, F> Job for PendingWrite<T, F>
where
    T: Send,
    F: Fn(&Tx<'_>) -> Result<T, ApiError> + Send,
{
    fn run(&mut self, handle: &Handle) -> bool {
        self.outcome = Some(
            Tx::up_to_date(handle)
                .map_err(ApiError::from)
                .and_then(|tx| (self.work)(&tx)),
        );
        !matches!(self.outcome, Some(Err(ApiError::Broken(_))))
    }

    fn answer(self: Box<Self>, failure: Option<ApiError>) {
        if let Some(outcome) = failure.map(Err).or(self.outcome) {
            // The caller may have gone away meanwhile.
            let _ = self.writer.send(outcome);
        }
    }
}

/// Runs the jobs in one transaction, then sends the results. If one of them has to be rolled back, all are, and the
/// others run again without it: that is rare, and a savepoint for each job would let SQLite copy every page once more.
pub(super) fn commit(handle: &Handle, mut jobs: Vec<Box<dyn Job>>) {
    while !jobs.is_empty() {
        let failure = match run_all(handle, &mut jobs) {
            Ok(Some(broken)) => {
                jobs.remove(broken).answer(None);
                continue;
            }
            Ok(None) => None,
            Err(error) => Some(ApiError::from(error)),
        };
        for job in jobs.drain(..) {
            job.answer(failure.clone());
        }
    }
}

/// Commits the jobs, unless one of them has to be rolled back: returns its place.
fn run_all(handle: &Handle, jobs: &mut [Box<dyn Job>]) -> rusqlite::Result<Option<usize>> {
    let connection = &handle.connection;
    // An ephemeral store is a transaction already, which no other process sees.
    let is_shared = connection.is_autocommit();
    let (begin, commit, roll_back) = if is_shared {
        ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
    } else {
        (
            "SAVEPOINT jobs",
            "RELEASE jobs",
            "ROLLBACK TO jobs; RELEASE jobs",
        )
    };
    let run = |sql| connection.prepare_cached(sql)?.execute(()).map(drop);
    run(begin)?;
    handle.is_emptied.set(false);
    let counted = if is_shared {
        count_on(connection)
    } else {
        Ok(())
    };
    let done = counted.and_then(|()| {
        let broken = jobs.iter_mut().position(|job| !job.run(handle));
        if broken.is_none() {
            run(commit)?;
        }
        Ok(broken)
    });
    if !matches!(done, Ok(None)) {
        // Fails where SQLite has rolled back already.
        let _ = connection.execute_batch(roll_back);
    } else if handle.is_emptied.take() {
        // So that neither the file nor its log holds anything of what was deleted. Fails where another process keeps it busy.
        let _ = connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    }
    done
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::sandbox::store::StoreLocation;
    use crate::sandbox::store::open::connect;

    #[test]
    fn a_write_that_breaks_is_rolled_back_and_the_others_are_committed_once() {
        let handle = Handle {
            connection: connect(&StoreLocation::Memory).unwrap(),
            is_emptied: Cell::default(),
        };
        let (jobs, mut answers): (Vec<_>, Vec<_>) = ["one", "broken", "two", "broken", "three"]
            .into_iter()
            .map(|name| {
                PendingWrite::job(move |tx: &Tx<'_>| {
                    tx.sql("INSERT INTO organizations VALUES (hex(randomblob(8)), ?)")?
                        .execute([name])?;
                    match name {
                        "broken" => Err(ApiError::Broken(name.to_owned())),
                        _ => Ok(name),
                    }
                })
            })
            .unzip();
        commit(&handle, jobs);
        let answers = answers.iter_mut().map(|it| it.try_recv().unwrap());
        let broken = Err(ApiError::Broken("broken".to_owned()));
        let expected = [Ok("one"), broken.clone(), Ok("two"), broken, Ok("three")];
        assert_eq!(answers.collect::<Vec<_>>(), expected);
        let rows: String = handle
            .connection
            .query_row(
                "SELECT group_concat(settings) FROM (SELECT settings FROM organizations ORDER BY settings)",
                (),
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(rows, "one,three,two");
    }
}
