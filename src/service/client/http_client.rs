//! The HTTP client: limited in time and size, follows no redirects, speaks JSON.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue};
use tokio::sync::OnceCell;

use super::answer::{Answer, Head, read_answer, read_bounded};
use super::call::Call;
use super::credential::{self, shown_headers, shown_path};
use super::failure::{Cause, Failure};
use super::rate_limit::{RateLimit, ShownLimit, http_date};
use super::wire_trace::WireTrace;
use crate::outcome::{Code, Error, Result};
use crate::platform::{http_client, pace};
use crate::secrets::{KeySource, Secret};
use crate::service::mapping::Mapping;

/// The time limit for connecting: an unreachable address is reported within 3 s.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(2500);
pub(crate) type Trace = Box<dyn Fn(&str)>;

pub(crate) struct Connection {
    /// The base URL without a trailing slash.
    pub(crate) base: String,
    pub(crate) loopback: bool,
    pub(crate) https: bool,
    pub(crate) key: KeySource,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) mapping: Mapping,
    pub(crate) timeout: Duration,
    pub(crate) trace: Option<Trace>,
    /// The service's time minus ours, from the `Date` header of the last answer.
    pub(crate) skew: Rc<Cell<Option<SignedDuration>>>,
    /// Whether the last answer said that it comes from a sandbox that speaks the contract.
    pub(crate) speaks_contract: Rc<Cell<bool>>,
}

pub(crate) struct Client {
    http: reqwest::Client,
    /// The same client with a new connection for each request.
    without_pool: OnceCell<reqwest::Client>,
    pub(crate) connection: Connection,
    key: OnceCell<Option<Secret>>,
    pub(crate) rate_limit: Cell<Option<ShownLimit>>,
    /// The last call, if it was answered, and the head of its answer.
    pub(crate) answered: RefCell<Option<(String, Head)>>,
}

impl Client {
    pub(crate) fn new(connection: Connection) -> Result<Self> {
        Ok(Client {
            http: http_client(&connection, usize::MAX)?,
            without_pool: OnceCell::new(),
            connection,
            key: OnceCell::new(),
            rate_limit: Cell::default(),
            answered: RefCell::default(),
        })
    }

    async fn http(&self, call: &Call) -> Result<&reqwest::Client, Failure> {
        // On a used connection, a surplus answer to an earlier request would be taken for the answer
        // to this one, and a service may be about to close it.
        if !call.is_write() {
            return Ok(&self.http);
        }
        let build = async || http_client(&self.connection, 0);
        let client = self.without_pool.get_or_try_init(build).await;
        client.map_err(|error: Error| Failure::not_sent(&error.message))
    }

    /// The current time by the service's clock, as far as its answers have shown it.
    pub(crate) fn service_now(&self) -> Timestamp {
        Timestamp::now()
            .saturating_add(self.connection.skew.get().unwrap_or_default())
            .unwrap_or(Timestamp::MAX)
    }

    /// The key for a call. A call that needs no key opens no keyring.
    async fn key(&self, call: &Call) -> Result<Option<&Secret>, Failure> {
        let source = &self.connection.key;
        if call.is_of_a_sandbox() && !matches!(source, KeySource::Given(_)) {
            return Ok(None);
        }
        let key = self.key.get_or_try_init(|| source.find()).await;
        match key.map_err(|error| Failure::Failed(Cause::Key, error))? {
            Some(key) => Ok(Some(key)),
            None => Err(Failure::no_key(&self.connection.base)),
        }
    }

