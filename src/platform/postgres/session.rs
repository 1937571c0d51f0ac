//! Statements on a connection to PostgreSQL. Those of a transaction are sent together where their results permit it, because
//! each wait for an answer costs the way to the server and back.
//!
//! A connection may be a pooler's (pgbouncer), which gives each transaction another one. So nothing of the session is
//! used: each statement is parsed where it is run, and settings are those of the transaction.

use std::cell::{Cell as Flag, RefCell};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row as TypedRow};

use super::driver::Driver;
use super::failure::Failure;
use crate::outcome::reason;
use crate::platform::lock_wait::LockWaitSettings;
use crate::platform::sql::{Answer, Cell, Row, Statements, Trouble, Value};

/// Begins a transaction. A row that another one holds, a statement and a client that stands still have limits, and a
/// commit is on the server's disk when it returns, whatever the server's own settings are.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL lock_timeout = '8s';
SET LOCAL statement_timeout = '60s';
SET LOCAL idle_in_transaction_session_timeout = '20s';
SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";

/// What has to hold of a database before it is used. It is asked together with the first statement of a connection.
#[derive(Clone, Copy)]
pub(crate) struct Guard {
    /// A query for one number.
    pub(crate) query: &'static str,
    pub(crate) check: fn(i64) -> Result<(), Failure>,
}

/// A connection while it runs the statements of some work.
pub(super) struct Session<'a> {
    driver: &'a Driver,
    client: Arc<Client>,
    guard: Option<Guard>,
    /// Whether the guard holds for this connection.
    is_checked: &'a Flag<bool>,
    /// Whether the transaction has begun; `None` if there is to be none.
    has_begun: Option<Flag<bool>>,
    waiting: RefCell<Vec<Sent>>,
}

enum Sent {
    Command(&'static str),
    Query(String, Vec<Parameter>),
    Change(String, Vec<Parameter>),
}

enum Came {
    Rows(Vec<TypedRow>),
    Changed(u64),
}

impl<'a> Session<'a> {
    /// Runs each statement by itself.
    pub(super) fn new(
        driver: &'a Driver,
        client: Arc<Client>,
        guard: Option<Guard>,
        is_checked: &'a Flag<bool>,
    ) -> Self {
        Session {
            driver,
            client,
            guard,
            is_checked,
            has_begun: None,
            waiting: RefCell::default(),
        }
    }

    /// Runs them in a transaction, which begins with the first one.
    pub(super) fn in_a_transaction(self) -> Self {
        Session {
            has_begun: Some(Flag::new(false)),
            ..self
        }
    }

    pub(super) fn commit(&self) -> Answer<()> {
        let has_begun = self.has_begun.as_ref().is_some_and(Flag::get);
        if !has_begun && self.waiting.borrow().is_empty() {
            return Ok(());
        }
        if !self.is_checked.get() {
            self.send(Vec::new())?;
        }
        self.send(vec![Sent::Command("COMMIT")]).map(drop)
    }

    pub(super) fn roll_back(&self) {
        self.waiting.borrow_mut().clear();
        if self.has_begun.as_ref().is_some_and(Flag::get) {
            let _ = self.send(vec![Sent::Command("ROLLBACK")]);
        }
    }

