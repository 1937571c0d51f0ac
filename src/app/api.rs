//! The service that a command uses: its client, which is opened on first use, its clock, and what is
//! sent. Rate limits are waited out here, so that it has the journal and the terminal too.

mod rate_limit;
mod sandbox;

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use jiff::SignedDuration;

use crate::app::in_flight::{BatchProgress, InFlight};
use crate::app::{Records, Settings, Ui};
use crate::config::{BaseUrl, Service, Target};
use crate::outcome::{Code, Error, Result};
use crate::sandbox::{LIVE_KEY, OpenError, Sandbox};
use crate::secrets::{Item, KeySource, Secret, Vault};
use crate::service::client::{Answer, Call, Client, Connection, Trace};
use crate::service::documents::certainty::Certainty;
use crate::service::mapping::{Adapter, Dialect};
use crate::service::time::duration::in_units;
use crate::terminal::output::{Output, Progress};

/// The time limit of one request, including its answer, without `--timeout`.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Who named no service reads it: a note, and after a write a line that `--quiet` does not hide.
const UNNAMED_SANDBOX: &str = "sandbox: nothing is really booked";

pub(crate) struct Api {
    ui: Rc<Ui>,
    settings: Rc<Settings>,
    records: Rc<Records>,
    target: Rc<Target>,
    pub(crate) in_flight: RefCell<InFlight>,
    pub(crate) batch_progress: RefCell<Option<BatchProgress>>,
    /// How the sandbox speaks.
    contract: Adapter,
    /// Whether rate limits are waited out for as long as it takes where `--max-wait` says nothing.
    waits_out_limits: Cell<bool>,
    /// Whether calls of the service are in what `--verbose` shows. Counts before the first of them.
    pub(crate) shows_calls: Cell<bool>,
    client: OnceCell<Client>,
    embedded: OnceCell<Embedded>,
    /// Whether the service is a sandbox, once it was asked; `None` if it did not answer.
    is_sandbox: tokio::sync::OnceCell<Option<bool>>,
}

/// The sandbox. It is opened when its clock is read, and served when the first request is sent.
struct Embedded {
    /// Until it is served.
    waiting: RefCell<Option<Sandbox>>,
    base: OnceCell<String>,
    /// The sandbox's clock minus ours.
    skew: SignedDuration,
}

impl Api {
    pub(super) fn new(
        ui: &Rc<Ui>,
        settings: &Rc<Settings>,
        records: &Rc<Records>,
        target: Rc<Target>,
    ) -> Self {
        Api {
            ui: Rc::clone(ui),
            records: Rc::clone(records),
            target,
            in_flight: RefCell::default(),
            batch_progress: RefCell::default(),
            contract: Adapter::default(),
            waits_out_limits: Cell::default(),
            shows_calls: Cell::new(settings.verbose),
            settings: Rc::clone(settings),
            client: OnceCell::new(),
            embedded: OnceCell::new(),
            is_sandbox: tokio::sync::OnceCell::new(),
        }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn use_key(&mut self, key: Secret) {
        if let Target::Remote(service) = Rc::make_mut(&mut self.target) {
            service.key = Some(key);
        }
        self.client = OnceCell::new();
    }

    /// Uses another adapter from now on: `profile learn` tries what it found.
    pub(crate) fn use_adapter(&mut self, adapter: Adapter) {
        if let Target::Remote(service) = Rc::make_mut(&mut self.target) {
            service.adapter = adapter;
        }
        self.client = OnceCell::new();
    }

    /// How the service's documents differ from the contract's. The sandbox speaks the contract.
    pub(crate) fn adapter(&self) -> &Adapter {
        let service = self.target.service();
        service.map_or(&self.contract, |service| &service.adapter)
    }

    /// The path of the service's base URL, without a slash at its end.
    pub(crate) fn base_path(&self) -> &str {
        let service = self.target.service();
        service.map_or("", |service| service.base_url.path())
    }

    /// How much of the contract is known to hold at the service.
    pub(crate) fn certainty(&self) -> Certainty {
        let is_embedded = self.target.service().is_none();
        if is_embedded || self.client.get().is_some_and(|it| it.speaks_contract.get()) {
            Certainty::Contract
        } else {
            Certainty::Specification
        }
    }

    pub(crate) fn dialect(&self) -> &Dialect {
        &self.adapter().dialect
    }

    /// The client of the service. The sandbox starts with the first call of this.
    pub(crate) fn client(&self) -> Result<&Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let connection = match &*self.target {
            Target::Embedded { key, by_default, .. } => {
                let base = self.serve_embedded()?;
                if *by_default {
                    self.ui.out.note(UNNAMED_SANDBOX);
                }
                let key = key.clone();
                let key = key.unwrap_or_else(|| Secret::new(LIVE_KEY.to_owned()));
                self.connection(base, None, KeySource::Given(key))
            }
            Target::Remote(service) => {
                let url = &service.base_url;
                self.connection(url.join(""), Some(url), self.key_source(service))
            }
        };
        let client = Client::new(connection)?;
        Ok(self.client.get_or_init(|| client))
    }

