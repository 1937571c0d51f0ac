//! What the tests of the journal share.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tempfile::TempDir;

use super::{
    BeginOutcome, Intent, Journal, KeptBooking, RecordedRequest, RunEnd, RunId, Scope,
    SearchCriteria, State, TryResult,
};
use crate::outcome::Result;
use crate::platform::sql::{Sql, Value};
use crate::service::documents::booking::Booking;

/// The rows of one service.
pub(crate) fn scope(origin: &str) -> Scope {
    Scope { origin: origin.to_owned(), ..Scope::default() }
}

/// A folder, and where a journal is kept in it.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    (folder, path)
}

/// A folder, and a new journal in it, as a service sees it.
pub(crate) fn fresh(origin: &str) -> (TempDir, Journal) {
    let (folder, path) = place();
    (folder, open(&path, origin))
}

/// The journal in a folder, as a service sees it.
pub(crate) fn journal(folder: &TempDir, origin: &str) -> Journal {
    open(&folder.path().join("journal.db"), origin)
}

pub(crate) fn open(path: &Path, origin: &str) -> Journal {
    Journal::open(path, scope(origin)).unwrap()
}

/// The plan of a query, one step per line: with an index, a query stays fast.
pub(crate) fn plan(journal: &Journal, query: &str) -> String {
    // The plan does not depend on the values of the parameters.
    let parameters = (1..=12).filter(|number| query.contains(&format!("?{number}")));
    let values = vec![Value::Number(Some(0)); parameters.max().unwrap_or(0)];
    let (connection, _) = journal.file().unwrap();
    let steps = connection.query(&format!("EXPLAIN QUERY PLAN {query}"), &values);
    let steps: Vec<String> =
        steps.unwrap().into_iter().map(|step| step.get_at(3).unwrap()).collect();
    steps.join("\n")
}

impl Journal {
    /// Runs statements on the file, past everything that the journal promises.
    pub(crate) fn execute(&self, statements: &str) {
        self.file().unwrap().0.execute_batch(statements).unwrap();
    }

    /// Stores a booking as it was seen.
    pub(crate) fn update(&self, booking: &Booking) -> Result<()> {
        self.change(booking, &serde_json::Map::new(), None)
    }

    /// Begins a run that may be a second booking, and counts towards no limit.
    pub(crate) fn begins(&self, key: &str, request: &Json) -> Result<BeginOutcome> {
        let begun = self.record_begin(&Intent {
            key,
            request: &RecordedRequest::new(request, request),
            allow_duplicate: true,
            reopens: true,
            counted_in: None,
            row: None,
        });
        match begun? {
            BeginOutcome::Refused(refused) => Err(*refused),
            begun => Ok(begun),
        }
    }

    /// Begins a run of an attempt, where nothing stands against it.
    pub(crate) fn run(&self, key: &str, request: &Json) -> RunId {
        match self.begins(key, request).unwrap() {
            BeginOutcome::Run { run, .. } => run,
            other => panic!("{other:?}"),
        }
    }

    fn end_with(
        &self,
        run: &RunId,
        last: TryResult,
        http_status: Option<u16>,
        booking: Option<&Booking>,
        request: &Json,
    ) -> Result<State> {
        let end = RunEnd {
            last,
            in_doubt: false,
            http_status,
            error_code: None,
            request_id: None,
            booking,
            terms: None,
            request: &RecordedRequest::new(request, request),
        };
        self.record_end(run, &end).map(|ended| ended.state)
    }

    pub(crate) fn end_booked(&self, run: &RunId, booking: &Booking, status: u16) -> Result<State> {
        self.end_with(run, TryResult::Booked, Some(status), Some(booking), &Json::Null)
    }

    pub(crate) fn end_refused(&self, run: &RunId, status: u16) -> Result<State> {
        self.end_with(run, TryResult::Refused, Some(status), None, &Json::Null)
    }

    pub(crate) fn end_not_sent(&self, run: &RunId) -> Result<State> {
        self.end_with(run, TryResult::NotSent, None, None, &Json::Null)
    }

    pub(crate) fn end_in_doubt(
        &self,
        run: &RunId,
        request: &Json,
        status: Option<u16>,
    ) -> Result<State> {
        self.end_with(run, TryResult::NoProof, status, None, request)
    }

    /// Its bookings, newest first.
    pub(crate) fn bookings(
        &self,
        status: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Vec<KeptBooking>> {
        let sought =
            SearchCriteria { status: status.map(str::to_owned), ..SearchCriteria::default() };
        Ok(self.find(&sought, limit)?.stored)
    }
}
