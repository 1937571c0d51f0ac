//! Reads an answer: limited in size, and accepted only if it is a JSON document.

use std::fmt;

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LINK, LOCATION};
use reqwest::{StatusCode, Url};
use serde_json::Value;

use super::failure::Failure;
use super::refusal::Refusal;
use crate::json::Document;
use crate::outcome::reason;

const MAX_ANSWER: usize = 16 * 1024 * 1024;
/// The most JSON values that an answer may have. In memory a value takes far more space than in text.
const MAX_VALUES: usize = 250_000;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) document: Document,
    /// The `Link` headers, which may name the next page of a list.
    pub(crate) link: Option<String>,
}

/// The status and the headers of an answer. Displayed as `HTTP 200 OK`, followed by one header per line.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP {}", self.status)?;
        for (name, value) in &self.headers {
            write!(f, "\n{name}: {}", String::from_utf8_lossy(value.as_bytes()))?;
        }
        Ok(())
    }
}

pub(crate) async fn read_bounded(mut response: reqwest::Response) -> Result<Vec<u8>, Failure> {
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

pub(crate) fn read_answer(
    status: StatusCode,
    headers: &HeaderMap,
    body: Vec<u8>,
) -> Result<Answer, Failure> {
    let code = status.as_u16();
    let answer = |document| Ok(Answer { status: code, document, link: links(headers) });
    // The call succeeded without a document. A caller that needs one will not find it in `null`.
    if status == StatusCode::NO_CONTENT {
        return answer(Value::Null.into());
    }
    if status.is_redirection()
        && let Some(location) = headers.get(LOCATION)
    {
        let to = origin_of(location);
        return Err(Failure::Redirected { status: code, to });
    }
    if values(&body) > MAX_VALUES {
        let why = format!("it has more than {MAX_VALUES} values");
        return Err(Failure::Unusable(why));
    }
    let text = String::from_utf8(body).ok();
    let document = text.and_then(|text| Document::parse(text).ok());
    // Only an object or a list can be one of the service's documents.
    let document = document.filter(|it| it.value().is_object() || it.value().is_array());
    let refused = |refusal| Err(Failure::Refused(Box::new(refusal)));
    let kind = || content_kind(headers);
    match document {
        Some(document) if status.is_success() => answer(document),
        Some(document) if !status.is_redirection() => {
            refused(Refusal::new(code, headers, document))
        }
        _ if status.is_client_error() => refused(Refusal::bare(code, headers, kind())),
        _ => Err(Failure::Unreadable { status: code, kind: kind() }),
    }
}

/// The values of all `Link` headers as one list (RFC 8288).
fn links(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(LINK).iter();
    let links: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    (!links.is_empty()).then(|| links.join(", "))
}

/// The origin of a redirect. The rest is left out, because paths and user names may contain secrets.
fn origin_of(location: &HeaderValue) -> Option<String> {
    let url = Url::parse(location.to_str().ok()?).ok()?;
    let of_the_web = matches!(url.scheme(), "http" | "https");
    of_the_web.then(|| url.origin().ascii_serialization())
}

/// Estimates how many values a JSON text has, before memory is allocated for them.
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

/// The type of the body, and how it is compressed: bookctl asks for no compression, and reads none.
fn content_kind(headers: &HeaderMap) -> String {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let kind = text(CONTENT_TYPE).and_then(|kind| kind.split(';').next());
    let kind = kind.unwrap_or_default().trim();
    let coding = text(CONTENT_ENCODING).unwrap_or_default().trim();
    if coding.is_empty() || coding.eq_ignore_ascii_case("identity") {
        return kind.to_owned();
    }
    let compressed = format!("compressed with {coding}, which bookctl did not ask for");
    match kind {
        "" => compressed,
        kind => format!("{kind}, {compressed}"),
    }
}

pub(crate) fn failure_of(error: &reqwest::Error) -> Failure {
    if error.is_connect() {
        let cause = cause_of(error);
        let why = match error.url() {
            Some(url) => {
                let origin = url.origin().ascii_serialization();
                format!("cannot connect to {origin}: {cause}")
            }
            None => format!("cannot connect: {cause}"),
        };
        let timed_out = error.is_timeout();
        Failure::NotReached { why, timed_out }
    } else if error.is_builder() {
        Failure::NotSent(cause_of(error))
    } else {
        Failure::NoAnswer(cause_of(error))
    }
}

/// "connection refused" rather than "error sending request for url (…)".
fn cause_of(error: &reqwest::Error) -> String {
    match reason(error) {
        text if matches!(&*text, "deadline has elapsed" | "operation timed out") => {
            "nothing answered in time".to_owned()
        }
        text if text.contains("before message completed") => {
            "the connection broke before the response".to_owned()
        }
        text if text.contains("before message length") || text.contains("unexpected EOF") => {
            "the connection broke within the response".to_owned()
        }
        text => text,
    }
}