    fn connection(&self, base: String, url: Option<&BaseUrl>, key: KeySource) -> Connection {
        let service = self.target.service();
        let shows_calls = self.shows_calls.get();
        Connection {
            base,
            loopback: url.is_none_or(BaseUrl::is_loopback),
            https: url.is_some_and(BaseUrl::is_https),
            key,
            ca_file: service.and_then(|service| service.ca_file.clone()),
            adapter: self.adapter().clone(),
            skew: Rc::clone(&self.records.skew),
            timeout: self.settings.timeout.unwrap_or(REQUEST_TIMEOUT),
            trace: shows_calls.then(|| Box::new(Output::trace) as Trace),
        }
    }

    /// Shows that a request is under way, and how long each try may take.
    pub(crate) fn requesting(&self, what: &str) -> Progress {
        let limit = in_units(self.settings.timeout.unwrap_or(REQUEST_TIMEOUT).as_secs());
        self.ui.out.progress(&format!("{what}, up to {limit} a try"))
    }

    /// The key in the environment, else the one stored for the profile and this origin.
    fn key_source(&self, service: &Service) -> KeySource {
        match (&service.key, service.account()) {
            (Some(key), _) => KeySource::Given(key.clone()),
            (None, Some(account)) => KeySource::Stored {
                vault: Vault::new(self.settings.paths.secrets.clone()),
                account,
                noted_origin: service.key_origin.clone(),
            },
            (None, None) => KeySource::Nowhere,
        }
    }

    /// The webhook secret that is stored for the profile and exactly this origin.
    pub(crate) async fn stored_webhook_secret(&self) -> Result<Option<Secret>> {
        let Some(account) = self.target.service().and_then(Service::account) else {
            return Ok(None);
        };
        let vault = Vault::new(self.settings.paths.secrets.clone());
        let found = vault.find(&account, Item::WebhookSecret).await?;
        Ok(found.map(|found| found.secret))
    }

    /// Sends a read. Retries temporary failures, and waits for a rate limit up to `--max-wait`.
    pub(crate) async fn read(&self, call: Call) -> Result<Answer> {
        let client = self.client()?;
        let mut allowed = self.admit(&call, self.max_wait()).await?;
        loop {
            let is_service = !call.is_control;
            let progress = is_service.then(|| self.requesting("waiting for the service"));
            let answer = client.read(&call).await;
            drop(progress);
            match answer {
                // Written together with the next write to the journal: a successful read does not
                // wait for the disk.
                Ok(answer) => {
                    self.observe_rate_limit(&call);
                    return Ok(answer);
                }
                Err(failure) => {
                    self.record_rate_limit(&call);
                    allowed = self.pause_for_rate_limit(failure, &call, allowed).await?;
                    allowed = self.admit(&call, allowed).await?;
                }
            }
        }
    }

    /// Sends a read once, and waits for nothing: the caller reads again later.
    pub(crate) async fn read_now(&self, call: &Call) -> Result<Answer> {
        let answer = self.client()?.send(call).await;
        answer.map_err(|failure| failure.into_error(call))
    }

    /// Adds to the error of an answer that came, and was not understood, which call it answers.
    pub(crate) fn naming_call(&self, mut error: Error) -> Error {
        let is_misread = error.code == Code::UnexpectedAnswer && error.body.is_some();
        let last = self.client.get().and_then(|it| it.answered.take());
        let Some((call, status, request_id)) = last else { return error };
        if is_misread && error.http_status.is_none() {
            (error.request, error.http_status) = (Some(call.clone()), Some(status));
        }
        if error.request.as_ref() == Some(&call) && error.http_status == Some(status) {
            error.request_id = error.request_id.take().or(request_id);
        }
        error
    }

    /// Whether a request would carry a key, as far as that is known without opening a keyring.
    pub(crate) fn has_key(&self) -> bool {
        let service = self.target.service();
        service.is_none_or(|service| self.key_source(service).promises_a_key())
    }

    /// How long a rate limit may be waited out.
    pub(crate) fn max_wait(&self) -> Duration {
        let otherwise = if self.waits_out_limits.get() { Duration::MAX } else { Duration::ZERO };
        self.settings.max_wait.unwrap_or(otherwise)
    }

    /// Waits out rate limits as long as it takes, unless `--max-wait` is set: for commands that
    /// outlast a window anyway.
    pub(crate) fn wait_for_rate_limits(&self) {
        self.waits_out_limits.set(true);
    }

    /// The service that is not the sandbox: its profile and its address.
    pub(crate) fn named_service(&self) -> Option<String> {
        let service = self.target.service()?;
        let address = service.base_url.address();
        Some(match &service.profile {
            Some(profile) => format!("profile {profile}: {address}"),
            None => format!("BOOKCTL_BASE_URL: {address}"),
        })
    }

    /// Refuses a change if the profile is read-only, and names the service before it changes.
    pub(crate) fn before_change(&self) -> Result<()> {
        let Some(service) = self.target.service() else {
            if self.ui.out.quiet
                && matches!(&*self.target, Target::Embedded { by_default: true, .. })
            {
                Output::trace(UNNAMED_SANDBOX);
            }
            return Ok(());
        };
        if service.read_only {
            let name = service.profile.as_deref().unwrap_or_default();
            return Err(Error::config(format!("profile {name} is read-only; nothing was sent"))
                .hint(self.adapter().set_command("read_only=false")));
        }
        if let Some(named) = self.named_service() {
            self.ui.out.note(&named);
        }
        Ok(())
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        Error::config(error.to_string()).hint(error.hint())
    }
}
