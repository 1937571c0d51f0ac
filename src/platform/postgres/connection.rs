//! A connection to PostgreSQL for code that blocks: its own thread drives it, and every wait has a limit, is said to the
//! person, and ends with a signal.
//!
//! A connection may be a pooler's (pgbouncer), which gives each transaction another one. So nothing of the session is
//! used: each statement is parsed where it is run, and settings are those of the transaction.

use std::cell::{Cell as Flag, RefCell};
use std::fmt;
use std::future::Future;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Row as TypedRow};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{Address, Encryption};
use super::failure::Failure;
use crate::outcome::reason;
use crate::platform::lock_wait::{LockWait, LockWaitSettings};
use crate::platform::signals;
use crate::platform::sql::{Answer, Cell, Row, Statements, Trouble, Value};
use crate::platform::tls;

/// How long one wait for an answer takes before it is watched for signals and its limit.
const UNWATCHED: Duration = Duration::from_millis(20);
/// The longest that making a connection may take.
const CONNECT: Duration = Duration::from_secs(5);

/// Begins a transaction. A row that another one holds, a statement and a client that stands still have limits, and a
/// commit is on the server's disk when it returns, whatever the server's own settings are.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL lock_timeout = '8s';
SET LOCAL statement_timeout = '60s';
SET LOCAL idle_in_transaction_session_timeout = '20s';
SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";

/// A database, connected to when it is first used.
pub(crate) struct Database {
    pub(crate) address: Address,
    login: Login,
    handle: Handle,
    /// Ends the thread when it is dropped.
    _stop: oneshot::Sender<()>,
    client: RefCell<Option<Arc<Client>>>,
    /// Whether a connection was ever made: what worked once is waited for.
    was_connected: Flag<bool>,
}

/// Who connects.
#[derive(Clone)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: Option<String>,
}

impl Database {
    /// Starts the thread. Connects to nothing yet.
    pub(crate) fn new(address: Address, login: Login) -> std::io::Result<Self> {
        signals::watch_ahead();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let run = move || {
            let _ = runtime.block_on(stopped);
            runtime.shutdown_background();
        };
        std::thread::Builder::new()
            .name("postgres".to_owned())
            .spawn(run)?;
        Ok(Database {
            address,
            login,
            handle,
            _stop: stop,
            client: RefCell::new(None),
            was_connected: Flag::new(false),
        })
    }

    /// Runs `work` in one transaction, and returns when it is committed on the server's disk.
    ///
    /// `work` may be run several times: where another transaction was in the way, and where a commit's answer was lost.
    /// Whether that commit was done is not known then, so `work` has to find what it may have done already.
    pub(crate) fn transaction<T>(&self, work: &dyn Fn(&dyn Statements) -> Answer<T>) -> Answer<T> {
        self.until_it_works(|client| {
            let session = Session {
                database: self,
                client,
                is_in_transaction: Some(Flag::new(false)),
            };
            let value = work(&session);
            match value {
                Ok(value) => session.end("COMMIT").map(|()| value),
                Err(why) => {
                    let _ = session.end("ROLLBACK");
                    Err(why)
                }
            }
        })
    }

    /// Runs statements that change nothing, each by itself.
    pub(crate) fn read<T>(&self, work: &dyn Fn(&dyn Statements) -> Answer<T>) -> Answer<T> {
        self.until_it_works(|client| {
            work(&Session {
                database: self,
                client,
                is_in_transaction: None,
            })
        })
    }

    fn until_it_works<T>(&self, run: impl Fn(Arc<Client>) -> Answer<T>) -> Answer<T> {
        let mut wait = LockWait::for_answer(self.waited_for());
        loop {
            let outcome = self.client().and_then(&run);
            let Err(Trouble::Postgres(failure)) = &outcome else {
                return outcome;
            };
            if failure.ends_connection() {
                self.client.replace(None);
            }
            let was_there = self.was_connected.get() && matches!(failure, Failure::Unreachable(_));
            if !(failure.is_passing() || was_there) || !wait.pause() {
                return outcome;
            }
        }
    }

    fn client(&self) -> Answer<Arc<Client>> {
        if let Some(client) = self.client.borrow().as_ref().filter(|it| !it.is_closed()) {
            return Ok(client.clone());
        }
        let tls = match self.address.encryption() {
            Encryption::None => None,
            Encryption::Verified => {
                let config = self.tls().map_err(|why| unreachable(&why))?;
                Some(MakeRustlsConnect::new(config))
            }
        };
        let connecting = connect(self.config(), tls);
        let client = self.wait(async move {
            let limited = tokio::time::timeout(CONNECT, connecting).await;
            limited.unwrap_or_else(|_| {
                let seconds = CONNECT.as_secs();
                Err(Failure::Unreachable(format!("no answer in {seconds} s")))
            })
        })?;
        let client = Arc::new(client);
        self.client.replace(Some(client.clone()));
        self.was_connected.set(true);
        Ok(client)
    }

    fn config(&self) -> Config {
        let mut config = Config::new();
        config
            .host(&self.address.host)
            .port(self.address.port)
            .user(&self.login.user)
            .dbname(self.address.database.as_ref().unwrap_or(&self.login.user))
            .application_name("bookctl");
        if let Some(password) = &self.login.password {
            config.password(password);
        }
        if let Some(options) = &self.address.options {
            config.options(options);
        }
        if self.address.encryption() == Encryption::Verified {
            config.ssl_mode(tokio_postgres::config::SslMode::Require);
        }
        config
    }