    fn headers(&self, call: &Call, key: Option<&Secret>) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let mapping = &self.connection.mapping;
            if let Some((name, value)) = credential::header(mapping, key) {
                let (name, mut value) = header(name, &value, "").map_err(|_| {
                    // Such as the end of its line.
                    let what = "the API key has a character that no header can have";
                    let hint = "set BOOKCTL_API_KEY again, or store the key again with `bookctl auth login`";
                    Failure::Failed(Cause::Key, Error::new(Code::NoKey, what).hint(hint))
                })?;
                value.set_sensitive(true);
                headers.insert(name, value);
            }
            for (name, value) in &mapping.transport.headers {
                if value.contains(key.expose()) {
                    return Err(Failure::not_sent(format!(
                        "headers.{name} of the profile holds the API key, which config.toml must not contain"
                    )));
                }
                let (name, value) = header(name, value, "profile's header")?;
                headers.entry(name).or_insert(value);
            }
        }
        if let Some(key) = &call.idempotency_key {
            headers.extend([header("idempotency-key", key, "idempotency key")?]);
        }
        for (name, value) in &call.headers {
            let (name, value) = header(name, value, &format!("header {name}"))?;
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// Sends the call once. A 2xx JSON document is an [`Answer`], all else a [`Failure`].
    pub(crate) async fn send(&self, call: &Call) -> Result<Answer, Failure> {
        self.send_with(call, self.key(call).await?).await
    }

    /// Sends the call until it is answered, or `again` names no pause after a failed try (from 1).
    pub(crate) async fn send_until(
        &self,
        call: &Call,
        mut again: impl FnMut(&mut Failure, u32) -> Option<Duration>,
    ) -> Result<Answer, Failure> {
        let mut tried = 0;
        loop {
            tried += 1;
            let mut failure = match self.send(call).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            match again(&mut failure, tried) {
                Some(pause) => pace::pause(pause).await,
                None => return Err(failure),
            }
        }
    }

    /// Reads an answer: a refusal as the profile says. A refused key's error shows how it was sent.
    fn read_answer(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        (body, is_cut): (Vec<u8>, bool),
    ) -> Result<Answer, Failure> {
        let mut answer = read_answer(status, headers, &body, is_cut);
        let mapping = &self.connection.mapping;
        if let Err(Failure::Refused(refusal)) = &mut answer {
            if let Some(translated) = mapping.refusal(&refusal.body) {
                refusal.translate(translated);
            }
            if status == StatusCode::UNAUTHORIZED {
                refusal.key_sent = Some(credential::described(mapping));
            }
        }
        answer
    }

    pub(crate) async fn send_with(
        &self,
        call: &Call,
        key: Option<&Secret>,
    ) -> Result<Answer, Failure> {
        self.answered.take();
        let headers = self.headers(call, key)?;
        let mapping = &self.connection.mapping;
        let trace = WireTrace { sink: self.connection.trace.as_deref(), dialect: &mapping.dialect };
        let path = shown_path(mapping, key.is_some(), call);
        let name = format!("{} {path}", call.method);
        trace.request(&name, call, &shown_headers(mapping, key.is_some(), call));
        let path = credential::path(mapping, key.map(Secret::expose), &call.path);
        let url = format!("{}{path}", self.connection.base);
        let http = self.http(call).await?;
        let mut request = http.request(call.method.clone(), url).headers(headers.clone());
        if let Some(body) = &call.body {
            if !headers.contains_key(CONTENT_TYPE) {
                request = request.header(CONTENT_TYPE, "application/json");
            }
            request = request.body(body.text().to_owned());
        }
        self.rate_limit.set(None);
        let began = Instant::now();
        let exchange = async {
            let response = request.send().await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = read_bounded(response).await?;
            Ok((status, headers, body))
        };
        let outcome = tokio::time::timeout(self.connection.timeout, exchange)
            .await
            .unwrap_or(Err(Failure::timed_out(self.connection.timeout)));
        let (status, headers, body) = outcome?;
        trace.answer(status.as_u16(), &headers, &body.0, began.elapsed());
        self.observe_clock(&headers);
        self.connection.speaks_contract.set(headers.contains_key("bookctl-contract"));
        let limit = RateLimit::from_headers(status, &headers);
        self.rate_limit.set((limit.is_some() || status.is_success()).then_some(limit));
        let answer = self.read_answer(status, &headers, body);
        self.answered.replace(Some((call.name(), Head { status, headers })));
        answer
    }

    fn observe_clock(&self, headers: &HeaderMap) {
        let Some(date) = headers.get(DATE).and_then(http_date) else {
            return;
        };
        let mut skew = date.duration_since(Timestamp::now());
        // `Date` has a resolution of one second, so a smaller difference means nothing.
        if skew.abs() < SignedDuration::from_secs(2) {
            skew = SignedDuration::ZERO;
        }
        self.connection.skew.set(Some(skew));
    }
}

fn header(name: &str, value: &str, what: &str) -> Result<(HeaderName, HeaderValue), Failure> {
    let header = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
    header.ok_or_else(|| Failure::not_sent(format!("the {what} is not valid in a header")))
}

/// A client that keeps at most so many connections for the requests that follow.
fn http_client(connection: &Connection, most_idle: usize) -> Result<reqwest::Client> {
    let authorities = match &connection.ca_file {
        Some(file) => Some(http_client::authorities(file)?),
        None => connection.https.then(Vec::new),
    };
    // Requests to this computer do not go through a proxy.
    let builder = http_client::builder(connection.loopback, authorities)
        .user_agent(http_client::USER_AGENT)
        // A connection that cannot be established has to be reported as such, not as a lost answer.
        .connect_timeout(CONNECT_TIMEOUT.min(connection.timeout.mul_f32(0.75)))
        .pool_max_idle_per_host(most_idle);
    http_client::build(builder).map_err(|error| {
        error.hint("install the system's certificate authorities (ca-certificates), or set ca_file in the profile")
    })
}
