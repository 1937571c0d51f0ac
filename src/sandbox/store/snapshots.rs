//! Snapshots: everything that the sandbox holds, and its clock, as one document.

use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{OptionalExtension, params_from_iter};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::tx::{Tx, moment};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::wire::moment::Moment;

/// Snapshots by name. They outlive a reset.
pub(super) const TABLE: &str = "CREATE TABLE snapshots \
    (name TEXT PRIMARY KEY, taken_at INTEGER NOT NULL, content TEXT NOT NULL)";
/// The tables that a snapshot holds.
const TABLES: [&str; 11] = [
    "organizations",
    "known_venues",
    "bookings",
    "idempotency_keys",
    "events",
    "messages",
    "sessions",
    "rate_windows",
    "deliveries",
    "attempts",
    "faults",
];
/// What the version in a document has to be.
const VERSION: u32 = 1;

/// The document.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Snapshot {
    bookctl_snapshot: u32,
    /// The sandbox's time in milliseconds.
    now: i64,
    frozen: bool,
    tables: Vec<Table>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: String,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Tx<'_> {
    /// Everything that the sandbox holds now.
    pub(crate) fn snapshot(&self) -> rusqlite::Result<Snapshot> {
        let tables = TABLES.iter().map(|name| self.table(name));
        Ok(Snapshot {
            bookctl_snapshot: VERSION,
            now: self.now.as_millisecond(),
            frozen: self.is_frozen(),
            tables: tables.collect::<rusqlite::Result<_>>()?,
        })
    }

    /// Replaces everything that the sandbox holds, and its clock. A snapshot with a fault replaces nothing. Returns the
    /// transaction at the new time.
    pub(crate) fn restore(&self, snapshot: &Snapshot) -> Result<Self, ApiError> {
        self.check(snapshot)?;
        self.batch("SAVEPOINT restore")?;
        match self.replace(snapshot) {
            Ok(tx) => {
                self.batch("RELEASE restore")?;
                Ok(tx)
            }
            Err(error) => {
                self.batch("ROLLBACK TO restore; RELEASE restore")?;
                Err(unusable(&format!(
                    "holds a row that is not the sandbox's: {error}"
                )))
            }
        }
    }

    /// Keeps a snapshot under a name, in place of an earlier one of that name.
    pub(crate) fn save_snapshot(&self, name: &str) -> Result<Value, ApiError> {
        let content = serde_json::to_string(&self.snapshot()?);
        let content = content.map_err(|error| ApiError::Broken(error.to_string()))?;
        self.sql("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)")?
            .execute((name, self.now.as_millisecond(), content))?;
        let saved = self.snapshots()?.into_iter().find(|it| it["name"] == name);
        saved.ok_or(ApiError::SnapshotNotFound)
    }

    /// The snapshots, by name.
    pub(crate) fn snapshots(&self) -> rusqlite::Result<Vec<Value>> {
        self.sql(
            "SELECT name, taken_at, length(CAST(content AS BLOB)) FROM snapshots ORDER BY name",
        )?
        .query_map((), |row| {
            Ok(json!({
                "name": row.get::<_, String>(0)?,
                "now": Moment(moment(row.get(1)?)?),
                "bytes": row.get::<_, i64>(2)?,
            }))
        })?
        .collect()
    }

    /// The snapshot of this name.
    pub(crate) fn saved_snapshot(&self, name: &str) -> Result<Snapshot, ApiError> {
        let content: Option<String> = self
            .sql("SELECT content FROM snapshots WHERE name = ?")?
            .query_row([name], |row| row.get(0))
            .optional()?;
        let content = content.ok_or(ApiError::SnapshotNotFound)?;
        serde_json::from_str(&content).map_err(|error| unusable(&error.to_string()))
    }

    /// Deletes a snapshot; returns false if there is none of that name.
    pub(crate) fn delete_snapshot(&self, name: &str) -> rusqlite::Result<bool> {
        let deleted = self
            .sql("DELETE FROM snapshots WHERE name = ?")?
            .execute([name])?;
        Ok(deleted > 0)
    }

    fn table(&self, name: &str) -> rusqlite::Result<Table> {
        let mut read = self.sql(&format!("SELECT * FROM {name}"))?;
        let columns: Vec<String> = read.column_names().map(str::to_owned).collect();
        let mut rows = Vec::new();
        let mut found = read.query(())?;
        while let Some(row) = found.next()? {
            let cells = (0..columns.len()).map(|place| Ok(json(row.get_ref(place)?)));
            rows.push(cells.collect::<rusqlite::Result<_>>()?);
        }
        Ok(Table {
            name: name.to_owned(),
            columns,
            rows,
        })
    }

    /// Checks that a snapshot is one of this version, with the tables and columns that the sandbox has.
    fn check(&self, snapshot: &Snapshot) -> Result<(), ApiError> {
        if snapshot.bookctl_snapshot != VERSION {
            return Err(unusable("is of another version"));
        }
        if !snapshot.tables.iter().map(|it| it.name.as_str()).eq(TABLES) {
            return Err(unusable("has other tables than a sandbox of this version"));
        }
        moment(snapshot.now).map_err(|_| unusable("has a time that does not exist"))?;
        for table in &snapshot.tables {
            let own = self.sql(&format!("SELECT * FROM {}", table.name))?;
            if !own.column_names().eq(&table.columns) {
                let other = format!(
                    "has other columns in {} than a sandbox of this version",
                    table.name
                );
                return Err(unusable(&other));
            }
            if table
                .rows
                .iter()
                .any(|row| row.len() != table.columns.len())
            {
                return Err(unusable(&format!(
                    "has an incomplete row in {}",
                    table.name
                )));
            }
        }
        Ok(())
    }

    fn replace(&self, snapshot: &Snapshot) -> rusqlite::Result<Self> {
        for table in &snapshot.tables {
            self.batch(&format!("DELETE FROM {}", table.name))?;
            let places = vec!["?"; table.columns.len()].join(", ");
            let mut insert = self.sql(&format!("INSERT INTO {} VALUES ({places})", table.name))?;
            for row in &table.rows {
                insert.execute(params_from_iter(row.iter().map(cell)))?;
            }
        }
        // Whoever leased a delivery sent that of another state.
        self.batch("UPDATE deliveries SET leased_until = NULL")?;
        self.set_clock(snapshot.now, snapshot.frozen)?;
        let tx = self.again()?;
        // Reads every row whose columns have a form of their own.
        for booking in tx.bookings(None)? {
            tx.organization(&booking.organization)?;
        }
        for organization in tx.added_organizations()? {
            tx.sessions(&organization.id, None)?;
        }
        tx.faults()?;
        tx.messages(None, None)?;
        tx.deliveries(None, None)?;
        Ok(tx)
    }
}

/// The error for a snapshot that cannot be restored.
fn unusable(why: &str) -> ApiError {
    ApiError::invalid("snapshot", why)
}

fn json(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(text) | ValueRef::Blob(text) => json!(String::from_utf8_lossy(text)),
    }
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Number(number) => match number.as_i64() {
            Some(number) => Cell::Integer(number),
            None => Cell::Real(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Cell::Text(text.clone()),
        // No column holds one, so that reading the row fails.
        other => Cell::Text(other.to_string()),
    }
}
