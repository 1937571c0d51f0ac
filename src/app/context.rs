//! What a command is given: settings, service, journal, prompter, output, clock. Nothing is opened before it
//! is needed.

mod meter;
mod patience;

pub(crate) use meter::Waited;

use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::adapter::{Adapter, Dialect};
use crate::app::Setup;
use crate::app::in_flight::{Course, Situation};
use crate::client::{Answer, Call, Client, Connection, Failure, Trace};
use crate::config::{Environment, Paths, Service, Target};
use crate::journal::Journal;
use crate::outcome::{Error, Exit, Result};
use crate::platform::ownership;
use crate::sandbox::{self, Database, Sandbox};
use crate::secrets::{Item, KeySource, Secret, Vault};
use crate::terminal::output::Output;
use crate::terminal::prompt::Prompter;
use crate::webhook::Webhooks;

/// How long one request may take, answer included, unless `--timeout` says otherwise.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How often the embedded sandbox looks for deliveries while a command lasts: what one command books, a listener in
/// another terminal is to show within a second.
const EMBEDDED_DELIVERIES: Duration = Duration::from_millis(200);

/// Everything a command may touch.
pub(crate) struct Context {
    pub(crate) out: Output,
    pub(crate) prompter: Prompter,
    pub(crate) environment: Environment,
    /// What an interrupt now would have to say.
    pub(crate) situation: RefCell<Situation>,
    /// What a command that does many things would have to say instead.
    pub(crate) course: RefCell<Option<Course>>,
    paths: Paths,
    target: Target,
    /// How the embedded sandbox speaks.
    contract: Adapter,
    no_sandbox: bool,
    timeout: Option<Duration>,
    /// How long a rate limit may be waited out.
    max_wait: Cell<Duration>,
    waits_unless_said: bool,
    verbose: bool,
    client: OnceCell<Client>,
    embedded: OnceCell<Embedded>,
    journal: RefCell<Option<Journal>>,
}

/// The sandbox in this process: opened for its clock, served once something is sent.
struct Embedded {
    waiting: RefCell<Option<Sandbox>>,
    /// The sandbox's clock less our own.
    offset: SignedDuration,
}

impl Context {
    /// A context for the service that flags, environment and file choose.
    pub(crate) fn new(setup: Setup) -> Result<Self> {
        let target = setup.target()?;
        Ok(Context::with_target(setup, target))
    }

    /// The same for a command that can do without a service: one that is refused is not opened.
    pub(crate) fn without_need(mut setup: Setup) -> Result<Self> {
        setup.options.no_sandbox |= setup.target().is_err();
        let target = setup.target_or_none()?;
        Ok(Context::with_target(setup, target))
    }

