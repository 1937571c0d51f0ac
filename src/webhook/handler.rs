//! Posts to a handler, the program that receives webhooks. Follows no redirects, as the service.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Url};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::outcome::Result;
use crate::platform::http_client::{self, header_fields};
use crate::secrets::register_secret;
use crate::service::mapping::Dialect;

/// How long a handler may take to respond ("Events", 6).
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);
/// How much of the body of a response is kept, in bytes: to a delivery, and of a document.
const MAX_RESPONSE: usize = 64 * 1024;
const MAX_DOCUMENT: usize = 16 * 1024 * 1024;
/// How much of a body is shown: the drill sends large ones, and an error page may be one.
const SHOWN_LINES: usize = 10;
const SHOWN: usize = 1024;

pub(crate) type Trace = fn(&str);

/// A header's name and value. Values are bytes; each is the character U+0000 to U+00FF of that
/// number, so that no byte is lost in a string.
pub(crate) type HeaderLine = (String, String);

/// The headers of an event that is sent for the first time; a forged one may have no signature.
pub(crate) fn first_headers(dialect: &Dialect, signature: Option<&str>) -> Vec<HeaderLine> {
    let signature = signature.map(|value| (dialect.signature_header(), value));
    let rest = [(dialect.attempt_header(), "1"), ("Content-Type".to_owned(), "application/json")];
    let headers = signature.into_iter().chain(rest);
    headers.map(|(name, value)| (name, value.to_owned())).collect()
}

/// Parses an http or https URL without user, password and fragment.
pub(crate) fn endpoint(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|_| "not a URL".to_owned())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("use a URL such as http://127.0.0.1:8080/webhooks".to_owned());
    }
    // Keeps clap's error message from showing it.
    url.password().inspect(|password| register_secret(password));
    if !url.username().is_empty() || url.password().or(url.fragment()).is_some() {
        return Err("the URL must not contain a user, a password or a fragment".to_owned());
    }
    Ok(url)
}

#[derive(Clone, Debug)]
pub(crate) struct HandlerVerdict {
    pub(crate) outcome: Result<HandlerResponse, NoReply>,
    pub(crate) elapsed: Duration,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HandlerResponse {
    #[serde(skip)]
    pub(crate) status: u16,
    pub(crate) headers: Map<String, Value>,
    /// Its beginning; invalid UTF-8 is replaced.
    pub(crate) body: String,
    pub(crate) truncated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoReply {
    /// The connection was not made, or was closed or reset.
    Broken(String, Option<String>),
    TooLate,
}

impl fmt::Display for NoReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoReply::Broken(why, _) => f.write_str(why),
            NoReply::TooLate => f.write_str("timed out"),
        }
    }
}

impl HandlerVerdict {
    pub(crate) fn status(&self) -> Option<u16> {
        self.outcome.as_ref().ok().map(|reply| reply.status)
    }

    /// Whether the status is 2xx ("Events", 6).
    pub(crate) fn is_delivered(&self) -> bool {
        matches!(self.status(), Some(200..=299))
    }

    pub(crate) fn latency_ms(&self) -> u32 {
        u32::try_from(self.elapsed.as_millis()).unwrap_or(u32::MAX)
    }
}

#[derive(Clone)]
pub(crate) struct Handler {
    http: Client,
    pub(crate) url: Url,
    deadline: Duration,
    trace: Option<Trace>,
}

impl Handler {
    /// `ca_file` has the authorities of the handler at `url`; `trace` sees requests and responses.
    pub(crate) fn new(
        url: Url,
        deadline: Duration,
        trace: Option<Trace>,
        ca_file: Option<&Path>,
    ) -> Result<Self> {
        let authorities = match ca_file.filter(|_| url.scheme() != "http") {
            Some(file) => Some(http_client::authorities(file)?),
            None => (url.scheme() != "http").then(Vec::new),
        };
        // Loopback addresses are never reached through a proxy.
        let builder = http_client::builder(http_client::is_loopback(&url), authorities);
        Ok(Handler {
            http: http_client::build(builder.user_agent(http_client::USER_AGENT))?,
            url,
            deadline,
            trace,
        })
    }

    pub(crate) async fn post(&self, headers: &[HeaderLine], body: &[u8]) -> HandlerVerdict {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let value: Vec<u8> = value.chars().filter_map(|c| u8::try_from(c).ok()).collect();
            let name = HeaderName::try_from(name.as_str());
            // Skips none: they came in a request, or were checked with the arguments.
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&value)) {
                map.append(name, value);
            }
        }
        let request = self.http.post(self.url.clone()).headers(map).body(body.to_vec());
        let verdict = exchange(request, MAX_RESPONSE, self.deadline).await;
        if let Some(trace) = self.trace {
            trace_delivery(trace, self.url.as_str(), headers, body);
            match &verdict.outcome {
                Ok(reply) => {
                    trace(&format!("< {}", reply.status));
                    trace_body(trace, '<', &reply.body);
                }
                Err(why) => trace(&format!("< {why}")),
            }
        }
        verdict
    }

    /// Reads a document from the handler, without the shorter deadline of deliveries.
    pub(crate) async fn get(&self, url: &Url) -> HandlerVerdict {
        exchange(self.http.get(url.clone()), MAX_DOCUMENT, self.deadline.max(DEADLINE)).await
    }
}

pub(super) fn trace_delivery(trace: Trace, url: &str, headers: &[HeaderLine], body: &[u8]) {
    trace(&format!("> POST {url}"));
    for (name, value) in headers {
        trace(&format!("> {name}: {value}"));
    }
    trace_body(trace, '>', &String::from_utf8_lossy(body));
}

fn trace_body(trace: Trace, sign: char, body: &str) {
    let (displayed, rest) = beginning(body);
    for line in displayed.lines() {
        trace(&format!("{sign} {line}"));
    }
    if rest > 0 {
        trace(&format!("{sign} … {rest} more bytes"));
    }
}

pub(crate) fn beginning(text: &str) -> (&str, usize) {
    let lines = text.split_inclusive('\n').take(SHOWN_LINES);
    let mut end = lines.map(str::len).sum::<usize>().min(SHOWN);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (text[..end].trim_end(), text.len() - end)
}

async fn exchange(request: RequestBuilder, stored: usize, deadline: Duration) -> HandlerVerdict {
    let started = Instant::now();
    let outcome = match request.timeout(deadline).send().await {
        Ok(mut response) => {
            let (body, truncated) = http_client::beginning(&mut response, stored, deadline).await;
            Ok(HandlerResponse {
                status: response.status().as_u16(),
                headers: header_fields(response.headers()),
                body,
                truncated,
            })
        }
        Err(error) if error.is_timeout() && !error.is_connect() => Err(NoReply::TooLate),
        Err(error) => {
            let (why, hint) = http_client::why_broken(&error);
            Err(NoReply::Broken(why, hint))
        }
    };
    HandlerVerdict { outcome, elapsed: started.elapsed() }
}
