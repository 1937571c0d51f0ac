//! Reads a response: limited in size, and accepted only if it is a JSON document.

use std::fmt;

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LINK, LOCATION};
use reqwest::{Response, StatusCode, Url};
use serde_json::Value;

use super::failure::Failure;
use super::refusal::{Refusal, no_document, request_id};
use crate::json::{Document, read_body};
use crate::outcome::{Code, Error};

const MAX_ANSWER: usize = 16 * 1024 * 1024;
/// What is read of a response that is no success. The specification's are tens of bytes.
const MAX_REFUSAL: usize = 64 * 1024;
/// The most JSON values of a response: in memory they take far more space than as text.
const MAX_VALUES: usize = 250_000;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) document: Document,
    /// The `Link` headers, which may name the next page of a list.
    pub(crate) link: Option<String>,
}

/// The status and headers of a response, displayed as `HTTP 200 OK` and a line each.
#[derive(Clone, Debug)]
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

/// The body of a response, and whether it is longer than what is read of it: 16 MB of a success, 64
/// KB of anything else.
pub(crate) async fn read_bounded(mut response: Response) -> Result<(Vec<u8>, bool), Failure> {
    let is_success = response.status().is_success();
    let most = if is_success { MAX_ANSWER } else { MAX_REFUSAL };
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > most {
            if is_success {
                let why = format!("it is larger than {} MB", MAX_ANSWER / 1024 / 1024);
                return Err(unusable(why));
            }
            body.truncate(most);
            return Ok((body, true));
        }
    }
    Ok((body, false))
}

pub(crate) fn read_answer(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    is_cut: bool,
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
        return Err(redirected(code, origin_of(location)));
    }
    let header = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
    if values(body) > MAX_VALUES {
        return Err(unusable(format!("it has more than {MAX_VALUES} values")));
    }
    // Only an object or a list can be one of the service's documents.
    let is_document = |it: &Document| it.value().is_object() || it.value().is_array();
    let (document, why) = match read_body(body, header) {
        Ok(document) if is_document(&document) && status.is_success() => return answer(document),
        Ok(document) if is_document(&document) && !status.is_redirection() => {
            return Err(Failure::Refused(Box::new(Refusal::new(code, headers, document))));
        }
        Ok(document) => (document, "it is neither an object nor a list".to_owned()),
        Err(unread) => (Value::from(unread.text).into(), unread.why),
    };
    let kind = content_kind(headers);
    if status.is_client_error() {
        let mut refusal = Refusal::new(code, headers, document);
        refusal.instead = (!is_cut).then_some(kind);
        return Err(Failure::Refused(Box::new(refusal)));
    }
    let why = match status.is_success() {
        true => format!("cannot read the response ({code}{kind}): {why}"),
        false => no_document(code, &kind),
    };
    Err(Failure::unreadable(code, why, document, request_id(headers)))
}

/// The values of all `Link` headers as one list (RFC 8288).
fn links(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(LINK).iter();
    let links: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    (!links.is_empty()).then(|| links.join(", "))
}

/// The origin of a redirect. Paths and user names may contain secrets.
fn origin_of(location: &HeaderValue) -> Option<String> {
    let url = Url::parse(location.to_str().ok()?).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.origin().ascii_serialization())
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

/// The type of the body, and how it is compressed, each with a comma before it.
fn content_kind(headers: &HeaderMap) -> String {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let coding = text(CONTENT_ENCODING).filter(|coding| !coding.eq_ignore_ascii_case("identity"));
    let coding = coding.map(|coding| format!("compressed with {}", coding.trim()));
    let kind = text(CONTENT_TYPE).map(|kind| kind.trim().to_owned());
    let parts = kind.into_iter().chain(coding).filter(|part| !part.is_empty());
    parts.map(|part| format!(", {part}")).collect()
}

/// The response cannot be used, for this reason, such as its size.
pub(super) fn unusable(why: impl fmt::Display) -> Failure {
    let error = Error::new(Code::UnexpectedAnswer, format!("cannot use the response: {why}"));
    let hint = "ask for less, or check the base URL; nothing was changed";
    Failure::not_read(None, error.hint(hint))
}

/// `to` is set if it leads to another origin.
pub(super) fn redirected(status: u16, to: Option<String>) -> Failure {
    let to = to.as_deref().unwrap_or("another path");
    let what =
        format!("the response ({status}) redirects to {to}, and bookctl does not follow redirects");
    let hint = "set the base URL to the final address; bookctl never sends a key to another one";
    Failure::not_read(Some(status), Error::new(Code::UnexpectedAnswer, what).hint(hint))
}
