//! One HTTP client: bounded in time and size, follows no redirect, speaks JSON.

use std::cell::Cell;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Method, StatusCode, Url};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::allowance::Allowance;
use super::dialect::Dialect;
use super::failure::{Failure, Refusal};
use super::wire_trace::WireTrace;
use crate::error::{Error, Result, reason};
use crate::exit::Exit;
use crate::model::document::Document;
use crate::regular_file;
use crate::secrets::{KeySource, Secret};

/// How long a connection may take to come about: an unreachable address is said within 3 s.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(2500);
/// The largest answer that is read. The service's own documents are a few kilobytes.
const MAX_ANSWER: usize = 16 * 1024 * 1024;
/// The most values that an answer may hold: in memory each takes far more room than in its text.
const MAX_VALUES: usize = 250_000;

/// Takes the lines of `--verbose`.
pub(crate) type Trace = Box<dyn Fn(&str)>;

/// Where to and how.
pub(crate) struct Connection {
    /// Base address without a slash at its end.
    pub(crate) base: String,
    pub(crate) loopback: bool,
    pub(crate) https: bool,
    pub(crate) key: KeySource,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) dialect: Dialect,
    /// How long one request may take, answer included.
    pub(crate) timeout: Duration,
    /// Takes a line for each request and answer, redacted.
    pub(crate) trace: Option<Trace>,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// Path under the base address; its segments are encoded already.
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
    pub(crate) idempotency_key: Option<String>,
    /// Further headers, as `bookctl api -H` gives them.
    pub(crate) headers: Vec<(String, String)>,
}

impl Call {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Call {
            method: Method::GET,
            path: path.into(),
            body: None,
            idempotency_key: None,
            headers: Vec::new(),
        }
    }

    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        Call {
            method: Method::POST,
            path: path.into(),
            body: Some(body),
            idempotency_key: None,
            headers: Vec::new(),
        }
    }

    pub(crate) fn put(path: impl Into<String>, body: Value) -> Self {
        Call {
            method: Method::PUT,
            ..Call::post(path, body)
        }
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Call {
            method: Method::DELETE,
            ..Call::get(path)
        }
    }

    /// Whether the service may have done something when no answer came.
    pub(crate) fn is_write(&self) -> bool {
        // The two searches are reads that travel as POST; a sandbox's own controls book nothing.
        let path = self.path.split(['?', '#']).next().unwrap_or_default();
        self.method != Method::GET && !path.ends_with("/search") && !self.is_of_a_sandbox()
    }

    /// Whether it goes to a sandbox's own surface, which needs no key.
    fn is_of_a_sandbox(&self) -> bool {
        self.path.starts_with("/sandbox/")
    }

    /// An id as exactly one path segment, whatever is in it: it can neither climb nor ask.
    pub(crate) fn segment(id: &str) -> String {
        let mut encoded = String::new();
        for byte in id.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    encoded.push(char::from(byte))
                }
                _ => encoded.push_str(&format!("%{byte:02X}")),
            }
        }
        // A lone dot climbs even where it is encoded, and nothing is another path: neither is an id.
        match encoded.as_str() {
            "" | "." | ".." => "%20".to_owned(),
            _ => encoded,
        }
    }

    /// A text as the value of a query: it can neither end it nor start another.
    pub(crate) fn query_value(text: &str) -> String {
        let url = Url::parse_with_params("http://x", [("", text)]).ok();
        let query = url.as_ref().and_then(Url::query).unwrap_or_default();
        query.trim_start_matches('=').to_owned()
    }

    /// `METHOD /path`, as errors name it.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// A 2xx answer with a JSON document.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) document: Document,
}

/// An answer with its status line and headers.
#[derive(Debug)]
pub(crate) struct RawAnswer {
    pub(crate) head: Head,
    pub(crate) answer: Result<Document, Failure>,
}

