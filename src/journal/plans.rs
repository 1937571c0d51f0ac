//! Query plans, for tests that queries use an index and so stay fast with a million rows.

use super::Journal;
use crate::platform::sql::{Statements, Value};

/// The plan of a query, one step per line.
pub(super) fn plan(journal: &Journal, query: &str) -> String {
    // The plan does not depend on the values of the parameters.
    let parameters = (1..=12).filter(|number| query.contains(&format!("?{number}")));
    let values = vec![Value::Number(Some(0)); parameters.max().unwrap_or(0)];
    let connection = journal.file().unwrap();
    let steps = connection
        .query(&format!("EXPLAIN QUERY PLAN {query}"), &values)
        .unwrap();
    let steps: Vec<String> = steps
        .into_iter()
        .map(|mut step| step.take(3).unwrap())
        .collect();
    steps.join("\n")
}
