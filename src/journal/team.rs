//! A journal that a team shares: its tables, and the errors of an unusable database.

use super::schema::{self, FIND_VERSION};
use crate::outcome::{Error, Result};
use crate::platform::postgres::{Database, Guard};
use crate::platform::sql::{Sql, SqlFailure, SqlResult};

/// What must hold of a database before it is used as a journal: it has the expected tables.
pub(super) const GUARD: Guard = Guard {
    query: FIND_VERSION,
    check: |found| match found {
        Some(row) if schema::is_current(row)? => Ok(()),
        Some(row) if row.get("version") != Ok(0) => Err(SqlFailure::Older),
        _ => Err(SqlFailure::NotPrepared),
    },
};

/// Prepares the database: makes the tables, in one transaction under a lock, so that of several
/// processes at once one does it. Not every server has the extension of the searches' index, and
/// not every user may add it: a search then reads all bookings.
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

/// Makes the tables, or brings them to this version. Returns whether there were none.
fn make_tables(statements: &dyn Sql) -> SqlResult<bool> {
    statements.execute("SET LOCAL statement_timeout = 0", &[])?;
    statements.execute("SET LOCAL lock_timeout = 0", &[])?;
    refuse_second(statements)?;
    let run = |script: &str| -> SqlResult<()> {
        let mut all = script.trim_end().split_terminator(";\n");
        all.try_for_each(|it| statements.execute(it, &[]).map(drop))
    };
    let unreleased = "SELECT to_regprocedure('booking_seen()') IS NOT NULL AS unreleased";
    let unreleased: bool =
        statements.first(unreleased, &[])?.map_or(Ok(false), |it| it.get_at(0))?;
    if unreleased {
        run(WITHOUT_TRIGGERS)?;
    }
    run(&dialect(include_str!("version.sql")))?;
    let row = statements.first(&format!("{FIND_VERSION} FOR UPDATE"), &[])?;
    let row = row.ok_or(SqlFailure::Unreadable)?;
    let found = row.get("version")?;
    if found > 0 && schema::is_current(&row)? {
        return Ok(false);
    }
    if found == 0 {
        run(&dialect(include_str!("schema.sql")))?;
        let others = include_str!("team.sql").split("\n\n");
        others.map(|it| statements.execute(it, &[])).collect::<SqlResult<Vec<_>>>()?;
    }
    schema::migrate(statements, found, &dialect)?;
    Ok(found == 0)
}

/// Refuses to make a journal in front of the one that this user finds already: it would be empty.
fn refuse_second(statements: &dyn Sql) -> SqlResult<()> {
    let find = "SELECT nspname AS there, coalesce(current_schema(), '') AS here FROM pg_class
        JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE pg_class.oid = to_regclass('bookctl_journal') AND has_table_privilege(pg_class.oid, 'SELECT')";
    let Some(found) = statements.first(find, &[])? else {
        return Ok(());
    };
    let (there, here): (String, String) = (found.get("there")?, found.get("here")?);
    if there == here { Ok(()) } else { Err(SqlFailure::Second { there, here }) }
}

/// Times are RFC 3339 in UTC, which sort as text under the collation "C".
fn dialect(tables: &str) -> String {
    tables
        .replace(" TEXT", " TEXT COLLATE \"C\"")
        .replace(" INTEGER", " BIGINT")
        .replace(" WITHOUT ROWID", "")
}

/// Brings tables of builds before the first release to version 1.
const WITHOUT_TRIGGERS: &str = "DROP FUNCTION booking_seen() CASCADE;
DROP FUNCTION booking_forgotten() CASCADE;
DROP FUNCTION booking_facts(TEXT);
ALTER TABLE bookctl_journal ADD COLUMN written_by TEXT NOT NULL DEFAULT '';
ALTER TABLE bookctl_journal ADD COLUMN readable_from BIGINT NOT NULL DEFAULT 0;
UPDATE bookctl_journal SET version = 1;
";

/// Brings the tables of an older version to this one. The user may lack the right to.
pub(super) fn migrate(database: &Database) -> SqlResult<()> {
    database.is_guarded.set(false);
    let migrated = database.transaction(&|statements| make_tables(statements).map(drop));
    database.is_guarded.set(true);
    match migrated {
        Err(SqlFailure::NotAllowed(_)) => Err(SqlFailure::Older),
        migrated => migrated,
    }
}

const INDEX: &str = "CREATE INDEX IF NOT EXISTS bookings_search ON bookings USING gin
    (guest gin_trgm_ops, email gin_trgm_ops, phone gin_trgm_ops, venue gin_trgm_ops, folded_id gin_trgm_ops)";

pub(super) fn error(database: &Database, failure: &SqlFailure) -> Error {
    schema::unusable(&format!("the journal at {}", database.address), failure)
}
