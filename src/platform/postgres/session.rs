//! Statements on a connection to PostgreSQL. Those of a transaction are sent together where their
//! results permit it, because each wait for an answer costs the way to the server and back.
//!
//! A pooler (pgbouncer) gives each transaction another connection. So nothing of the session is
//! used: each statement is parsed where it runs, and settings are the transaction's.

use std::cell::{Cell as Flag, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use rusqlite::types::Value as Cell;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row as TypedRow};

use super::connection::{Database, PostgresConnection, ended};
use crate::platform::sql::{Sql, SqlFailure, SqlResult, SqlRow, Value};

/// Begins a transaction. Waits for rows, statements and idle clients have limits, and a commit is
/// on the server's disk when it returns, whatever the server's own settings are.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL lock_timeout = '8s';
SET LOCAL statement_timeout = '60s';
SET LOCAL idle_in_transaction_session_timeout = '20s';
SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";

/// A guarded database is used in the schema in which its guard's table is, whatever else the role
/// finds through its path. For the transaction alone: a pooler gives the next one another
/// connection.
const PIN: &str = "SELECT set_config('search_path', quote_ident(nspname), true) FROM pg_class
JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = to_regclass('bookctl_journal')";

impl Database {
    /// Runs `work` in one transaction, and returns when it is committed on the server's disk.
    /// `work` may be run several times: where another transaction was in the way, and where a
    /// commit's answer was lost. Whether that commit was done is not known then, so `work` has to
    /// find what it may have done already.
    pub(crate) fn transaction<T>(&self, work: &dyn Fn(&dyn Sql) -> SqlResult<T>) -> SqlResult<T> {
        self.with_retry(|connection| {
            let session = PostgresSession::new(self, connection, true);
            let outcome = work(&session);
            if outcome.is_ok() {
                session.commit()?;
            } else {
                session.roll_back();
            }
            outcome
        })
    }

    /// Runs statements that change nothing, each by itself.
    pub(crate) fn read<T>(&self, work: &dyn Fn(&dyn Sql) -> SqlResult<T>) -> SqlResult<T> {
        self.with_retry(|connection| work(&PostgresSession::new(self, connection, false)))
    }
}

/// A connection while it runs the statements of some work.
pub(super) struct PostgresSession<'a> {
    database: &'a Database,
    connection: Rc<PostgresConnection>,
    /// Whether its statements are one transaction, which begins with the first of them.
    is_transaction: bool,
    has_begun: Flag<bool>,
    waiting: RefCell<Vec<SessionRequest>>,
}

enum SessionRequest {
    Command(&'static str),
    /// The flag is whether it has to change a row.
    Statement(String, Vec<Parameter>, bool),
}

#[derive(Default)]
struct StatementResult {
    rows: Vec<TypedRow>,
    changed: u64,
}

impl<'a> PostgresSession<'a> {
    pub(super) fn new(
        database: &'a Database,
        connection: Rc<PostgresConnection>,
        is_transaction: bool,
    ) -> Self {
        PostgresSession {
            database,
            connection,
            is_transaction,
            has_begun: Flag::new(false),
            waiting: RefCell::default(),
        }
    }

    pub(super) fn commit(&self) -> SqlResult<()> {
        if !self.has_begun.get() && self.waiting.borrow().is_empty() {
            return Ok(());
        }
        if !self.connection.is_checked.get() {
            self.send(Vec::new())?;
        }
        self.send(vec![SessionRequest::Command("COMMIT")]).map(drop)
    }

    pub(super) fn roll_back(&self) {
        self.waiting.borrow_mut().clear();
        if self.has_begun.get() {
            let _ = self.send(vec![SessionRequest::Command("ROLLBACK")]);
        }
    }

