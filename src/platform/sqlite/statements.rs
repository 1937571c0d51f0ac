//! Runs shared statements on a SQLite file.

use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, Value as Cell, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};

use crate::platform::sql::{Sql, SqlResult, SqlRow, Value};

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Value::Text(Some(text)) => Ok(ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))),
            Value::Text(None) => Ok(ToSqlOutput::Borrowed(ValueRef::Null)),
            Value::Number(number) => number.to_sql(),
        }
    }
}

/// The text that SQLite understands. It has one writer at a time, so a transaction locks no rows.
fn text(sql: &str) -> String {
    sql.replace(" FOR UPDATE SKIP LOCKED", "").replace(" FOR UPDATE", "")
}

impl Sql for Connection {
    fn query_batch(&self, statements: &[(&str, &[Value<'_>])]) -> SqlResult<Vec<Vec<SqlRow>>> {
        let mut found = Vec::new();
        for (sql, values) in statements {
            let mut statement = self.prepare_cached(&text(sql))?;
            let columns: Arc<[String]> = statement.column_names().map(str::to_owned).collect();
            let rows = statement.query_map(params_from_iter(*values), |row| {
                let cells = (0..columns.len()).map(|column| row.get::<_, Cell>(column));
                Ok(SqlRow {
                    columns: Arc::clone(&columns),
                    cells: cells.collect::<rusqlite::Result<_>>()?,
                })
            })?;
            found.push(rows.collect::<rusqlite::Result<_>>()?);
        }
        Ok(found)
    }

    fn execute(&self, sql: &str, values: &[Value<'_>]) -> SqlResult<usize> {
        Ok(self.prepare_cached(&text(sql))?.execute(params_from_iter(values))?)
    }

    fn clock(&self) -> SqlResult<i64> {
        Ok(jiff::Timestamp::now().as_millisecond())
    }
}
