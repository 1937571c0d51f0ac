//! Group commit: the waiting writes run in one transaction.

use tokio::sync::oneshot;

use super::number::count_on;
use super::tx::{Handle, Tx};
use crate::sandbox::rules::api_error::ApiError;

type Work = dyn FnOnce(&Tx<'_>) -> Result<(), ApiError> + Send;

pub(super) struct Job {
    /// Whose it is; `None` if it is about all organizations.
    pub(super) owner: Option<String>,
    /// Does it. An error rolls back the whole transaction.
    pub(super) work: Box<Work>,
    /// Learns that the transaction is committed, or why not.
    pub(super) done: oneshot::Sender<Result<(), ApiError>>,
}

/// Runs the jobs in one transaction. If one of them breaks, all of them have failed.
pub(super) fn commit(handle: &Handle, jobs: Vec<Job>) {
    let jobs = jobs.into_iter().map(|it| ((it.owner, it.work), it.done));
    let (work, done): (Vec<_>, Vec<_>) = jobs.unzip();
    let committed = transact(handle, work);
    for done in done {
        // The caller may have gone away meanwhile.
        let _ = done.send(committed.clone());
    }
}

fn transact(handle: &Handle, all: Vec<(Option<String>, Box<Work>)>) -> Result<(), ApiError> {
    let connection = &handle.connection;
    // An ephemeral store is a transaction already, which no other process sees.
    let is_shared = connection.is_autocommit();
    let (begin, commit, roll_back) = if is_shared {
        ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
    } else {
        ("SAVEPOINT jobs", "RELEASE jobs", "ROLLBACK TO jobs; RELEASE jobs")
    };
    let run = |sql| connection.prepare_cached(sql)?.execute(()).map(drop);
    run(begin)?;
    handle.is_emptied.set(false);
    let work = || {
        if is_shared {
            count_on(connection)?;
        }
        let mut last: Option<Tx<'_>> = None;
        for (owner, work) in all {
            // The one before may be another's, or may have moved the clock.
            let tx = match last.take().filter(|it| it.is_of(owner.as_deref())) {
                Some(tx) => tx,
                None => Tx::begin(handle, owner.as_deref())?.up_to_date()?,
            };
            work(&tx)?;
            last = Some(tx);
        }
        Ok(run(commit)?)
    };
    let done: Result<(), ApiError> = work();
    if done.is_err() {
        // Fails where SQLite has rolled back already.
        let _ = connection.execute_batch(roll_back);
    } else if handle.is_emptied.take() {
        // So that neither the file nor its log holds anything of what was deleted. Fails where
        // another process keeps it busy.
        let _ = connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::store::open::connect;

    #[test]
    fn a_write_that_breaks_leaves_nothing_of_its_transaction() {
        let handle = Handle::new(connect(None).unwrap());
        let written = |names: &[&'static str]| {
            let jobs = names.iter().copied().map(|name| {
                let (done, committed) = oneshot::channel();
                let work = Box::new(move |tx: &Tx<'_>| {
                    tx.sql("INSERT INTO organizations VALUES (hex(randomblob(8)), ?)")?
                        .execute([name])?;
                    match name {
                        "broken" => Err(ApiError::Broken(name.to_owned())),
                        _ => Ok(()),
                    }
                });
                (Job { owner: None, work, done }, committed)
            });
            let (jobs, committed): (Vec<_>, Vec<_>) = jobs.unzip();
            commit(&handle, jobs);
            let committed = committed.into_iter();
            committed.map(|mut it| it.try_recv().unwrap().is_ok()).collect::<Vec<_>>()
        };
        assert_eq!(written(&["one"]), [true]);
        assert_eq!(written(&["two", "broken", "three"]), [false; 3]);
        assert_eq!(written(&["four"]), [true]);
        let rows = "SELECT group_concat(settings) FROM (SELECT settings FROM organizations ORDER BY settings)";
        let rows: String = handle.connection.query_row(rows, (), |row| row.get(0)).unwrap();
        assert_eq!(rows, "four,one");
    }
}
