//! A PostgreSQL database: its connection, and work that is repeated where the connection was lost.

use std::cell::{Cell as Flag, RefCell};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{Address, Encryption};
use super::driver::Driver;
use super::failure::Failure;
use super::session::{Guard, Session, failed};
use crate::platform::crypto;
use crate::platform::sql::{Answer, Statements, Trouble};

/// The longest that making a connection may take.
const CONNECT: Duration = Duration::from_secs(5);

/// A database, connected to when it is first used.
pub(crate) struct Database {
    pub(crate) address: Address,
    login: Login,
    driver: Driver,
    client: RefCell<Option<Arc<Client>>>,
    connecting: RefCell<Option<JoinHandle<Result<Client, Failure>>>>,
    /// Whether this connection has loaded ahead.
    has_loaded: Flag<bool>,
    /// Whether a connection was ever made: what worked once is waited for.
    was_connected: Flag<bool>,
    guard: Option<Guard>,
    /// Whether the guard holds for this connection.
    is_checked: Flag<bool>,
}

#[derive(Clone)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: Option<String>,
}

impl Database {
    /// Starts the thread. Connects to nothing yet.
    pub(crate) fn new(address: Address, login: Login) -> std::io::Result<Self> {
        let driver = Driver::start(format!("the journal at {}", address.place()))?;
        Ok(Database {
            address,
            login,
            driver,
            client: RefCell::new(None),
            connecting: RefCell::new(None),
            has_loaded: Flag::new(false),
            was_connected: Flag::new(false),
            guard: None,
            is_checked: Flag::new(false),
        })
    }

    /// The same, used only if `guard` holds.
    pub(crate) fn guarded(self, guard: Guard) -> Self {
        Database {
            guard: Some(guard),
            ..self
        }
    }

    /// The same, which waits for answers as long as it takes: a statement may go through all rows.
    pub(crate) fn patient(self) -> Self {
        Database {
            driver: self.driver.patient(),
            ..self
        }
    }

    /// Runs `work` in one transaction, and returns when it is committed on the server's disk.
    ///
    /// `work` may be run several times: where another transaction was in the way, and where a commit's answer was lost.
    /// Whether that commit was done is not known then, so `work` has to find what it may have done already.
    pub(crate) fn transaction<T>(&self, work: &dyn Fn(&dyn Statements) -> Answer<T>) -> Answer<T> {
        self.until_it_works(|client| {
            let session = self.session(client).in_a_transaction();
            match work(&session) {
                Ok(value) => session.commit().map(|()| value),
                Err(why) => {
                    session.roll_back();
                    Err(why)
                }
            }
        })
    }

    /// Runs statements that change nothing, each by itself.
    pub(crate) fn read<T>(&self, work: &dyn Fn(&dyn Statements) -> Answer<T>) -> Answer<T> {
        self.until_it_works(|client| work(&self.session(client)))
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
        if let Some(client) = self.client.borrow().clone()
            && !self.has_loaded.replace(true)
        {
            self.driver.spawn(async move {
                let _ = client.query_typed(query, &[]).await;
            });
        }
    }

    fn session(&self, client: Arc<Client>) -> Session<'_> {
        Session::new(&self.driver, client, self.guard, &self.is_checked)
    }

    fn until_it_works<T>(&self, run: impl Fn(Arc<Client>) -> Answer<T>) -> Answer<T> {
        let mut wait = self.driver.patience();
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
        let begun = self.connecting.take();
        let client = match begun {
            Some(begun) => self.driver.wait(async move {
                let ended = |_| Failure::Lost("its thread has ended".to_owned());
                begun.await.map_err(ended)?
            }),
            None => self.driver.wait(self.connecting()?),
        }?;
        let client = Arc::new(client);
        self.client.replace(Some(client.clone()));
        self.was_connected.set(true);
        self.is_checked.set(self.guard.is_none());
        self.has_loaded.set(false);
        Ok(client)
    }

    /// Connects, within the limit.
    fn connecting(&self) -> Answer<impl Future<Output = Result<Client, Failure>> + Send + 'static> {
        let tls = match self.address.encryption() {
            Encryption::None => None,
            Encryption::Verified => {
                let config = self.tls().map_err(|why| unreachable(&why))?;
                Some(MakeRustlsConnect::new(config))
            }
        };
        let connecting = connect(self.config(), tls);
        Ok(async move {
            let limited = tokio::time::timeout(CONNECT, connecting).await;
            limited.unwrap_or_else(|_| {
                let seconds = CONNECT.as_secs();
                Err(Failure::Unreachable(format!("no answer in {seconds} s")))
            })
        })
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
        crypto::install_provider();
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

fn unreachable(why: &dyn fmt::Display) -> Trouble {
    Trouble::Postgres(Failure::Unreachable(why.to_string()))
}

fn not_connected(error: tokio_postgres::Error) -> Failure {
    match (failed(&error), error.as_db_error()) {
        (Failure::Lost(reason), None) => Failure::Unreachable(reason),
        (failure, _) => failure,
    }
}