    pub(crate) fn with_target(setup: Setup, target: Target) -> Self {
        Context {
            out: setup.out,
            prompter: setup.prompter,
            situation: RefCell::default(),
            course: RefCell::default(),
            no_sandbox: setup.options.no_sandbox,
            environment: setup.environment,
            paths: setup.paths,
            target,
            contract: Adapter::default(),
            timeout: setup.timeout,
            max_wait: Cell::new(setup.max_wait.unwrap_or_default()),
            waits_unless_said: setup.max_wait.is_none(),
            verbose: setup.verbose,
            client: OnceCell::new(),
            embedded: OnceCell::new(),
            journal: RefCell::new(None),
        }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Uses another key from now on.
    pub(crate) fn use_key(&mut self, key: Secret) {
        if let Target::Remote(service) = &mut self.target {
            service.key = Some(key);
        }
        self.client = OnceCell::new();
    }

    /// Uses another adapter from now on: `profile learn` tries what it found.
    pub(crate) fn use_adapter(&mut self, adapter: Adapter) {
        if let Target::Remote(service) = &mut self.target {
            service.adapter = adapter;
        }
        self.client = OnceCell::new();
    }

    /// How the service's documents differ from the contract's. The embedded sandbox speaks the contract.
    pub(crate) fn adapter(&self) -> &Adapter {
        match &self.target {
            Target::Embedded { .. } => &self.contract,
            Target::Remote(service) => &service.adapter,
        }
    }

    /// The names that the specification leaves open.
    pub(crate) fn dialect(&self) -> &Dialect {
        &self.adapter().dialect
    }

    /// Now, by the clock that the service goes by: the sandbox's own where it is embedded.
    pub(crate) fn now(&self) -> Result<Timestamp> {
        match &self.target {
            Target::Embedded { .. } => {
                let offset = self.embedded()?.offset;
                Ok(Timestamp::now()
                    .saturating_add(offset)
                    .unwrap_or(Timestamp::MAX))
            }
            Target::Remote(_) => Ok(self
                .client
                .get()
                .map_or_else(Timestamp::now, Client::service_now)),
        }
    }

    /// The service's clock for as long as a question stands: an embedded sandbox's may be moved meanwhile
    /// by another command.
    pub(crate) fn live_clock(&self) -> impl Fn() -> Timestamp {
        let watched = match &self.target {
            Target::Embedded { database, .. } => {
                Sandbox::open(sandbox::Options::new(Database::File(database.clone()))).ok()
            }
            Target::Remote(_) => None,
        };
        move || {
            let moved = watched.as_ref().and_then(|sandbox| sandbox.now().ok());
            moved
                .or_else(|| self.now().ok())
                .unwrap_or_else(Timestamp::now)
        }
    }

    /// The client of the service; the embedded sandbox starts here, in this process.
    pub(crate) fn client(&self) -> Result<&Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let connection = match &self.target {
            Target::Embedded {
                key, by_default, ..
            } => {
                let base = self.serve_embedded()?;
                if *by_default {
                    self.out.note("embedded sandbox: nothing is really booked");
                }
                let key = key
                    .clone()
                    .unwrap_or_else(|| Secret::new(sandbox::LIVE_KEY.to_owned()));
                self.connection(base, true, false, KeySource::Given(key))
            }
            Target::Remote(service) => {
                let base = service.base_url.join("");
                self.connection(
                    base,
                    service.base_url.is_loopback(),
                    service.base_url.is_https(),
                    self.key_source(service),
                )
            }
        };
        let client = Client::new(connection)?;
        Ok(self.client.get_or_init(|| client))
    }

    fn connection(&self, base: String, loopback: bool, https: bool, key: KeySource) -> Connection {
        let ca_file = match &self.target {
            Target::Embedded { .. } => None,
            Target::Remote(service) => service.ca_file.clone(),
        };
        Connection {
            base,
            loopback,
            https,
            key,
            ca_file,
            dialect: self.dialect().clone(),
            timeout: self.timeout.unwrap_or(REQUEST_TIMEOUT),
            trace: self.verbose.then(|| Box::new(Output::trace) as Trace),
        }
    }

    /// The environment's key, else the one that is stored for the profile and exactly this origin.
    fn key_source(&self, service: &Service) -> KeySource {
        match (&service.key, service.account()) {
            (Some(key), _) => KeySource::Given(key.clone()),
            (None, Some(account)) => KeySource::Stored {
                vault: Vault::new(self.paths.secrets.clone()),
                account,
                noted_origin: service.key_origin.clone(),
            },
            (None, None) => KeySource::Nowhere,
        }
    }

    /// The webhook secret that is stored for the profile and exactly this origin.
    pub(crate) async fn stored_webhook_secret(&self) -> Result<Option<Secret>> {
        let Target::Remote(service) = &self.target else {
            return Ok(None);
        };
        let Some(account) = service.account() else {
            return Ok(None);
        };
        let vault = Vault::new(self.paths.secrets.clone());
        let found = vault.find(&account, Item::WebhookSecret).await?;
        Ok(found.map(|found| found.secret))
    }

