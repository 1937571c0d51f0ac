//! Runs shared statements on a SQLite file.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};

use crate::platform::sql::{Answer, Cell, Row, Statements, Trouble, Value};

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Value::Text(Some(text)) => Ok(ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))),
            Value::Text(None) => Ok(ToSqlOutput::Borrowed(ValueRef::Null)),
            Value::Number(number) => number.to_sql(),
            Value::Bool(is_set) => is_set.to_sql(),
        }
    }
}

fn cell(value: ValueRef<'_>) -> Answer<Cell> {
    match value {
        ValueRef::Null => Ok(Cell::Null),
        ValueRef::Integer(number) => Ok(Cell::Number(number)),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Ok(Cell::Text(text.to_owned())),
            Err(_) => Err(Trouble::Unreadable),
        },
        ValueRef::Real(_) | ValueRef::Blob(_) => Err(Trouble::Unreadable),
    }
}

/// The text that SQLite understands. It has one writer at a time, so a transaction locks no rows.
fn text(sql: &str) -> String {
    sql.replace(" FOR UPDATE SKIP LOCKED", "")
        .replace(" FOR UPDATE", "")
}

impl Statements for Connection {
    fn query(&self, sql: &str, values: &[Value<'_>]) -> Answer<Vec<Row>> {
        let mut statement = self.prepare_cached(&text(sql))?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let cells = (0..columns).map(|column| cell(row.get_ref(column)?));
            found.push(Row(cells.collect::<Answer<_>>()?));
        }
        Ok(found)
    }

    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Answer<usize> {
        let mut statement = self.prepare_cached(&text(sql))?;
        Ok(statement.execute(params_from_iter(values))?)
    }

    fn clock(&self) -> Answer<i64> {
        Ok(jiff::Timestamp::now().as_millisecond())
    }
}
