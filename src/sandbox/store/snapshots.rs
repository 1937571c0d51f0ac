//! Snapshots: everything that the sandbox holds, and its clock, as one document.

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension, params_from_iter};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::tx::{Tx, moment};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::wire::moment::Moment;

/// Snapshots by name. They outlive a reset.
pub(super) const TABLE: &str = "CREATE TABLE snapshots \
    (name TEXT PRIMARY KEY, taken_at INTEGER NOT NULL, content TEXT NOT NULL)";
/// The tables that a snapshot holds. One of an earlier version lacks the last tables, and the last columns of others.
const TABLES: [&str; 12] = [
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
    "fixture_venues",
];
/// How many tables the first snapshots had.
const FIRST_TABLES: usize = 11;
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

    /// Replaces everything that the sandbox holds, and its clock, by a snapshot that it saved itself. Returns the
    /// transaction at the new time.
    pub(crate) fn restore(&self, snapshot: &Snapshot) -> Result<Self, ApiError> {
        self.check(snapshot)?;
        Ok(self.replace(snapshot)?)
    }

    /// The same with a snapshot from outside. One with a fault replaces nothing.
    pub(crate) fn restore_foreign(&self, snapshot: &Snapshot) -> Result<Self, ApiError> {
        self.check(snapshot)?;
        self.batch("SAVEPOINT restore")?;
        let replaced = self.replace(snapshot);
        match replaced.and_then(|tx| tx.read_all().map(|()| tx)) {
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
        let tables = snapshot.tables.iter().map(|it| it.name.as_str());
        let tables: Vec<&str> = tables.collect();
        if tables.len() < FIRST_TABLES || !TABLES.starts_with(&tables) {
            return Err(unusable("has other tables than a sandbox of this version"));
        }
        moment(snapshot.now).map_err(|_| unusable("has a time that does not exist"))?;
        for table in &snapshot.tables {
            let columns: Vec<&str> = table.columns.iter().map(String::as_str).collect();
            let own = self.sql(&format!("SELECT * FROM {}", table.name))?;
            let own: Vec<&str> = own.column_names().collect();
            if columns.is_empty() || !own.starts_with(&columns) {
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
        let staying = self.staying_urls()?;
        for name in TABLES {
            self.batch(&format!("DELETE FROM {name}"))?;
        }
        for table in &snapshot.tables {
            let (name, columns) = (&table.name, table.columns.join(", "));
            let places = vec!["?"; table.columns.len()].join(", ");
            let insert = format!("INSERT INTO {name} ({columns}) VALUES ({places})");
            let mut insert = self.sql(&insert)?;
            for row in &table.rows {
                insert.execute(params_from_iter(row.iter().map(Cell)))?;
            }
        }
        // What follows from the rows. A snapshot may be of an earlier version, or written by hand.
        self.batch(
            "UPDATE idempotency_keys SET hash = short_hash(organization, key) \
             WHERE hash IS NOT short_hash(organization, key)",
        )?;
        self.count_slots()?;
        self.keep_urls(&staying)?;
        // Whoever leased a delivery sent that of another state.
        self.batch("UPDATE deliveries SET leased_until = NULL")?;
        self.set_clock(snapshot.now, snapshot.frozen)?;
        self.again()
    }

    /// Reads every row whose columns have a form of their own. Fails if one has another.
    fn read_all(&self) -> rusqlite::Result<()> {
        for booking in self.bookings(None)? {
            self.organization(&booking.organization)?;
        }
        for organization in self.added_organizations()? {
            self.sessions(&organization.id, None)?;
        }
        self.faults()?;
        self.messages(None, None)?;
        self.deliveries(None, None)?;
        self.own_venues(None)?;
        Ok(())
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

/// A value on its way into a column.
struct Cell<'a>(&'a Value);

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Value::Number(number) => match number.as_i64() {
                Some(number) => number.into(),
                None => number.as_f64().unwrap_or_default().into(),
            },
            Value::String(text) => text.as_str().into(),
            // No column holds one, so that reading the row fails.
            other => other.to_string().into(),
        })
    }
}
