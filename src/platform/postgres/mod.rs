//! PostgreSQL databases: where they are, and statements in transactions that a lost connection does
//! not leave in doubt.

mod address;
mod connection;
mod session;

pub(crate) use address::Address;
pub(crate) use connection::Database;

use super::sql::{SqlResult, SqlRow};

/// What must hold of a database before it is used, asked with a connection's first statement.
#[derive(Clone, Copy)]
pub(crate) struct Guard {
    /// A query for one row.
    pub(crate) query: &'static str,
    pub(crate) check: fn(Option<&SqlRow>) -> SqlResult<()>,
}