/// Status and headers of an answer; shown as `HTTP 200 OK`, then a header a line.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    /// In their order; bytes that are no UTF-8 are replaced.
    pub(crate) headers: Vec<(String, String)>,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP {}", self.status)?;
        for (name, value) in &self.headers {
            write!(f, "\n{name}: {value}")?;
        }
        Ok(())
    }
}

/// The client of one service.
pub(crate) struct Client {
    http: reqwest::Client,
    connection: Connection,
    /// The key, once it was looked up.
    key: OnceCell<Option<Secret>>,
    /// Service time less our own, as the last answer's `Date` showed it.
    skew: Cell<Option<SignedDuration>>,
    /// What the last answer said is left of its rate limit.
    allowance: Cell<Option<Allowance>>,
}

impl Client {
    pub(crate) fn new(connection: Connection) -> Result<Self> {
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("bookctl/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .http1_title_case_headers()
            .referer(false)
            // A connection that does not come about is known as such: it must not look like a lost answer.
            .connect_timeout(CONNECT_TIMEOUT.min(connection.timeout.mul_f32(0.75)))
            .tcp_nodelay(true);
        if connection.loopback {
            // A proxy has no business between us and this machine.
            builder = builder.no_proxy();
        }
        if let Some(file) = &connection.ca_file {
            builder = builder.tls_certs_merge(authorities(file)?);
        } else if !connection.https {
            // Loading the system's authorities takes longer than the request, and fails where there are none.
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().map_err(|error| {
            Error::new("network", Exit::Network, format!("TLS cannot be set up: {}", root_cause(&error)))
                .hint("install the system's certificate authorities (ca-certificates), or set ca_file in the profile")
        })?;
        Ok(Client {
            http,
            connection,
            key: OnceCell::new(),
            skew: Cell::default(),
            allowance: Cell::default(),
        })
    }

    pub(crate) fn dialect(&self) -> &Dialect {
        &self.connection.dialect
    }

    /// Now, by the service's clock as far as its answers show it.
    pub(crate) fn service_now(&self) -> Timestamp {
        Timestamp::now()
            .saturating_add(self.skew.get().unwrap_or_default())
            .unwrap_or(Timestamp::MAX)
    }

    /// The service's clock less ours; `None` before an answer showed it.
    pub(crate) fn skew(&self) -> Option<SignedDuration> {
        self.skew.get()
    }

    /// What the last answer said is left of its rate limit.
    pub(crate) fn allowance(&self) -> Option<Allowance> {
        self.allowance.get()
    }

    /// Whether the service is on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        self.connection.loopback
    }

    /// The key for a call: one that needs none goes without a look into any keyring.
    async fn key(&self, call: &Call) -> Result<Option<&Secret>, Failure> {
        let source = &self.connection.key;
        if call.is_of_a_sandbox() && !matches!(source, KeySource::Given(_)) {
            return Ok(None);
        }
        let key = self.key.get_or_try_init(|| source.find()).await;
        match key.map_err(Failure::Key)? {
            Some(key) => Ok(Some(key)),
            None => Err(Failure::NoKey(self.connection.base.clone())),
        }
    }

    fn headers(&self, call: &Call, key: Option<&Secret>) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let unusable =
                |what: &str| Failure::NotSent(format!("the {what} cannot travel in a header"));
            let name = HeaderName::try_from(self.dialect().auth_header.as_str())
                .map_err(|_| unusable("dialect's auth_header"))?;
            let mut value = HeaderValue::try_from(credential(self.dialect(), key.expose()))
                .map_err(|_| unusable("API key"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        if let Some(key) = &call.idempotency_key {
            let value = HeaderValue::try_from(key.as_str()).map_err(|_| {
                Failure::NotSent("the idempotency key cannot travel in a header".to_owned())
            })?;
            headers.insert("idempotency-key", value);
        }
        for (name, value) in &call.headers {
            let unusable = || Failure::NotSent(format!("the header {name} cannot be sent"));
            let name = HeaderName::try_from(name.as_str()).map_err(|_| unusable())?;
            let value = HeaderValue::try_from(value.as_str()).map_err(|_| unusable())?;
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// Sends once. A 2xx answer that is a JSON document is an `Answer`; everything else is a [`Failure`].
    pub(crate) async fn send(&self, call: &Call) -> Result<Answer, Failure> {
        let (status, headers, body) = self.exchange(call).await?;
        read_answer(status, &headers, body)
    }

    /// Sends once, and keeps the answer's status line and headers too.
    pub(crate) async fn send_raw(&self, call: &Call) -> Result<RawAnswer, Failure> {
        let (status, headers, body) = self.exchange(call).await?;
        let shown = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let head = Head {
            status,
            headers: headers
                .iter()
                .map(|(name, value)| (name.to_string(), shown(value)))
                .collect(),
        };
        let answer = read_answer(status, &headers, body).map(|answer| answer.document);
        Ok(RawAnswer { head, answer })
    }

    /// Knocks at `GET /v1/` with this key or none; a refusal says, too, that the service is reached.
    pub(crate) async fn knock(&self, key: Option<&Secret>) -> Result<Answer, Failure> {
        let (status, headers, body) = self.exchange_with(&Call::get("/v1/"), key).await?;
        read_answer(status, &headers, body)
    }

    async fn exchange(&self, call: &Call) -> Result<(StatusCode, HeaderMap, Vec<u8>), Failure> {
        let key = self.key(call).await?;
        self.exchange_with(call, key).await
    }

    async fn exchange_with(
        &self,
        call: &Call,
        key: Option<&Secret>,
    ) -> Result<(StatusCode, HeaderMap, Vec<u8>), Failure> {
        let headers = self.headers(call, key)?;
        let trace = WireTrace::new(self.connection.trace.as_deref(), self.dialect());
        trace.request(call, &shown_headers(self.dialect(), key.is_some(), call));
        let mut request = self
            .http
            .request(
                call.method.clone(),
                format!("{}{}", self.connection.base, call.path),
            )
            .headers(headers);
        if let Some(body) = &call.body {
            request = request
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string());
        }
        self.allowance.set(None);
        let exchange = async {
            let response = request.send().await.map_err(|error| failure_of(&error))?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = read_bounded(response).await?;
            Ok((status, headers, body))
        };
        let outcome = tokio::time::timeout(self.connection.timeout, exchange)
            .await
            .unwrap_or(Err(Failure::TimedOut(self.connection.timeout)));
        let (status, headers, body) = outcome.inspect_err(|failure| trace.failure(failure))?;
        trace.answer(status.as_u16(), &body);
        self.observe_clock(&headers);
        self.allowance.set(Allowance::of(status, &headers));
        Ok((status, headers, body))
    }

    fn observe_clock(&self, headers: &HeaderMap) {
        let date = headers.get(DATE).and_then(|date| date.to_str().ok());
        let Some(date) = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok()) else {
            return;
        };
        let skew = date.timestamp().duration_since(Timestamp::now());
        // `Date` has whole seconds: a smaller difference is none.
        let skew = if skew.abs() < SignedDuration::from_secs(2) {
            SignedDuration::ZERO
        } else {
            skew
        };
        self.skew.set(Some(skew));
    }
}

/// The headers of a call as `--dry-run` and `--verbose` show them: the key is masked.
pub(crate) fn shown_headers(
    dialect: &Dialect,
    has_key: bool,
    call: &Call,
) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    if has_key {
        headers.push((dialect.auth_header.clone(), credential(dialect, "***")));
    }
    if call.body.is_some() {
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
    }
    if let Some(key) = &call.idempotency_key {
        headers.push(("Idempotency-Key".to_owned(), key.clone()));
    }
    // What a caller added may be a secret, too.
    let added = call.headers.iter();
    headers.extend(added.map(|(name, _)| (name.clone(), "***".to_owned())));
    headers
}

fn credential(dialect: &Dialect, key: &str) -> String {
    let scheme = &dialect.auth_scheme;
    if scheme.is_empty() {
        key.to_owned()
    } else {
        format!("{scheme} {key}")
    }
}

async fn read_bounded(mut response: reqwest::Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failure_of(&error))? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(Failure::Unusable(format!(
                "it is larger than {} MB",
                MAX_ANSWER / 1024 / 1024
            )));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn read_answer(status: StatusCode, headers: &HeaderMap, body: Vec<u8>) -> Result<Answer, Failure> {
    // It was done, and there is nothing to say of it. A call that needs a document finds none in `null`.
    if status == StatusCode::NO_CONTENT {
        return Ok(Answer {
            status: status.as_u16(),
            document: Value::Null.into(),
        });
    }
    if status.is_redirection()
        && let Some(location) = headers.get(LOCATION)
    {
        return Err(Failure::Redirected {
            status: status.as_u16(),
            to: origin_of(location),
        });
    }
    if values(&body) > MAX_VALUES {
        return Err(Failure::Unusable(format!(
            "it has more than {MAX_VALUES} values"
        )));
    }
    let document = String::from_utf8(body)
        .ok()
        .and_then(|text| Document::parse(text).ok());
    // Only an object or a list can be one of the service's documents.
    let document =
        document.filter(|document| document.value().is_object() || document.value().is_array());
    match document {
        Some(document) if status.is_success() => Ok(Answer {
            status: status.as_u16(),
            document,
        }),
        Some(document) if !status.is_redirection() => Err(Failure::Refused(Box::new(
            Refusal::new(status.as_u16(), headers, document),
        ))),
        _ if status.is_client_error() => Err(Failure::Refused(Box::new(Refusal::bare(
            status.as_u16(),
            headers,
            content_kind(headers),
        )))),
        _ => Err(Failure::Unreadable {
            status: status.as_u16(),
            kind: content_kind(headers),
        }),
    }
}

/// Where a redirect leads, as far as that can be shown: a path may hold a secret, and so may what stands before the
/// host.
fn origin_of(location: &HeaderValue) -> Option<String> {
    let url = Url::parse(location.to_str().ok()?).ok()?;
    let of_the_web = matches!(url.scheme(), "http" | "https");
    of_the_web.then(|| url.origin().ascii_serialization())
}

/// About how many values a JSON text holds, before any room is made for them.
fn values(text: &[u8]) -> usize {
    let (mut values, mut in_string, mut escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values
}

fn content_kind(headers: &HeaderMap) -> String {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_owned()
}

fn failure_of(error: &reqwest::Error) -> Failure {
    if error.is_connect() {
        Failure::NotReached(root_cause(error))
    } else if error.is_builder() {
        Failure::NotSent(root_cause(error))
    } else {
        Failure::NoAnswer(root_cause(error))
    }
}

/// The innermost cause: "connection refused" rather than "error sending request for url (…)".
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let text = cause.to_string();
    let text = text
        .split(" (os error")
        .next()
        .unwrap_or(&text)
        .to_lowercase();
    match text.as_str() {
        "deadline has elapsed" | "operation timed out" => "nothing answered in time".to_owned(),
        _ => text,
    }
}

/// The authorities of a whole system take a quarter of a megabyte.
const LARGEST_BUNDLE: u64 = 16 * 1024 * 1024;

fn authorities(file: &std::path::Path) -> Result<Vec<Certificate>> {
    let unusable = |why: String| {
        Error::config(format!(
            "the profile's ca_file {} cannot be used: {why}",
            file.display()
        ))
        .hint("it must be a PEM file with certificates")
    };
    let pem = regular_file::read(file, LARGEST_BUNDLE).map_err(|error| unusable(reason(&error)))?;
    let certificates =
        Certificate::from_pem_bundle(&pem).map_err(|error| unusable(root_cause(&error)))?;
    if certificates.is_empty() {
        return Err(unusable("no certificate is in it".to_owned()));
    }
    Ok(certificates)
}
