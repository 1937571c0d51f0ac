//! Group commit: the waiting writes run in one transaction.

use tokio::sync::oneshot;

use super::handle::Handle;
use super::tx::Tx;
use crate::sandbox::rules::api_error::ApiError;

/// A write that waits for its transaction.
pub(super) trait Job: Send {
    /// Does the work; returns false if it has to be rolled back. It runs again if another job has to be.
    fn run(&mut self, handle: &Handle) -> bool;

    /// Sends the result to the caller: that of the work, or the error of the transaction.
    fn answer(self: Box<Self>, committed: &rusqlite::Result<()>);
}

/// The work, its last outcome, and the caller that waits for it.
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
    /// The job for `work`, and the receiver of its result.
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
        self.outcome = Some(up_to_date(handle).and_then(|tx| (self.work)(&tx)));
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
fn up_to_date(handle: &Handle) -> Result<Tx<'_>, ApiError> {
    let tx = Tx::begin(handle)?;
    if tx.has_due_bookings()? {
        tx.apply_due_bookings()?;
    }
    Ok(tx)
}

/// Runs the jobs in one transaction, then sends the results. If one of them has to be rolled back, all are, and the
/// others run again without it: that is rare, and a savepoint for each job would let SQLite copy every page once more.
pub(super) fn commit(handle: &Handle, mut jobs: Vec<Box<dyn Job>>) {
    while !jobs.is_empty() {
        let committed = run_all(handle, &mut jobs);
        if !matches!(committed, Ok(None)) {
            handle.roll_back();
        }
        match committed {
            Ok(Some(broken)) => jobs.remove(broken).answer(&Ok(())),
            Ok(None) => return answer_all(jobs, &Ok(())),
            Err(error) => return answer_all(jobs, &Err(error)),
        }
    }
}

/// Commits the jobs, unless one of them has to be rolled back: returns its place.
fn run_all(handle: &Handle, jobs: &mut [Box<dyn Job>]) -> rusqlite::Result<Option<usize>> {
    handle.begin()?;
    if let Some(broken) = jobs.iter_mut().position(|job| !job.run(handle)) {
        return Ok(Some(broken));
    }
    handle.commit()?;
    Ok(None)
}

fn answer_all(jobs: Vec<Box<dyn Job>>, committed: &rusqlite::Result<()>) {
    for job in jobs {
        job.answer(committed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::store::Database;
    use crate::sandbox::store::open::connect;

    #[test]
    fn a_write_that_breaks_is_rolled_back_and_the_others_are_committed_once() {
        let handle = Handle::new(connect(&Database::Memory).unwrap(), false);
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
        let answers: Vec<_> = answers
            .iter_mut()
            .map(|it| it.try_recv().unwrap())
            .collect();
        let broken = Err(ApiError::Broken("broken".to_owned()));
        let expected = [Ok("one"), broken.clone(), Ok("two"), broken, Ok("three")];
        assert_eq!(answers, expected);
        let mut rows = handle
            .connection
            .prepare("SELECT settings FROM organizations ORDER BY settings")
            .unwrap();
        let rows: Vec<String> = rows
            .query_map((), |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows, ["one", "three", "two"]);
    }

    #[test]
    fn a_sandbox_whose_temporary_file_is_full_never_shows_less_than_it_had() {
        let handle = Handle::new(connect(&Database::Memory).unwrap(), false);
        let limit = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        handle
            .connection
            .query_row("PRAGMA max_page_count = 64", (), limit)
            .unwrap();
        let fill = || {
            let (job, mut answer) = PendingWrite::job(|tx: &Tx<'_>| {
                tx.sql("INSERT INTO events VALUES (NULL, '', 0, '', 0, hex(zeroblob(9999)))")?
                    .execute(())?;
                Ok(())
            });
            commit(&handle, vec![job]);
            answer.try_recv().unwrap()
        };
        assert_eq!(fill(), Ok(()));
        let full = (0..64).find_map(|_| fill().err()).unwrap();
        assert!(format!("{full:?}").contains("full"), "{full:?}");
        let lost = fill().unwrap_err();
        assert!(format!("{lost:?}").contains("are lost"), "{lost:?}");
        assert!(Tx::read(&handle).is_err());
    }
}