    fn embedded(&self) -> Result<&Embedded> {
        if let Some(embedded) = self.embedded.get() {
            return Ok(embedded);
        }
        let Target::Embedded { database, .. } = &self.target else {
            return Err(Error::config(
                "the profile does not point to the embedded sandbox",
            ));
        };
        ownership::refuse_others(database)?;
        let options = sandbox::Options {
            delivery_interval: EMBEDDED_DELIVERIES,
            ..sandbox::Options::new(Database::File(database.clone()))
        };
        let sandbox = Sandbox::open(options).map_err(|error| sandbox_error(&error))?;
        let now = sandbox.now().map_err(|error| sandbox_error(&error))?;
        let offset = now.duration_since(Timestamp::now());
        // Two readings of one clock differ by what lies between them.
        let offset = if offset.abs() < SignedDuration::from_secs(1) {
            SignedDuration::ZERO
        } else {
            offset
        };
        Ok(self.embedded.get_or_init(|| Embedded {
            waiting: RefCell::new(Some(sandbox)),
            offset,
        }))
    }

    /// Serves the embedded sandbox on a port of its own for as long as this command lasts; returns its address.
    fn serve_embedded(&self) -> Result<String> {
        let failed =
            |error: std::io::Error| Error::io("the embedded sandbox cannot be served", &error);
        let sandbox = self.embedded()?.waiting.borrow_mut().take();
        let sandbox =
            sandbox.ok_or_else(|| Error::config("the embedded sandbox is served already"))?;
        let listener =
            std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let base = format!("http://{}", listener.local_addr().map_err(failed)?);
        let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
        tokio::spawn(sandbox.serve(listener, None, std::future::pending()));
        Ok(base)
    }

