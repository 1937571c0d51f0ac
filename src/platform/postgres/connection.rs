//! A PostgreSQL database: its connection, and work that is repeated where the connection was lost.
//!
//! A thread drives the connection. Code that blocks waits for it: every wait has a limit, is said to the person, and ends
//! with a signal.

use std::cell::{Cell as Flag, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Address, Guard, Login, PostgresFailure};
use crate::outcome::reason;
use crate::platform::lock_wait::{LockWait, LockWaitSettings};
use crate::platform::sql::{SqlError, SqlResult};
use crate::platform::{crypto, regular_file, signals};

/// The longest that making a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long one wait for an answer takes before it is watched for signals and its limit.
const UNWATCHED: Duration = Duration::from_millis(20);

/// A database, connected to when it is first used.
pub(crate) struct Database {
    pub(crate) address: Address,
    config: Config,
    /// What has to hold before it is used.
    pub(crate) guard: Option<Guard>,
    /// The thread that drives connections.
    driver: Handle,
    /// Ends the thread when it is dropped.
    _stop: oneshot::Sender<()>,
    /// Whether answers are waited for as long as it takes: a statement may go through all rows.
    pub(crate) is_patient: bool,
    connecting: RefCell<Option<JoinHandle<Result<Client, PostgresFailure>>>>,
    connection: RefCell<Option<Rc<PostgresConnection>>>,
    /// Whether a connection was ever made: what worked once is waited for.
    was_connected: Flag<bool>,
}

pub(super) struct PostgresConnection {
    pub(super) client: Arc<Client>,
    /// Whether the guard holds for it.
    pub(super) is_checked: Flag<bool>,
    has_loaded: Flag<bool>,
}

impl Database {
    /// Starts the thread. Connects to nothing yet.
    pub(crate) fn new(address: Address, login: Login) -> io::Result<Self> {
        signals::watch();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let driver = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let drive = move || {
            let _ = runtime.block_on(stopped);
            runtime.shutdown_background();
        };
        std::thread::Builder::new()
            .name("postgres".to_owned())
            .spawn(drive)?;
        Ok(Database {
            config: config(&address, &login),
            address,
            guard: None,
            driver,
            _stop: stop,
            is_patient: false,
            connecting: RefCell::new(None),
            connection: RefCell::new(None),
            was_connected: Flag::new(false),
        })
    }

    /// Begins to connect, while other things are done. The first statement waits for it, and fails if it fails.
    pub(crate) fn connect_ahead(&self) {
        if let Ok(connecting) = self.connecting() {
            self.connecting.replace(Some(self.driver.spawn(connecting)));
        }
    }

    /// Has the server run a query whose result nobody waits for, once for each connection, so that it has loaded what it
    /// needs when the next statements come.
    pub(crate) fn load_ahead(&self, query: &'static str) {
        if let Some(connection) = self.connection.borrow().as_ref()
            && !connection.has_loaded.replace(true)
        {
            let client = Arc::clone(&connection.client);
            self.driver.spawn(async move {
                let _ = client.query_typed(query, &[]).await;
            });
        }
    }

    pub(super) fn until_it_works<T>(
        &self,
        run: impl Fn(Rc<PostgresConnection>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let mut wait = self.patience(false);
        loop {
            let outcome = self.connection().and_then(&run);
            let Err(SqlError::Postgres(failure)) = &outcome else {
                return outcome;
            };
            if failure.ends_connection() {
                self.connection.replace(None);
            }
            let was_there =
                self.was_connected.get() && matches!(failure, PostgresFailure::Unreachable(_));
            if !(failure.is_passing() || was_there) || !wait.pause() {
                return outcome;
            }
        }
    }

    fn connection(&self) -> SqlResult<Rc<PostgresConnection>> {
        let held = self.connection.borrow().clone();
        if let Some(held) = held.filter(|held| !held.client.is_closed()) {
            return Ok(held);
        }
        let connecting = match self.connecting.take() {
            Some(begun) => begun,
            None => self.driver.spawn(self.connecting()?),
        };
        let client = self.wait(async move {
            let ended = |_| PostgresFailure::Lost("its thread has ended".to_owned());
            connecting.await.map_err(ended)?
        })?;
        let connection = Rc::new(PostgresConnection {
            client: Arc::new(client),
            is_checked: Flag::new(self.guard.is_none()),
            has_loaded: Flag::new(false),
        });
        self.connection.replace(Some(Rc::clone(&connection)));
        self.was_connected.set(true);
        Ok(connection)
    }

    /// Connects, within the limit, and drives the connection from then on.
    fn connecting(
        &self,
    ) -> SqlResult<impl Future<Output = Result<Client, PostgresFailure>> + Send + 'static> {
        let tls = if self.address.is_encrypted {
            let unreachable =
                |why: Box<dyn std::error::Error>| PostgresFailure::Unreachable(why.to_string());
            let config = self
                .tls()
                .map_err(|why| SqlError::Postgres(unreachable(why)))?;
            Some(MakeRustlsConnect::new(config))
        } else {
            None
        };
        let config = self.config.clone();
        let connecting = async move {
            if let Some(tls) = tls {
                let (client, connection) = config.connect(tls).await?;
                tokio::spawn(connection);
                Ok(client)
            } else {
                let (client, connection) = config.connect(NoTls).await?;
                tokio::spawn(connection);
                Ok(client)
            }
        };
        Ok(async move {
            match tokio::time::timeout(CONNECT, connecting).await {
                Ok(connected) => connected.map_err(|error| not_connected(&error)),
                Err(_) => {
                    let seconds = CONNECT.as_secs();
                    Err(PostgresFailure::Unreachable(format!(
                        "no answer in {seconds} s"
                    )))
                }
            }
        })
    }