    /// Sends statements in one go, behind what is waiting and what has to come first, and returns what came back for them.
    fn send(&self, statements: Vec<Sent>) -> Answer<Vec<Came>> {
        let mut all = Vec::new();
        let has_begun = self.has_begun.as_ref();
        if has_begun.is_some_and(|has_begun| !has_begun.replace(true)) {
            all.push(Sent::Command(BEGIN));
        }
        let guard = self.guard;
        let guard = guard.filter(|_| !self.is_checked.get());
        let guard_at = all.len();
        all.extend(guard.map(|guard| Sent::Query(guard.query.to_owned(), Vec::new())));
        all.append(&mut self.waiting.borrow_mut());
        let own_at = all.len();
        all.extend(statements);
        let mut came = self.driver.wait(pipelined(self.client.clone(), all))?;
        if let Some(guard) = guard {
            let number = match &came[guard_at] {
                Came::Rows(rows) => rows.first().map(row).transpose()?,
                Came::Changed(_) => None,
            };
            let number = number.map_or(Ok(0), |mut row| row.take(0))?;
            (guard.check)(number).map_err(Trouble::Postgres)?;
            self.is_checked.set(true);
        }
        Ok(came.split_off(own_at))
    }
}

/// Sends everything before it waits for the first answer. Within a transaction, what follows a statement that fails does
/// nothing.
async fn pipelined(client: Arc<Client>, all: Vec<Sent>) -> Result<Vec<Came>, Failure> {
    let mut running: Vec<_> = all
        .into_iter()
        .map(|sent| Box::pin(run(client.clone(), sent)))
        .collect();
    let mut outcomes: Vec<_> = running.iter().map(|_| None).collect();
    // Each is sent when it is first polled, so this keeps their order.
    poll_fn(|context| {
        let mut is_done = true;
        for (running, outcome) in running.iter_mut().zip(&mut outcomes) {
            if outcome.is_none() {
                match running.as_mut().poll(context) {
                    Poll::Ready(came) => *outcome = Some(came),
                    Poll::Pending => is_done = false,
                }
            }
        }
        if is_done {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    let outcomes = outcomes.into_iter().flatten();
    outcomes
        .map(|came| came.map_err(|why| failed(&why)))
        .collect()
}

async fn run(client: Arc<Client>, sent: Sent) -> Result<Came, tokio_postgres::Error> {
    match sent {
        Sent::Command(text) => client.batch_execute(text).await.map(|()| Came::Changed(0)),
        Sent::Query(sql, parameters) => {
            let rows = client.query_typed(&sql, &typed(&parameters)).await;
            rows.map(Came::Rows)
        }
        Sent::Change(sql, parameters) => {
            let changed = client.execute_typed(&sql, &typed(&parameters)).await;
            changed.map(Came::Changed)
        }
    }
}

fn parameters(values: &[Value<'_>]) -> Vec<Parameter> {
    values.iter().map(Parameter::of).collect()
}

impl Statements for Session<'_> {
    fn query(&self, sql: &str, values: &[Value<'_>]) -> Answer<Vec<Row>> {
        let mut rows = self.together(&[(sql, values)])?;
        Ok(rows.pop().unwrap_or_default())
    }

    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Answer<usize> {
        let came = self.send(vec![Sent::Change(text(sql), parameters(values))])?;
        match came.first() {
            Some(Came::Changed(count)) => Ok(usize::try_from(*count).unwrap_or(usize::MAX)),
            _ => Err(Trouble::Unreadable),
        }
    }

    fn clock(&self) -> Answer<i64> {
        let query = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let row = self.first(query, &[])?;
        row.ok_or(Trouble::Unreadable)?.take(0)
    }

    fn later(&self, sql: &str, values: &[Value<'_>]) -> Answer<usize> {
        if self.has_begun.is_none() {
            return self.execute(sql, values);
        }
        let change = Sent::Change(text(sql), parameters(values));
        self.waiting.borrow_mut().push(change);
        Ok(0)
    }

    fn together(&self, statements: &[(&str, &[Value<'_>])]) -> Answer<Vec<Vec<Row>>> {
        let queries = statements.iter();
        let queries = queries.map(|(sql, values)| Sent::Query(text(sql), parameters(values)));
        let came = self.send(queries.collect())?;
        let rows = came.iter().map(|came| match came {
            Came::Rows(rows) => rows.iter().map(row).collect(),
            Came::Changed(_) => Err(Trouble::Unreadable),
        });
        rows.collect()
    }
}

/// A parameter that the thread owns.
enum Parameter {
    Text(Option<String>),
    Number(Option<i64>),
    Bool(bool),
}

impl Parameter {
    fn of(value: &Value<'_>) -> Self {
        match value {
            // PostgreSQL has no NUL in a text.
            Value::Text(text) => {
                Parameter::Text(text.as_ref().map(|it| it.replace('\0', "\u{fffd}")))
            }
            Value::Number(number) => Parameter::Number(*number),
            Value::Bool(is_set) => Parameter::Bool(*is_set),
        }
    }
}

fn typed(parameters: &[Parameter]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    let typed = parameters.iter().map(|parameter| match parameter {
        Parameter::Text(text) => (text as &(dyn ToSql + Sync), Type::TEXT),
        Parameter::Number(number) => (number as &(dyn ToSql + Sync), Type::INT8),
        Parameter::Bool(is_set) => (is_set as &(dyn ToSql + Sync), Type::BOOL),
    });
    typed.collect()
}

/// The text that PostgreSQL understands: its parameters are `$1`, and it finds indexes by itself.
fn text(sql: &str) -> String {
    let mut words = sql.split(" INDEXED BY ");
    let mut text = words.next().unwrap_or_default().replace('?', "$");
    for rest in words {
        let end = rest.find(' ').unwrap_or(rest.len());
        text.push_str(&rest[end..].replace('?', "$"));
    }
    text
}

fn row(row: &TypedRow) -> Answer<Row> {
    let cells = (0..row.len()).map(|at| {
        let kind = row.columns()[at].type_();
        let number = |number: Option<i64>| number.map_or(Cell::Null, Cell::Number);
        let cell = match *kind {
            Type::INT8 => row.try_get(at).map(number),
            Type::INT4 => row
                .try_get(at)
                .map(|it: Option<i32>| number(it.map(i64::from))),
            Type::BOOL => row
                .try_get(at)
                .map(|it: Option<bool>| number(it.map(i64::from))),
            _ => row
                .try_get(at)
                .map(|it: Option<String>| it.map_or(Cell::Null, Cell::Text)),
        };
        cell.map_err(|_| Trouble::Unreadable)
    });
    cells.collect::<Answer<_>>().map(Row)
}

pub(super) fn failed(error: &tokio_postgres::Error) -> Failure {
    let Some(refused) = error.as_db_error() else {
        // What this side refuses has no code: no password where one is asked for, or no channel binding.
        return match error.to_string() {
            said if said.starts_with("invalid configuration")
                || said.starts_with("authentication") =>
            {
                Failure::NotAllowed(reason(error))
            }
            _ => Failure::Lost(reason(error)),
        };
    };
    let said = refused.message().to_owned();
    // The codes of PostgreSQL's appendix A.
    match refused.code().code() {
        // The last: another transaction has added the same in between.
        "40001" | "40P01" | "23505" => Failure::Conflict,
        "25006" => Failure::ReadOnly,
        "55P03" => Failure::Late(LockWaitSettings::limit().as_secs()),
        "42P01" | "42703" => Failure::NotPrepared,
        "42501" => Failure::NotAllowed(said),
        "40003" | "57P01" | "57P02" | "25P03" => Failure::Lost(said),
        "57P03" | "53300" => Failure::NotReady(said),
        code if code.starts_with("08") => Failure::Lost(said),
        code if code.starts_with("28") || code.starts_with("3D") => Failure::NotAllowed(said),
        _ => Failure::Other(said),
    }
}
