//! The HTTP client for consumers. Like the service, it follows no redirects.

use std::time::{Duration, Instant};

use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Url};

use crate::config::is_loopback;
use crate::outcome::{Result, reason};
use crate::platform::http_client::{self, Authorities};
use crate::secrets::register_secret;

/// How long a consumer may take to answer ("Events", 6).
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);
/// How much of the body of an answer to a delivery is kept, in bytes.
const MAX_ANSWER: usize = 64 * 1024;
/// How much of a document is kept, in bytes.
const MAX_DOCUMENT: usize = 16 * 1024 * 1024;

/// The address of a consumer.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint(Url);

impl Endpoint {
    /// Parses an http or https URL without user, password and fragment.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text.trim()).map_err(|_| "not a URL".to_owned())?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err("use a URL such as http://127.0.0.1:8080/webhooks".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            // Keeps clap's error message from showing it.
            url.password().inspect(|password| register_secret(password));
            return Err("the URL must not contain a user or a password".to_owned());
        }
        if url.fragment().is_some() {
            return Err("the URL must not contain a fragment".to_owned());
        }
        Ok(Endpoint(url))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Host and port if the scheme is http, for writing to a plain TCP connection.
    pub(super) fn plain(&self) -> Option<(&str, u16)> {
        let host = self.0.host_str().filter(|_| self.0.scheme() == "http")?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Some((host, self.0.port_or_known_default()?))
    }

    /// Whether the scheme is http.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain().is_some()
    }

    /// Path and query, as in a request line.
    pub(super) fn target(&self) -> String {
        match self.0.query() {
            Some(query) => format!("{}?{query}", self.0.path()),
            None => self.0.path().to_owned(),
        }
    }

    /// Whether it is this port of a loopback address.
    pub(crate) fn is_own_port(&self, port: u16) -> bool {
        is_loopback(&self.0) && self.0.port_or_known_default() == Some(port)
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }
}

/// A consumer's answer, and how long it took.
#[derive(Clone, Debug)]
pub(crate) struct Reaction {
    pub(crate) outcome: Result<Reply, NoReply>,
    pub(crate) elapsed: Duration,
}

#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Its beginning; invalid UTF-8 is replaced.
    pub(crate) body: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoReply {
    NotReached(String),
    /// The connection was closed or reset.
    Broken(String),
    TooLate,
}

impl Reaction {
    pub(crate) fn status(&self) -> Option<u16> {
        self.outcome.as_ref().ok().map(|reply| reply.status)
    }

    /// Whether the status is 2xx ("Events", 6).
    pub(crate) fn is_delivered(&self) -> bool {
        self.status()
            .is_some_and(|status| (200..300).contains(&status))
    }
}

#[derive(Clone)]
pub(crate) struct Poster {
    http: Client,
    pub(crate) endpoint: Endpoint,
    pub(crate) deadline: Duration,
}

impl Poster {
    /// A client for one consumer, which has `deadline` to answer.
    ///
    /// # Errors
    /// `network` (15) if TLS cannot be set up.
    pub(crate) fn new(endpoint: Endpoint, deadline: Duration) -> Result<Self> {
        Ok(Poster {
            http: client(&endpoint)?,
            endpoint,
            deadline,
        })
    }

    /// Posts a JSON body with these headers.
    pub(crate) async fn post(&self, headers: &[(String, String)], body: Vec<u8>) -> Reaction {
        let mut request = self
            .http
            .post(self.endpoint.0.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        for (name, value) in headers {
            // Never skips one: names were validated with the dialect, values are ours.
            if let (Ok(name), Ok(value)) = (
                HeaderName::try_from(name.as_str()),
                HeaderValue::try_from(value.as_str()),
            ) {
                request = request.header(name, value);
            }
        }
        self.exchange(request, MAX_ANSWER).await
    }

    /// Reads a document from the consumer. It is not a delivery, so a shorter deadline does not apply.
    pub(crate) async fn get(&self, url: &Endpoint) -> Reaction {
        let patient = Poster {
            deadline: self.deadline.max(DEADLINE),
            ..self.clone()
        };
        patient
            .exchange(self.http.get(url.0.clone()), MAX_DOCUMENT)
            .await
    }

    async fn exchange(&self, request: reqwest::RequestBuilder, kept: usize) -> Reaction {
        let started = Instant::now();
        let exchange = async {
            let mut response = request.send().await.map_err(|error| no_reply(&error))?;
            let status = response.status().as_u16();
            let mut body = Vec::new();
            // Only the status counts, so a body that breaks off is no error.
            while let Ok(Some(chunk)) = response.chunk().await {
                body.extend_from_slice(&chunk);
                if body.len() > kept {
                    body.truncate(kept);
                    break;
                }
            }
            let body = String::from_utf8_lossy(&body).into_owned();
            Ok(Reply { status, body })
        };
        let outcome = tokio::time::timeout(self.deadline, exchange)
            .await
            .unwrap_or(Err(NoReply::TooLate));
        Reaction {
            outcome,
            elapsed: started.elapsed(),
        }
    }
}

/// An HTTP client for a consumer.
///
/// # Errors
/// `network` (15) if TLS cannot be set up.
pub(super) fn client(endpoint: &Endpoint) -> Result<Client> {
    let authorities = if endpoint.is_plain() {
        Authorities::None
    } else {
        Authorities::System
    };
    // Loopback addresses are never reached through a proxy.
    let builder = http_client::builder(is_loopback(&endpoint.0), authorities);
    http_client::build(builder.user_agent(http_client::USER_AGENT))
}

fn no_reply(error: &reqwest::Error) -> NoReply {
    let why = reason(error);
    if error.is_connect() {
        NoReply::NotReached(why)
    } else {
        NoReply::Broken(why)
    }
}
