//! A PostgreSQL database: its connection, and work that is repeated where the connection was lost.
//!
//! A thread drives the connection. Code that blocks waits for it: every wait has a limit, is said
//! to the person, and ends with a signal.

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

use super::{Address, Guard};
use crate::outcome::reason;
use crate::platform::lock_wait::LockWait;
use crate::platform::sql::{SqlFailure, SqlResult};
use crate::platform::{crypto, regular_file, signals};

/// The longest that making a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long one wait for an answer takes before it is watched for signals and its limit.
const UNWATCHED: Duration = Duration::from_millis(20);

/// A database, connected to when it is first used.
pub(crate) struct Database {
    pub(crate) address: Address,
    config: Config,
    pub(crate) guard: Option<Guard>,
    /// Whether the guard is asked.
    pub(crate) is_guarded: Flag<bool>,
    driver: Handle,
    /// Ends the thread when it is dropped.
    _stop: oneshot::Sender<()>,
    /// Whether answers are waited for as long as it takes: a statement may go through all rows.
    pub(crate) is_patient: bool,
    connecting: RefCell<Option<JoinHandle<SqlResult<Client>>>>,
    connection: RefCell<Option<Rc<PostgresConnection>>>,
    /// Whether a connection was ever made: what worked once is waited for.
    was_connected: Flag<bool>,
}

pub(super) struct PostgresConnection {
    pub(super) client: Arc<Client>,
    /// Whether the guard holds for it.
    pub(super) is_checked: Flag<bool>,
}

impl Database {
    /// Starts the thread. Connects to nothing yet.
    pub(crate) fn new(address: Address, user: &str, password: Option<&str>) -> io::Result<Self> {
        signals::watch();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let driver = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let drive = move || {
            let _ = runtime.block_on(stopped);
            runtime.shutdown_background();
        };
        std::thread::Builder::new().name("postgres".to_owned()).spawn(drive)?;
        Ok(Database {
            config: config(&address, user, password),
            address,
            guard: None,
            is_guarded: Flag::new(true),
            driver,
            _stop: stop,
            is_patient: false,
            connecting: RefCell::new(None),
            connection: RefCell::new(None),
            was_connected: Flag::new(false),
        })
    }

    /// Begins to connect meanwhile. The first statement waits for it, and fails if it fails.
    pub(crate) fn connect_ahead(&self) {
        self.connecting.replace(Some(self.begin()));
    }

    fn begin(&self) -> JoinHandle<SqlResult<Client>> {
        let connecting = connect(self.config.clone(), self.address.clone());
        self.driver.spawn(connecting)
    }

