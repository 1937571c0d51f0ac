//! Query plans, for tests that queries use an index and so stay fast with a million rows.

use rusqlite::params_from_iter;

use super::Journal;

/// The plan of a query, one step per line.
pub(super) fn plan(journal: &Journal, query: &str) -> String {
    // The plan does not depend on the values of the parameters.
    let parameters = (1..=12).filter(|number| query.contains(&format!("?{number}")));
    let parameters = parameters.max().unwrap_or(0);
    let connection = journal.file().unwrap();
    let mut query = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {query}"))
        .unwrap();
    let steps = query
        .query_map(params_from_iter(0..parameters), |row| {
            row.get::<_, String>(3)
        })
        .unwrap();
    let steps: Vec<String> = steps.map(Result::unwrap).collect();
    steps.join("\n")
}
