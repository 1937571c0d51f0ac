//! The service that a command uses: its client, which is opened on first use, its clock, and what is
//! sent. Rate limits are waited out here, so that it has the journal and the terminal too.

mod exchange;
mod rate_limit;
mod sandbox;

pub(crate) use exchange::{Effect, Verdict};

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use crate::app::facts::UNNAMED_SANDBOX;
use crate::app::in_flight::{BatchProgress, InFlight};
use crate::app::{Facts, Records, Settings, Ui};
use crate::config::{BaseUrl, Place};
use crate::outcome::{Code, Error, Result};
use crate::sandbox::LIVE_KEY;
use crate::secrets::{KeySource, Secret};
use crate::service::client::refusal::request_id;
use crate::service::client::{Answer, Call, Client, Connection, Head, Trace};
use crate::service::mapping::Mapping;
use crate::service::time::duration::in_units;
use crate::terminal::output::{Output, Progress};

/// The time limit of one request, including its answer, without `--timeout`.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct Api {
    pub(super) ui: Rc<Ui>,
    pub(super) settings: Rc<Settings>,
    pub(super) records: Rc<Records>,
    pub(crate) facts: Facts,
    pub(crate) in_flight: RefCell<InFlight>,
    pub(crate) batch_progress: RefCell<Option<BatchProgress>>,
    /// Whether rate limits are waited out for as long as it takes where `--max-wait` says nothing.
    pub(super) waits_out_limits: Cell<bool>,
    /// Whether calls of the service are in what `--verbose` shows. Counts before the first of them.
    pub(crate) shows_calls: Cell<bool>,
    pub(super) client: OnceCell<Client>,
    /// Whether the service is a sandbox, once it was asked; `None` if it did not answer.
    pub(super) is_sandbox: tokio::sync::OnceCell<Option<bool>>,
}

impl Api {
    pub(crate) fn use_key(&mut self, key: Secret) {
        Rc::make_mut(&mut self.facts.target).key = Some(key);
        self.client = OnceCell::new();
    }

    /// Uses another mapping from now on: `profile learn` tries what it found.
    pub(crate) fn use_mapping(&mut self, mapping: Mapping) {
        if let Place::Service(service) = &mut Rc::make_mut(&mut self.facts.target).place {
            service.settings.mapping = mapping;
            self.client = OnceCell::new();
        }
    }

    /// The client of the service. The sandbox starts with the first call of this.
    pub(crate) fn client(&self) -> Result<&Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let (base, url, key) = match &self.facts.target.place {
            Place::Sandbox { by_default, .. } => {
                let base = self.facts.serve_embedded()?;
                if *by_default {
                    self.ui.out.note(UNNAMED_SANDBOX);
                }
                let key = self.facts.target.key.clone();
                let key = key.unwrap_or_else(|| Secret::new(LIVE_KEY.to_owned()));
                (base, None, KeySource::Given(key))
            }
            Place::Service(service) => {
                let url = &service.base_url;
                (url.join(""), Some(url), self.facts.key_source(service))
            }
        };
        let (service, shows_calls) = (self.facts.target.service(), self.shows_calls.get());
        let client = Client::new(Connection {
            base,
            loopback: url.is_none_or(BaseUrl::is_loopback),
            https: url.is_some_and(BaseUrl::is_https),
            key,
            ca_file: service.and_then(|service| service.settings.ca_file.clone()),
            mapping: self.facts.mapping().clone(),
            skew: Rc::clone(&self.facts.skew),
            speaks_contract: Rc::clone(&self.facts.speaks_contract),
            timeout: self.settings.timeout.unwrap_or(REQUEST_TIMEOUT),
            trace: shows_calls.then(|| Box::new(Output::trace) as Trace),
        })?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Shows that a request is under way, and how long each try may take.
    pub(crate) fn requesting(&self, what: &str) -> Progress {
        let limit = in_units(self.settings.timeout.unwrap_or(REQUEST_TIMEOUT).as_secs());
        self.ui.out.progress(&format!("{what}, up to {limit} a try"))
    }

    /// Sends a read. Retries temporary failures, and waits for a rate limit up to `--max-wait`.
    pub(crate) async fn read(&self, call: Call) -> Result<Answer> {
        self.result(self.exchange(&call, Effect::Read).await, &call)
    }

    /// Sends a read once, and waits for nothing: the caller reads again later.
    pub(crate) async fn read_now(&self, call: &Call) -> Result<Answer> {
        self.client()?.send(call).await.map_err(|failure| failure.into_error(call))
    }

    /// Adds to the error of an answer that came, and was not understood, which call it answers.
    pub(crate) fn with_request(&self, mut error: Error) -> Error {
        let is_misread = error.code == Code::UnexpectedAnswer && error.body.is_some();
        let last = self.client.get().and_then(|it| it.answered.take());
        let Some((call, Head { status, headers })) = last else { return error };
        let (status, request_id) = (status.as_u16(), request_id(&headers));
        if is_misread && error.http_status.is_none() {
            (error.request, error.http_status) = (Some(call.clone()), Some(status));
        }
        if error.request.as_ref() == Some(&call) && error.http_status == Some(status) {
            error.request_id = error.request_id.take().or(request_id);
        }
        error
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
}