    pub(super) fn with_retry<T>(
        &self,
        run: impl Fn(Rc<PostgresConnection>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let mut wait = self.retry_timer(false);
        loop {
            let outcome = self.connection().and_then(&run);
            let may_work_soon = match &outcome {
                Ok(_)
                | Err(SqlFailure::Standby | SqlFailure::Unreadable | SqlFailure::Other(_)) => {
                    return outcome;
                }
                Err(SqlFailure::Conflict) => true,
                Err(failure) => {
                    self.connection.replace(None);
                    match failure {
                        // If the commit may have been done, the work finds its effects.
                        SqlFailure::Lost(_) | SqlFailure::NotReady(_) => true,
                        SqlFailure::Unconnected(_) => self.was_connected.get(),
                        _ => false,
                    }
                }
            };
            if !may_work_soon || !wait.pause() {
                return outcome;
            }
        }
    }

    fn connection(&self) -> SqlResult<Rc<PostgresConnection>> {
        let held = self.connection.borrow().clone();
        if let Some(held) = held.filter(|held| !held.client.is_closed()) {
            return Ok(held);
        }
        let begun = self.connecting.take().unwrap_or_else(|| self.begin());
        let client = self.wait(async move { begun.await.map_err(ended)? })?;
        let connection = Rc::new(PostgresConnection {
            client: Arc::new(client),
            is_checked: Flag::new(self.guard.is_none()),
        });
        self.connection.replace(Some(Rc::clone(&connection)));
        self.was_connected.set(true);
        Ok(connection)
    }

    /// A wait that has just begun, which only a signal ends if it is `endless`.
    fn retry_timer(&self, endless: bool) -> LockWait {
        let place = self.address.place();
        let mut wait = LockWait::saying(format!("waiting for the journal at {place}"));
        wait.limit = wait.limit.filter(|_| !endless);
        wait
    }

    pub(super) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = SqlResult<T>> + Send + 'static,
    ) -> SqlResult<T> {
        let (sender, receiver) = mpsc::channel();
        let task = self.driver.spawn(async move {
            let _ = sender.send(work.await);
        });
        let mut wait = None;
        loop {
            match receiver.recv_timeout(UNWATCHED) {
                Ok(outcome) => return outcome,
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(ended(())),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            let wait = wait.get_or_insert_with(|| self.retry_timer(self.is_patient));
            if !wait.pause() {
                task.abort();
                return Err(SqlFailure::TimedOut);
            }
        }
    }
}

/// The failure of a task whose thread is gone.
pub(super) fn ended<E>(_: E) -> SqlFailure {
    SqlFailure::Lost("its thread has ended".to_owned())
}

/// Connects, within the limit, and drives the connection from then on.
async fn connect(config: Config, address: Address) -> SqlResult<Client> {
    let connecting = async {
        if address.is_encrypted {
            let tls = tls(&address).map_err(|why| SqlFailure::Unconnected(why.to_string()))?;
            let (client, connection) = config.connect(MakeRustlsConnect::new(tls)).await?;
            tokio::spawn(connection);
            Ok(client)
        } else {
            let (client, connection) = config.connect(NoTls).await?;
            tokio::spawn(connection);
            Ok(client)
        }
    };
    match tokio::time::timeout(CONNECT, connecting).await {
        Ok(Err(SqlFailure::Lost(why))) => Err(SqlFailure::Unconnected(why)),
        Ok(connected) => connected,
        Err(_) => Err(SqlFailure::Unconnected(format!("no response in {} s", CONNECT.as_secs()))),
    }
}

/// The system's authorities, or those of the file that the URL names.
fn tls(address: &Address) -> Result<ClientConfig, Box<dyn std::error::Error>> {
    crypto::install_provider();
    let builder = ClientConfig::builder();
    let Some(file) = &address.root_file else {
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

fn config(address: &Address, user: &str, password: Option<&str>) -> Config {
    let mut config = Config::new();
    config
        .host(&address.host)
        .port(address.port)
        .user(user)
        .dbname(address.database.as_deref().unwrap_or(user))
        .application_name("bookctl");
    if let Some(password) = password {
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

/// How much of a server's message is shown, in characters.
const LONGEST_MESSAGE: usize = 64 * 1024;

impl From<tokio_postgres::Error> for SqlFailure {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(refused) = error.as_db_error() else {
            // Refusals of this side have no code: a missing password, no channel binding.
            let wording = error.to_string();
            let is_refused = ["invalid configuration", "authentication"];
            return if is_refused.iter().any(|words| wording.starts_with(words)) {
                SqlFailure::NotAllowed(reason(&error))
            } else {
                SqlFailure::Lost(reason(&error))
            };
        };
        let wording: String = refused.message().chars().take(LONGEST_MESSAGE).collect();
        // The codes of PostgreSQL's appendix A.
        match refused.code().code() {
            // The last: another transaction has added the same in between.
            "40001" | "40P01" | "23505" => SqlFailure::Conflict,
            "25006" => SqlFailure::Standby,
            "55P03" => SqlFailure::TimedOut,
            "42P01" => SqlFailure::NotPrepared,
            "42703" => SqlFailure::Older,
            "40003" | "57P01" | "57P02" | "25P03" => SqlFailure::Lost(wording),
            "57P03" | "53300" => SqlFailure::NotReady(wording),
            code if code.starts_with("08") => SqlFailure::Lost(wording),
            code if code == "42501" || code.starts_with("28") || code.starts_with("3D") => {
                SqlFailure::NotAllowed(wording)
            }
            _ => SqlFailure::Other(wording),
        }
    }
}
