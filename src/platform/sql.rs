//! Statements that SQLite and PostgreSQL both understand, their values, rows and sessions.
//!
//! The text of a statement is the same for both. Parameters are `?1`, `?2` and so on. Rows that the
//! transaction changes after it has looked at them are read `FOR UPDATE`, which SQLite does not
//! need: it has one writer at a time.

mod failure;

use std::borrow::Cow;
use std::sync::Arc;

pub(crate) use rusqlite::types::FromSql as FromCell;
use rusqlite::types::Value as Cell;

pub(crate) use failure::SqlFailure;

pub(crate) type SqlResult<T> = Result<T, SqlFailure>;

/// Runs statements within a transaction, or each by itself.
pub(crate) trait Sql {
    /// The rows of several statements, sent together. Each sees the effects of those before it.
    fn query_batch(&self, statements: &[(&str, &[Value<'_>])]) -> SqlResult<Vec<Vec<SqlRow>>>;

    /// Runs a statement, and returns the number of rows that it changed.
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> SqlResult<usize>;

    /// The time by the clock that all users of the database share, in milliseconds since 1970.
    fn clock(&self) -> SqlResult<i64>;

    /// Runs a statement without waiting for its result: it may be sent only with the next one, or
    /// with the commit. Returns the number of rows that it changed, or 0 if that is not known yet.
    fn execute_deferred(&self, sql: &str, values: &[Value<'_>]) -> SqlResult<usize> {
        self.execute(sql, values)
    }

    /// Adds a row, as `later` runs a statement. It is an error if the row is not stored, whatever
    /// kept it away: at the latest an error of the commit.
    fn insert(&self, sql: &str, values: &[Value<'_>]) -> SqlResult<()> {
        match self.execute(sql, values)? {
            0 => Err(SqlFailure::Unreadable),
            _ => Ok(()),
        }
    }

    fn query(&self, sql: &str, values: &[Value<'_>]) -> SqlResult<Vec<SqlRow>> {
        Ok(self.query_batch(&[(sql, values)])?.pop().unwrap_or_default())
    }

    fn first(&self, sql: &str, values: &[Value<'_>]) -> SqlResult<Option<SqlRow>> {
        Ok(self.query(sql, values)?.into_iter().next())
    }
}

/// The value of a parameter. It has a type even where it is NULL.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Text(Option<Cow<'a, str>>),
    Number(Option<i64>),
}

/// The values of a statement's parameters, in order.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::platform::sql::Value::from($value)),*] };
}
pub(crate) use values;

macro_rules! value_from {
    ($($it:ident: $from:ty => $kind:ident($convert:expr);)*) => {
        $(impl<'a> From<$from> for Value<'a> {
            fn from($it: $from) -> Self {
                Value::$kind($convert)
            }
        })*
    };
}

value_from! {
    it: &'a str => Text(Some(Cow::Borrowed(it)));
    it: &'a String => Text(Some(Cow::Borrowed(it.as_str())));
    it: &'a Cow<'_, str> => Text(Some(Cow::Borrowed(it.as_ref())));
    it: &'a Option<String> => Text(it.as_deref().map(Cow::Borrowed));
    it: String => Text(Some(Cow::Owned(it)));
    it: Option<&'a str> => Text(it.map(Cow::Borrowed));
    it: Option<String> => Text(it.map(Cow::Owned));
    it: i64 => Number(Some(it));
    it: Option<i64> => Number(it);
    it: u32 => Number(Some(i64::from(it)));
    it: Option<u16> => Number(it.map(i64::from));
    it: Option<u32> => Number(it.map(i64::from));
    it: bool => Number(Some(i64::from(it)));
}

#[derive(Clone, Debug)]
pub(crate) struct SqlRow {
    pub(super) columns: Arc<[String]>,
    pub(super) cells: Vec<Cell>,
}

impl SqlRow {
    /// The value of the column of this name: the one after `AS`, where the statement has it.
    pub(crate) fn get<T: FromCell>(&self, column: &str) -> SqlResult<T> {
        let at = self.columns.iter().position(|name| name == column);
        self.get_at(at.ok_or(SqlFailure::Unreadable)?)
    }

    /// The value of a column, counted from 0.
    pub(crate) fn get_at<T: FromCell>(&self, column: usize) -> SqlResult<T> {
        let cell = self.cells.get(column).ok_or(SqlFailure::Unreadable)?;
        T::column_result(cell.into()).map_err(|_| SqlFailure::Unreadable)
    }
}
