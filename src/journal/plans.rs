//! How SQLite goes about a query: what is flat to a million rows finds them by an index.

use rusqlite::params_from_iter;

use super::Journal;

/// The plan, a step a line.
pub(super) fn plan(journal: &Journal, query: &str) -> String {
    // What is asked for is not what is planned: any value will do.
    let parameters = (1..=9).filter(|number| query.contains(&format!("?{number}")));
    let parameters = parameters.max().unwrap_or(0);
    let steps = journal.read(|connection| {
        connection
            .prepare(&format!("EXPLAIN QUERY PLAN {query}"))?
            .query_map(params_from_iter(0..parameters), |row| {
                row.get::<_, String>(3)
            })?
            .collect::<rusqlite::Result<Vec<_>>>()
    });
    steps.unwrap().join("\n")
}