    /// The system's authorities, or those of the file that the URL names.
    fn tls(&self) -> Result<ClientConfig, Box<dyn std::error::Error>> {
        crypto::install_provider();
        let builder = ClientConfig::builder();
        let Some(file) = &self.address.root_file else {
            return Ok(builder.with_platform_verifier()?.with_no_client_auth());
        };
        let text = regular_file::read(file, 1024 * 1024)
            .map_err(|why| format!("sslrootcert {}: {why}", file.display()))?;
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&text) {
            roots.add(certificate?)?;
        }
        Ok(builder.with_root_certificates(roots).with_no_client_auth())
    }

    /// A wait that has just begun, which only a signal ends if it is `endless`.
    fn patience(&self, endless: bool) -> LockWait {
        let place = self.address.place();
        let mut wait = LockWait::saying(format!("waiting for the journal at {place}"));
        wait.limit = wait.limit.filter(|_| !endless);
        wait
    }

    /// Waits for what the driver does.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, PostgresFailure>> + Send + 'static,
    ) -> SqlResult<T> {
        let (sender, receiver) = mpsc::channel();
        let task = self.driver.spawn(async move {
            let _ = sender.send(work.await);
        });
        let mut wait = None;
        loop {
            match receiver.recv_timeout(UNWATCHED) {
                Ok(outcome) => return outcome.map_err(SqlError::Postgres),
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    let reason = "its thread has ended".to_owned();
                    return Err(SqlError::Postgres(PostgresFailure::Lost(reason)));
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            let wait = wait.get_or_insert_with(|| self.patience(self.is_patient));
            if !wait.pause() {
                task.abort();
                let seconds = LockWaitSettings::limit().as_secs();
                return Err(SqlError::Postgres(PostgresFailure::Late(seconds)));
            }
        }
    }
}

fn config(address: &Address, login: &Login) -> Config {
    let mut config = Config::new();
    config
        .host(&address.host)
        .port(address.port)
        .user(&login.user)
        .dbname(address.database.as_ref().unwrap_or(&login.user))
        .application_name("bookctl");
    if let Some(password) = &login.password {
        config.password(password);
    }
    if let Some(options) = &address.options {
        config.options(options);
    }
    if address.is_encrypted {
        config.ssl_mode(SslMode::Require);
    }
    config
}

fn not_connected(error: &tokio_postgres::Error) -> PostgresFailure {
    match (failed(error), error.as_db_error()) {
        (PostgresFailure::Lost(reason), None) => PostgresFailure::Unreachable(reason),
        (failure, _) => failure,
    }
}

pub(super) fn failed(error: &tokio_postgres::Error) -> PostgresFailure {
    let Some(refused) = error.as_db_error() else {
        // What this side refuses has no code: no password where one is asked for, or no channel binding.
        let said = error.to_string();
        let is_refused = ["invalid configuration", "authentication"];
        return if is_refused.iter().any(|words| said.starts_with(words)) {
            PostgresFailure::NotAllowed(reason(error))
        } else {
            PostgresFailure::Lost(reason(error))
        };
    };
    let said = refused.message().to_owned();
    // The codes of PostgreSQL's appendix A.
    match refused.code().code() {
        // The last: another transaction has added the same in between.
        "40001" | "40P01" | "23505" => PostgresFailure::Conflict,
        "25006" => PostgresFailure::ReadOnly,
        "55P03" => PostgresFailure::Late(LockWaitSettings::limit().as_secs()),
        "42P01" | "42703" => PostgresFailure::NotPrepared,
        "42501" => PostgresFailure::NotAllowed(said),
        "40003" | "57P01" | "57P02" | "25P03" => PostgresFailure::Lost(said),
        "57P03" | "53300" => PostgresFailure::NotReady(said),
        code if code.starts_with("08") => PostgresFailure::Lost(said),
        code if code.starts_with("28") || code.starts_with("3D") => {
            PostgresFailure::NotAllowed(said)
        }
        _ => PostgresFailure::Other(said),
    }
}