    /// Sends requests in one go, behind what is waiting and what has to come first, and returns
    /// what came back for them.
    fn send(&self, requests: Vec<SessionRequest>) -> SqlResult<Vec<StatementResult>> {
        let mut all = Vec::new();
        let guard = self.database.guard;
        // What a guarded read sends at once is a transaction as well.
        let is_read = !self.is_transaction && guard.is_some();
        if is_read {
            all.push(SessionRequest::Command("BEGIN"));
        } else if self.is_transaction && !self.has_begun.replace(true) {
            all.push(SessionRequest::Command(BEGIN));
        }
        if guard.is_some() && !all.is_empty() {
            all.push(SessionRequest::Command(PIN));
        }
        let is_needed = self.database.is_guarded.get() && !self.connection.is_checked.get();
        let guard = guard.filter(|_| is_needed);
        let guard_at = all.len();
        all.extend(guard.map(|guard| statement(guard.query, &[], false)));
        all.append(&mut self.waiting.borrow_mut());
        let own_at = all.len();
        let own_count = requests.len();
        all.extend(requests);
        all.extend(is_read.then_some(SessionRequest::Command("ROLLBACK")));
        let client = Arc::clone(&self.connection.client);
        let mut replies = self.database.wait(pipelined(client, all))?;
        if let Some(guard) = guard {
            (guard.check)(rows(&replies[guard_at])?.first())?;
            self.connection.is_checked.set(true);
        }
        let mut own = replies.split_off(own_at);
        own.truncate(own_count);
        Ok(own)
    }
}

/// Sends everything before it waits for a response. After a failure, the rest does nothing.
async fn pipelined(
    client: Arc<Client>,
    all: Vec<SessionRequest>,
) -> SqlResult<Vec<StatementResult>> {
    // The runtime polls new tasks in order on one thread; each sends when first polled.
    let all = all.into_iter();
    let running: Vec<_> =
        all.map(|request| tokio::spawn(run(Arc::clone(&client), request))).collect();
    let mut replies = Vec::new();
    for running in running {
        replies.push(running.await.map_err(ended)?);
    }
    replies.into_iter().collect()
}

async fn run(client: Arc<Client>, request: SessionRequest) -> SqlResult<StatementResult> {
    let mut result = StatementResult::default();
    match request {
        SessionRequest::Command(text) => client.batch_execute(text).await?,
        SessionRequest::Statement(sql, parameters, must_change) => {
            let mut rows = pin!(client.query_typed_raw(&sql, parameters).await?);
            while let Some(row) = rows.try_next().await? {
                result.rows.push(row);
            }
            result.changed = rows.rows_affected().unwrap_or_default();
            if must_change && result.changed == 0 {
                return Err(SqlFailure::Unreadable);
            }
        }
    }
    Ok(result)
}

impl Sql for PostgresSession<'_> {
    fn query_batch(&self, statements: &[(&str, &[Value<'_>])]) -> SqlResult<Vec<Vec<SqlRow>>> {
        let statements = statements.iter().map(|(sql, values)| statement(sql, values, false));
        self.send(statements.collect())?.iter().map(rows).collect()
    }

    fn execute(&self, sql: &str, values: &[Value<'_>]) -> SqlResult<usize> {
        let replies = self.send(vec![statement(sql, values, false)])?;
        let changed: u64 = replies.iter().map(|reply| reply.changed).sum();
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    fn clock(&self) -> SqlResult<i64> {
        let query = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";
        self.first(query, &[])?.ok_or(SqlFailure::Unreadable)?.get("now")
    }

    fn execute_deferred(&self, sql: &str, values: &[Value<'_>]) -> SqlResult<usize> {
        if !self.is_transaction {
            return self.execute(sql, values);
        }
        self.waiting.borrow_mut().push(statement(sql, values, false));
        Ok(0)
    }

    fn insert(&self, sql: &str, values: &[Value<'_>]) -> SqlResult<()> {
        self.waiting.borrow_mut().push(statement(sql, values, true));
        Ok(())
    }
}

/// A parameter that the thread owns.
type Parameter = (Box<dyn ToSql + Send + Sync>, Type);

/// PostgreSQL's parameters are `$1`.
fn statement(sql: &str, values: &[Value<'_>], must_change: bool) -> SessionRequest {
    // Every second piece stands in quotation marks.
    let pieces = sql.split('\'').enumerate().map(|(place, piece)| match place % 2 {
        0 => piece.replace('?', "$"),
        _ => piece.to_owned(),
    });
    let own = |value: &Value<'_>| -> Parameter {
        match value {
            // PostgreSQL has no NUL in a text.
            Value::Text(text) => {
                (Box::new(text.as_ref().map(|text| text.replace('\0', "\u{fffd}"))), Type::TEXT)
            }
            Value::Number(number) => (Box::new(*number), Type::INT8),
        }
    };
    let sql = pieces.collect::<Vec<_>>().join("'");
    SessionRequest::Statement(sql, values.iter().map(own).collect(), must_change)
}

fn rows(reply: &StatementResult) -> SqlResult<Vec<SqlRow>> {
    let columns = reply.rows.first().map_or(&[][..], TypedRow::columns);
    let columns: Arc<[String]> = columns.iter().map(|it| it.name().to_owned()).collect();
    let rows = reply.rows.iter().map(|row| {
        let cells = (0..columns.len()).map(|at| cell(row, at).map_err(|_| SqlFailure::Unreadable));
        Ok(SqlRow { columns: Arc::clone(&columns), cells: cells.collect::<SqlResult<_>>()? })
    });
    rows.collect()
}

fn cell(row: &TypedRow, at: usize) -> Result<Cell, tokio_postgres::Error> {
    Ok(match *row.columns()[at].type_() {
        Type::INT8 => row.try_get::<_, Option<i64>>(at)?.into(),
        Type::INT4 => row.try_get::<_, Option<i32>>(at)?.into(),
        Type::BOOL => row.try_get::<_, Option<bool>>(at)?.into(),
        _ => row.try_get::<_, Option<String>>(at)?.into(),
    })
}
