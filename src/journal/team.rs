//! A journal that a team shares: its tables, and what is said of a database that cannot be used.

use super::VERSION;
use crate::outcome::{Error, Result};
use crate::platform::postgres::{Database, Guard};
use crate::platform::sql::{SqlExecutor, SqlFailure, SqlResult, values};

/// What has to hold of a database before it is used as a journal: its tables are those that this bookctl knows.
pub(super) const GUARD: Guard = Guard {
    query: FIND_VERSION,
    check: |found| match found {
        VERSION => Ok(()),
        0 => Err(SqlFailure::NotPrepared),
        found => Err(other_version(found)),
    },
};

const FIND_VERSION: &str = "SELECT version FROM bookctl_journal";

/// Prepares the database: makes the tables, in one transaction under a lock, so that of several processes at once one does it.
/// Not every server has the extension of the searches' index, and not every user may add it: a search then reads all bookings.
pub(crate) fn prepare(mut database: Database) -> Result<Prepared> {
    database.is_patient = true;
    let add = "CREATE EXTENSION IF NOT EXISTS pg_trgm";
    let not_indexed = database.read(&|statements| statements.execute(add, &[]));
    let not_indexed = not_indexed.err().map(|why| why.to_string());
    let is_new = database.transaction(&|statements| {
        let is_new = make_tables(statements)?;
        if not_indexed.is_none() {
            statements.execute(INDEX, &[])?;
        }
        Ok(is_new)
    });
    Ok(Prepared { is_new: is_new.map_err(|why| error(&database, &why))?, not_indexed })
}

pub(crate) struct Prepared {
    pub(crate) is_new: bool,
    /// Why searches have no index, as the end of a sentence about the server.
    pub(crate) not_indexed: Option<String>,
}

fn make_tables(statements: &dyn SqlExecutor) -> SqlResult<bool> {
    let make = "CREATE TABLE IF NOT EXISTS bookctl_journal (one BIGINT PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL)";
    let fill =
        "INSERT INTO bookctl_journal (one, version) VALUES (1, 0) ON CONFLICT (one) DO NOTHING";
    statements.execute("SET LOCAL statement_timeout = 0", &[])?;
    statements.execute("SET LOCAL lock_timeout = 0", &[])?;
    statements.execute(make, &[])?;
    statements.execute(fill, &[])?;
    let row = statements.first(&format!("{FIND_VERSION} FOR UPDATE"), &[])?;
    match row.map_or(Ok(0), |row| row.at(0))? {
        VERSION => return Ok(false),
        0 => {}
        found => return Err(other_version(found)),
    }
    // Times are RFC 3339 in UTC, which sort as text under the collation "C".
    let tables = include_str!("schema.sql")
        .replace(" TEXT", " TEXT COLLATE \"C\"")
        .replace(" INTEGER", " BIGINT")
        .replace(" WITHOUT ROWID", "");
    let others = include_str!("team.sql").split("\n\n");
    for statement in tables.trim_end().split_terminator(";\n").chain(others) {
        statements.execute(statement, &[])?;
    }
    statements.execute("UPDATE bookctl_journal SET version = ?1", values![VERSION])?;
    Ok(true)
}

const INDEX: &str = "CREATE INDEX IF NOT EXISTS bookings_search ON bookings USING gin
    (guest gin_trgm_ops, email gin_trgm_ops, phone gin_trgm_ops, venue gin_trgm_ops, folded_id gin_trgm_ops)";

fn other_version(found: i64) -> SqlFailure {
    SqlFailure::OtherVersion { found, known: VERSION }
}

pub(super) fn error(database: &Database, failure: &SqlFailure) -> Error {
    let hint = match failure {
        SqlFailure::Unconnected(_)
        | SqlFailure::Lost(_)
        | SqlFailure::NotReady(_)
        | SqlFailure::Late => {
            "bookctl does not book without a journal: check the server and the network, then try again"
        }
        SqlFailure::NotAllowed(_) => {
            "check the user's rights and its password: PGPASSWORD, PGPASSFILE, ~/.pgpass, or `bookctl auth login \
             --journal-password-stdin`"
        }
        SqlFailure::Standby => {
            "connect to the primary server: bookctl does not book without a journal"
        }
        SqlFailure::NotPrepared => {
            "prepare it once, as a user who may create tables: `bookctl journal init`"
        }
        SqlFailure::OtherVersion { .. } => {
            "use the bookctl that prepared it, or prepare another database with `bookctl journal init`"
        }
        _ => "see the state of the journal with `bookctl journal status`",
    };
    Error::journal(format!("the journal at {} {failure}", database.address)).hint(hint)
}