    /// The journal, opened on first use.
    pub(crate) fn journal(&self) -> Result<RefMut<'_, Journal>> {
        let mut journal = self.journal.borrow_mut();
        if journal.is_none() {
            let profile = self.target.profile().map(str::to_owned);
            let mut opened = Journal::open(&self.paths.journal, self.target.origin(), profile)?
                .of_account(self.target.account());
            opened.keep_for(self.target.retention());
            *journal = Some(opened);
        }
        RefMut::filter_map(journal, Option::as_mut)
            .map_err(|_| Error::journal("the journal is not open"))
    }

    /// Sends a read; what may pass is tried again, and a rate limit waited out as long as `--max-wait` allows.
    pub(crate) async fn read(&self, call: Call) -> Result<Answer> {
        let client = self.client()?;
        let mut allowed = self.admit(&call, self.max_wait()).await?;
        loop {
            match client.read(&call).await {
                // Written with whatever the journal writes next: a read that went well waits for no disk.
                Ok(answer) => {
                    self.observe_allowance(&call);
                    return Ok(answer);
                }
                Err(failure) => {
                    self.note_allowance(&call);
                    allowed = self.pause_for_limit(failure, &call, allowed).await?;
                    allowed = self.admit(&call, allowed).await?;
                }
            }
        }
    }

    /// Whether a key would travel with a request, as far as that can be told without a look into a keyring.
    pub(crate) fn has_key(&self) -> bool {
        match &self.target {
            Target::Embedded { .. } => true,
            Target::Remote(service) => self.key_source(service).promises_a_key(),
        }
    }

    /// `--timeout`, for a command whose whole wait it limits.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    pub(crate) fn max_wait(&self) -> Duration {
        self.max_wait.get()
    }

    /// Lets rate limits be waited out as long as it takes, unless `--max-wait` says otherwise: for what goes on for
    /// longer than a window anyway.
    pub(crate) fn wait_for_limits(&self) {
        if self.waits_unless_said {
            self.max_wait.set(Duration::MAX);
        }
    }

    /// Refuses before a change where the profile only reads; names a real profile before anything is changed.
    pub(crate) fn before_change(&self) -> Result<()> {
        let Target::Remote(service) = &self.target else {
            return Ok(());
        };
        if service.read_only {
            let name = service.profile.as_deref().unwrap_or_default();
            return Err(Error::config(format!(
                "profile {name} is read-only: nothing is sent that would change something"
            )));
        }
        if let Some(profile) = &service.profile {
            self.out
                .note(&format!("profile {profile}: {}", service.base_url.origin()));
        }
        Ok(())
    }

    /// Whether a sandbox will do: `--no-sandbox` says that none does.
    pub(crate) fn takes_sandboxes(&self) -> bool {
        !self.no_sandbox
    }

    /// Under `--no-sandbox`, refuses a service whose index says that it is a sandbox.
    pub(crate) async fn refuse_sandbox(&self) -> Result<()> {
        if !self.no_sandbox {
            return Ok(());
        }
        let index = self.read(Call::get("/v1/")).await?;
        if index.document.value().get("sandbox") == Some(&Value::Bool(true)) {
            return Err(
                Error::config("the service is a sandbox, and --no-sandbox refuses any")
                    .hint("point the profile or BOOKCTL_BASE_URL to the real service"),
            );
        }
        Ok(())
    }

    /// A call of the sandbox's own surface; refused where the profile points to no sandbox.
    pub(crate) async fn control(&self, call: Call) -> Result<Answer> {
        if matches!(self.target, Target::Remote(_)) {
            // The index would say it too, but needs a key, which a sandbox's controls do not.
            let clock = self.client()?.send(&Call::get("/sandbox/clock")).await;
            let is_sandbox = match &clock {
                Ok(answer) => answer.document.str("now").is_some(),
                Err(
                    Failure::Refused(_)
                    | Failure::Unusable(_)
                    | Failure::Redirected { .. }
                    | Failure::Unreadable { .. },
                ) => false,
                // Whether it is one cannot be told: the call itself says why.
                Err(_) => true,
            };
            if !is_sandbox {
                return Err(Error::config("the profile points to no sandbox: nothing was changed").hint(
                    "use --profile sandbox for the embedded one, or BOOKCTL_BASE_URL for one that is served",
                ));
            }
        }
        self.read(call).await
    }

    /// Whether the service is a sandbox. An address elsewhere is asked for its index alone, and one that cannot be
    /// asked is none.
    pub(crate) async fn is_sandbox(&self) -> bool {
        let Target::Remote(service) = &self.target else {
            return true;
        };
        let call = match service.base_url.is_loopback() {
            true => Call::get("/sandbox/clock"),
            false if !self.has_key() => return false,
            false => Call::get("/v1/"),
        };
        match self.client() {
            Ok(client) => client.send(&call).await.is_ok_and(|answer| {
                let says = answer.document.value().get("sandbox");
                answer.document.str("now").is_some() || says == Some(&Value::Bool(true))
            }),
            Err(_) => false,
        }
    }

    /// What was delivered to this machine by the service.
    pub(crate) fn webhooks(&self) -> Result<Webhooks> {
        Webhooks::open(&self.paths.webhooks, self.target.origin())
    }

    /// Where the journal is, whether or not it can be used.
    pub(crate) fn journal_file(&self) -> &std::path::Path {
        &self.paths.journal
    }

    /// The file of the sandbox that `sandbox serve` and the embedded one share.
    pub(crate) fn sandbox_file(&self) -> &std::path::Path {
        &self.paths.sandbox
    }
}

fn sandbox_error(error: &sandbox::OpenError) -> Error {
    Error::config(format!("the sandbox cannot be used: {error}")).hint(error.hint())
}

/// Ctrl-C and SIGTERM, from the moment this is made.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self> {
        let listen = |kind| {
            signal(kind).map_err(|error| Error::io("signals cannot be listened for", &error))
        };
        Ok(Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// The next of them, as the exit code that it stands for.
    pub(crate) async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Terminated,
        }
    }
}
