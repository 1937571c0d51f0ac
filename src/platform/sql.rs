//! Statements that SQLite and PostgreSQL both understand: their values, their rows, and who runs them.
//!
//! The text of a statement is the same for both. Parameters are `?1`, `?2` and so on. Rows that the transaction changes
//! after it has looked at them are read `FOR UPDATE`, which SQLite does not need: it has one writer at a time.

use std::borrow::Cow;
use std::fmt;

use super::postgres::Failure as PostgresFailure;
use super::sqlite::Failure as SqliteFailure;

pub(crate) type Answer<T> = Result<T, Trouble>;

#[derive(Debug)]
pub(crate) enum Trouble {
    Sqlite(SqliteFailure),
    Postgres(PostgresFailure),
    /// A column does not hold what is expected there.
    Unreadable,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Sqlite(failure) => failure.fmt(f),
            Trouble::Postgres(failure) => failure.fmt(f),
            Trouble::Unreadable => {
                f.write_str("cannot be used: a column does not hold what is expected there")
            }
        }
    }
}

impl From<SqliteFailure> for Trouble {
    fn from(failure: SqliteFailure) -> Self {
        Trouble::Sqlite(failure)
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Trouble::Sqlite(error.into())
    }
}

/// Runs statements within a transaction, or each by itself.
pub(crate) trait Statements {
    fn query(&self, sql: &str, values: &[Value<'_>]) -> Answer<Vec<Row>>;

    /// Runs a statement, and returns the number of rows that it changed.
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Answer<usize>;

    /// The time by the clock that all users of the database share, in milliseconds since 1970.
    fn clock(&self) -> Answer<i64>;

    /// Runs a statement whose result nobody waits for: it may be sent only with the next one, or with the commit. Returns
    /// the number of rows that it changed, or 0 if that is not known yet.
    fn later(&self, sql: &str, values: &[Value<'_>]) -> Answer<usize> {
        self.execute(sql, values)
    }

    /// The rows of several statements that are sent together. Each sees what those before it have done.
    fn together(&self, statements: &[(&str, &[Value<'_>])]) -> Answer<Vec<Vec<Row>>> {
        let each = statements.iter();
        each.map(|(sql, values)| self.query(sql, values)).collect()
    }

    fn first(&self, sql: &str, values: &[Value<'_>]) -> Answer<Option<Row>> {
        Ok(self.query(sql, values)?.into_iter().next())
    }
}

/// The value of a parameter. It has a type even where it is NULL.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Text(Option<Cow<'a, str>>),
    Number(Option<i64>),
    Bool(bool),
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
    it: u32 => Number(Some(i64::from(it)));
    it: Option<i64> => Number(it);
    it: Option<u16> => Number(it.map(i64::from));
    it: bool => Bool(it);
}

#[derive(Clone, Debug)]
pub(crate) struct Row(pub(super) Vec<Cell>);

#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Null,
    Text(String),
    Number(i64),
}

impl Row {
    /// Takes the value of a column, counted from 0, out of the row.
    pub(crate) fn take<T: FromCell>(&mut self, column: usize) -> Answer<T> {
        let cell = self.0.get_mut(column).ok_or(Trouble::Unreadable)?;
        T::from_cell(std::mem::replace(cell, Cell::Null)).ok_or(Trouble::Unreadable)
    }
}

pub(crate) trait FromCell: Sized {
    /// `None` if the column holds something else.
    fn from_cell(cell: Cell) -> Option<Self>;
}

impl FromCell for String {
    fn from_cell(cell: Cell) -> Option<Self> {
        match cell {
            Cell::Text(text) => Some(text),
            Cell::Null | Cell::Number(_) => None,
        }
    }
}

impl<T: FromCell> FromCell for Option<T> {
    fn from_cell(cell: Cell) -> Option<Self> {
        match cell {
            Cell::Null => Some(None),
            other => T::from_cell(other).map(Some),
        }
    }
}

macro_rules! numbers_from_cells {
    ($($number:ty),*) => {
        $(impl FromCell for $number {
            fn from_cell(cell: Cell) -> Option<Self> {
                match cell {
                    Cell::Number(number) => number.try_into().ok(),
                    Cell::Null | Cell::Text(_) => None,
                }
            }
        })*
    };
}

numbers_from_cells!(i64, u32, u16);

impl FromCell for bool {
    fn from_cell(cell: Cell) -> Option<Self> {
        i64::from_cell(cell).map(|number| number != 0)
    }
}
