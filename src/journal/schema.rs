//! The version of the tables, in a file and in PostgreSQL. Every bookctl reads what an older one
//! wrote, and brings it to its own version in the transaction that opens it. An older one goes on
//! using it unless it would misread it.

use std::collections::BTreeSet;

use rusqlite::Connection;

use crate::outcome::Error;
use crate::platform::sql::{Sql, SqlFailure, SqlResult, SqlRow, values};

/// What each version after the first adds to the tables of `schema.sql`: statements that end in `;`
/// and a line end. Never change a released one.
const MIGRATIONS: &[&str] = &[include_str!("version_2.sql")];

pub(super) const VERSION: i64 = 1 + MIGRATIONS.len() as i64;

/// The oldest version whose bookctl can use tables of this one. It stays while migrations only add
/// columns that may be empty, indexes and tables.
const READABLE_FROM: i64 = 1;

/// What builds before the first release called the tables of version 1. They had triggers.
const UNRELEASED: i64 = 27;

/// What [`tables`] finds where bookctl has made the tables: to make them anew at each start takes a
/// tenth of `book`.
const OWN_TABLES: &str = include_str!("tables.txt");

pub(super) const FIND_VERSION: &str =
    "SELECT version, written_by, readable_from FROM bookctl_journal";

/// Whether the tables have this version, or a newer one that declares itself compatible.
pub(super) fn is_current(row: &SqlRow) -> SqlResult<bool> {
    let (found, readable_from): (i64, i64) = (row.get("version")?, row.get("readable_from")?);
    if found > VERSION && readable_from > VERSION {
        let written_by = row.get("written_by")?;
        return Err(SqlFailure::OtherVersion { found, known: VERSION, written_by });
    }
    Ok(found >= VERSION)
}

/// Brings tables of version `found` to this one. `dialect` adapts a statement to the database.
pub(super) fn migrate(
    statements: &dyn Sql,
    found: i64,
    dialect: &dyn Fn(&str) -> String,
) -> SqlResult<()> {
    let known = usize::try_from(found - 1).unwrap_or_default();
    for migration in MIGRATIONS.iter().skip(known) {
        for statement in migration.trim_end().split_terminator(";\n") {
            statements.execute(&dialect(statement), &[])?;
        }
    }
    let mark = "UPDATE bookctl_journal SET version = ?1, written_by = ?2, readable_from = ?3";
    statements.execute(mark, values![VERSION, env!("CARGO_PKG_VERSION"), READABLE_FROM]).map(drop)
}

/// [`migrate`] for a file, which holds its version in its header as well.
pub(super) fn migrate_file(file: &Connection, mut found: i64) -> SqlResult<()> {
    if found == UNRELEASED && file.query("PRAGMA table_info(bookctl_journal)", &[])?.is_empty() {
        file.execute_batch(
            "DROP TRIGGER booking_first_seen; DROP TRIGGER booking_seen; DROP TRIGGER guest_forgotten;
             DROP TRIGGER booking_forgotten; DROP VIEW next_sightings;",
        )?;
        file.execute_batch(include_str!("version.sql"))?;
        found = 1;
    }
    if found > VERSION {
        let row = file.query(FIND_VERSION, &[]).unwrap_or_default().pop();
        let row = row.filter(|row| row.get("version") == Ok(found));
        let unknown = SqlFailure::OtherVersion { found, known: VERSION, written_by: None };
        return is_current(&row.ok_or(unknown)?).map(drop);
    }
    migrate(file, found, &str::to_owned)?;
    Ok(file.pragma_update(None, "user_version", VERSION)?)
}

/// Refuses a file whose tables are not those that bookctl makes, or that would do something by
/// itself. A newer version's may have more.
pub(super) fn check_tables(file: &Connection) -> SqlResult<()> {
    let found = tables(file)?;
    let version: i64 = file.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let acts = found.iter().any(|it| it.starts_with("trigger ") || it.starts_with("view "));
    let has_own = OWN_TABLES.lines().all(|it| found.contains(it));
    let has_more = found.len() > OWN_TABLES.lines().count();
    if acts || !has_own || has_more && version <= VERSION {
        return Err(SqlFailure::Tables("its tables are not those that bookctl makes".to_owned()));
    }
    Ok(())
}

/// The columns of a file's tables, its triggers and its views.
fn tables(file: &Connection) -> SqlResult<BTreeSet<String>> {
    let all = "SELECT item.type || ' ' || item.name || coalesce('.' || field.name || ' ' || field.type || field.pk, '') AS part
               FROM sqlite_schema AS item LEFT JOIN pragma_table_info(iif(item.type = 'table', item.name, NULL)) AS field
               WHERE item.type <> 'index' AND item.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    file.query(all, &[])?.iter().map(|row| row.get("part")).collect()
}

/// The error of a journal that cannot be used: a file or a database of this name.
pub(super) fn unusable(journal: &str, failure: &SqlFailure) -> Error {
    let hint = match failure {
        SqlFailure::Unreachable(_) | SqlFailure::ReadOnly => {
            "bookctl does not book without a journal: make it and its folder writable, or set BOOKCTL_HOME to a writable folder"
        }
        SqlFailure::OtherVersion { written_by, .. } => {
            let version = written_by.as_deref().unwrap_or("the version that wrote it");
            &format!("install bookctl {version} or newer; nothing was changed")
        }
        SqlFailure::Damaged | SqlFailure::Tables(_) => {
            "start a new journal with `bookctl journal recover`; it keeps the old file"
        }
        SqlFailure::Empty | SqlFailure::Foreign => {
            "its attempts are lost: look for its bookings at the service, then start a new journal with `bookctl journal \
             recover`; it keeps the old file"
        }
        SqlFailure::Replaced => {
            "run the command again; `bookctl attempts list` shows what the journal in its place knows"
        }
        SqlFailure::Full => "free some space, then try again",
        SqlFailure::Locked => "check which other bookctl is running, then try again",
        SqlFailure::Unconnected(_)
        | SqlFailure::Lost(_)
        | SqlFailure::NotReady(_)
        | SqlFailure::TimedOut => {
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
        SqlFailure::Second { .. } => {
            "use it as it is; for a journal of its own, the user needs a search_path without that schema, or no right to read it"
        }
        SqlFailure::Older => {
            "bring it to this version, as the user who owns its tables: `bookctl journal init`; older bookctls go on using it"
        }
        SqlFailure::Conflict | SqlFailure::Unreadable | SqlFailure::Other(_) => {
            "check the file and its folder, or the server: `bookctl journal status` shows which it is"
        }
    };
    Error::journal(format!("{journal} {failure}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::store::KIND;
    use crate::platform::sqlite;

    /// `UPDATE_DOCS=1` writes the list anew.
    #[test]
    fn own_tables_are_those_that_bookctl_makes() {
        let folder = tempfile::tempdir().unwrap();
        let made = sqlite::build(&folder.path().join("journal.db"), &KIND).unwrap();
        let made: String = tables(&made).unwrap().iter().map(|it| format!("{it}\n")).collect();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            let list = concat!(env!("CARGO_MANIFEST_DIR"), "/src/journal/tables.txt");
            return std::fs::write(list, made).unwrap();
        }
        assert_eq!(OWN_TABLES, made);
    }
}