    /// The system's authorities, or those of the file that the URL names.
    fn tls(&self) -> Result<ClientConfig, Box<dyn std::error::Error>> {
        tls::install_provider();
        let builder = ClientConfig::builder();
        let Some(file) = &self.address.root_file else {
            return Ok(builder.with_platform_verifier()?.with_no_client_auth());
        };
        let text = crate::platform::regular_file::read(file, 1024 * 1024)
            .map_err(|why| format!("sslrootcert {}: {why}", file.display()))?;
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&text) {
            roots.add(certificate?)?;
        }
        Ok(builder.with_root_certificates(roots).with_no_client_auth())
    }

    fn waited_for(&self) -> String {
        format!("the journal at {}", self.address.place())
    }

    /// Waits for work on the connection's thread.
    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Answer<T> {
        let (sender, receiver) = mpsc::channel();
        let task = self.handle.spawn(async move {
            let _ = sender.send(work.await);
        });
        let mut wait = None;
        loop {
            match receiver.recv_timeout(UNWATCHED) {
                Ok(outcome) => return outcome.map_err(Trouble::Postgres),
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    let reason = "its thread has ended".to_owned();
                    return Err(Trouble::Postgres(Failure::Lost(reason)));
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            let wait = wait.get_or_insert_with(|| LockWait::for_answer(self.waited_for()));
            if !wait.pause() {
                task.abort();
                let seconds = LockWaitSettings::limit().as_secs();
                return Err(Trouble::Postgres(Failure::Late(seconds)));
            }
        }
    }
}

/// Connects, and drives the connection on this thread from then on.
async fn connect(config: Config, tls: Option<MakeRustlsConnect>) -> Result<Client, Failure> {
    match tls {
        Some(tls) => {
            let (client, connection) = config.connect(tls).await.map_err(not_connected)?;
            tokio::spawn(connection);
            Ok(client)
        }
        None => {
            let (client, connection) = config.connect(NoTls).await.map_err(not_connected)?;
            tokio::spawn(connection);
            Ok(client)
        }
    }
}

/// A connection, and whether it is in a transaction; `None` if it is to be in none.
struct Session<'a> {
    database: &'a Database,
    client: Arc<Client>,
    is_in_transaction: Option<Flag<bool>>,
}

impl Session<'_> {
    /// Whether the next statement begins the transaction.
    fn begins(&self) -> bool {
        let flag = self.is_in_transaction.as_ref();
        flag.is_some_and(|is_in_transaction| !is_in_transaction.replace(true))
    }

    fn end(&self, how: &'static str) -> Answer<()> {
        let flag = self.is_in_transaction.as_ref();
        if !flag.is_some_and(Flag::get) {
            return Ok(());
        }
        let client = self.client.clone();
        self.database
            .wait(async move { client.batch_execute(how).await.map_err(|why| failed(&why)) })
    }

    /// Runs a statement. One that begins the transaction is sent together with its beginning.
    fn run<T, F>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        run: impl FnOnce(Arc<Client>, String, Vec<Parameter>) -> F,
    ) -> Answer<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, tokio_postgres::Error>> + Send + 'static,
    {
        let begins = self.begins();
        let client = self.client.clone();
        let parameters = values.iter().map(Parameter::of).collect();
        let running = run(client.clone(), text(sql), parameters);
        self.database.wait(async move {
            if begins {
                let (begun, outcome) = tokio::join!(client.batch_execute(BEGIN), running);
                return begun.and(outcome).map_err(|why| failed(&why));
            }
            running.await.map_err(|why| failed(&why))
        })
    }
}

impl Statements for Session<'_> {
    fn query(&self, sql: &str, values: &[Value<'_>]) -> Answer<Vec<Row>> {
        let rows = self.run(sql, values, |client, sql, parameters| async move {
            client.query_typed(&sql, &typed(&parameters)).await
        })?;
        rows.iter().map(row).collect()
    }

    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Answer<usize> {
        let changed = self.run(sql, values, |client, sql, parameters| async move {
            client.execute_typed(&sql, &typed(&parameters)).await
        })?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    fn clock(&self) -> Answer<i64> {
        let query = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let row = self.first(query, &[])?;
        row.ok_or(Trouble::Unreadable)?.take(0)
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

fn unreachable(why: &dyn fmt::Display) -> Trouble {
    Trouble::Postgres(Failure::Unreachable(why.to_string()))
}

fn not_connected(error: tokio_postgres::Error) -> Failure {
    match (failed(&error), error.as_db_error()) {
        (Failure::Lost(reason), None) => Failure::Unreachable(reason),
        (failure, _) => failure,
    }
}

fn failed(error: &tokio_postgres::Error) -> Failure {
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
        "55P03" | "57014" => Failure::Late(LockWaitSettings::limit().as_secs()),
        "42P01" | "42703" => Failure::NotPrepared { found: 0, known: 0 },
        "42501" => Failure::NotAllowed(said),
        "40003" | "57P01" | "57P02" | "25P03" => Failure::Lost(said),
        "57P03" | "53300" => Failure::NotReady(said),
        code if code.starts_with("08") => Failure::Lost(said),
        code if code.starts_with("28") || code.starts_with("3D") => Failure::NotAllowed(said),
        _ => Failure::Other(said),
    }
}
