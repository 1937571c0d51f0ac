//! Recorded calls: which kind of document each request and answer is.

use serde_json::Value;

use super::requests::of_request;
use super::{Certainty, Finding};
use crate::adapter::kind::{ReadKind, WriteKind};
use crate::adapter::names::same_words;

/// Documents of known kinds, and what requests show.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) documents: Vec<(ReadKind, Value)>,
    pub(crate) findings: Vec<Finding>,
}

/// What a request of the service is.
pub(super) fn kinds_of(method: &str, path: &str) -> Option<(Option<WriteKind>, Option<ReadKind>)> {
    let at = path.rfind("/v1").map_or(0, |at| at + 3);
    let path = path
        .get(at..)
        .unwrap_or_default()
        .split(['?', '#'])
        .next()
        .unwrap_or_default();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    Some(match (method.to_uppercase().as_str(), parts.as_slice()) {
        ("GET", []) => (None, Some(ReadKind::Index)),
        ("POST", ["venues", "search"]) => (Some(WriteKind::Search), Some(ReadKind::Venues)),
        ("POST", ["availability", "search"]) => (Some(WriteKind::Slots), Some(ReadKind::Slots)),
        ("POST", ["bookings"]) => (Some(WriteKind::Create), Some(ReadKind::Booking)),
        ("GET", ["bookings", _]) => (None, Some(ReadKind::Booking)),
        // Which of its kinds a continue is, its body shows.
        ("POST", ["bookings", _, "continue"]) => (None, Some(ReadKind::Booking)),
        ("POST", ["bookings", _, "modify"]) => (Some(WriteKind::Modify), Some(ReadKind::Booking)),
        ("POST", ["bookings", _, "cancel"]) => (Some(WriteKind::Cancel), Some(ReadKind::Booking)),
        ("POST", ["sessions"]) => (Some(WriteKind::Connect), Some(ReadKind::Session)),
        ("POST", ["sessions", _, "verify"]) => (Some(WriteKind::Verify), Some(ReadKind::Session)),
        ("GET", ["sessions"]) => (None, Some(ReadKind::Sessions)),
        ("GET", ["sessions", "card"] | ["sessions", _, "card"]) => (None, Some(ReadKind::Card)),
        ("GET", ["sessions", _]) => (None, Some(ReadKind::Session)),
        _ => return None,
    })
}

/// Headers that carry no key.
const NO_KEY: &[&str] = &[
    "idempotency-key",
    "x-request-id",
    "x-idempotency-key",
    "content-type",
    "accept",
];

/// What a header of a recorded request shows of how the key is sent. The value is not kept.
pub(super) fn of_key_header(name: &str, value: &str) -> Vec<Finding> {
    let lower = name.to_lowercase();
    let carries =
        lower == "authorization" || ["key", "token"].iter().any(|part| lower.contains(part));
    if !carries || NO_KEY.contains(&lower.as_str()) {
        return Vec::new();
    }
    let scheme = value.split_once(' ').map_or("", |(scheme, _)| scheme);
    let is_word = scheme.len() < 20
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-');
    auth(
        name,
        if is_word { scheme } else { "" },
        "a recorded request",
    )
}

/// The lines that say how the key is sent.
pub(super) fn auth(header: &str, scheme: &str, source: &str) -> Vec<Finding> {
    let why = || format!("{source} sends the key in `{header}`");
    let mut findings = Vec::new();
    if !header.eq_ignore_ascii_case("authorization") {
        findings.push(Finding::new(
            Certainty::Certain,
            "dialect.auth_header",
            header,
            why(),
        ));
    }
    if scheme != "Bearer" {
        findings.push(Finding::new(
            Certainty::Certain,
            "dialect.auth_scheme",
            scheme,
            why(),
        ));
    }
    findings
}

/// Reads a HAR file.
pub(crate) fn of_har(har: &Value) -> Option<Recorded> {
    let entries = har.get("log")?.get("entries")?.as_array()?;
    let mut recorded = Recorded::default();
    for entry in entries {
        let text = |path: &[&str]| {
            path.iter()
                .try_fold(entry, |value, name| value.get(name))
                .and_then(Value::as_str)
        };
        let (Some(method), Some(url)) = (text(&["request", "method"]), text(&["request", "url"]))
        else {
            continue;
        };
        let Some((written, read)) = kinds_of(method, url) else {
            continue;
        };
        let status = entry["response"]["status"].as_u64().unwrap_or_default();
        if !(200..300).contains(&status) {
            continue;
        }
        let headers = entry["request"]["headers"].as_array().into_iter().flatten();
        for header in headers {
            if let (Some(name), Some(value)) = (header["name"].as_str(), header["value"].as_str()) {
                recorded.add(of_key_header(name, value));
            }
        }
        let answer = text(&["response", "content", "text"])
            .and_then(|text| serde_json::from_str::<Value>(text).ok());
        let body = text(&["request", "postData", "text"])
            .and_then(|text| serde_json::from_str::<Value>(text).ok());
        if let Some(body) = &body {
            let kind = written.or_else(|| kind_of_continue(body));
            recorded.add(kind.map(|kind| of_request(kind, body)).unwrap_or_default());
        }
        if let (Some(kind), Some(answer)) = (read, answer) {
            if method == "POST" && url.contains("/modify") {
                recorded.add(of_modified(&answer));
            }
            recorded.documents.push((kind, answer));
        }
    }
    Some(recorded)
}

/// The provider whose booking was modified: the specification says that only one can.
fn of_modified(answer: &Value) -> Vec<Finding> {
    let provider = super::paths::paths_of(answer)
        .into_iter()
        .find_map(|(path, value)| {
            let last = path.last().map(String::as_str).unwrap_or_default();
            value
                .as_str()
                .filter(|_| same_words(last, "provider"))
                .map(str::to_owned)
        });
    match provider.filter(|it| it != "provider_a") {
        Some(provider) => {
            let why = format!("a recorded booking of `{provider}` was modified");
            vec![Finding::new(
                Certainty::Likely,
                "dialect.provider_a",
                provider,
                why,
            )]
        }
        None => Vec::new(),
    }
}

/// What a continue answers: a code, a payment, or something else.
fn kind_of_continue(body: &Value) -> Option<WriteKind> {
    let object = body.as_object()?;
    let is = |name: &str| object.keys().any(|key| same_words(key, name));
    if is("psp_response") {
        return Some(WriteKind::Payment);
    }
    if is("psp_abort") {
        return Some(WriteKind::Abort);
    }
    let all = super::paths::paths(object);
    let leaves: Vec<_> = all.iter().filter(|(_, value)| !value.is_object()).collect();
    match leaves.as_slice() {
        [(_, Value::String(code))] if code.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(WriteKind::Otp)
        }
        _ => None,
    }
}

impl Recorded {
    pub(crate) fn add(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            if !self
                .findings
                .iter()
                .any(|other| match finding.key.as_str() {
                    "" => *other == finding,
                    key => other.key == key && other.value == finding.value,
                })
            {
                self.findings.push(finding);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_har_file_shows_names_and_no_values() {
        let har = json!({"log": {"entries": [
            {"request": {"method": "POST", "url": "https://x.example/api/v1/bookings/b1/continue",
                         "headers": [{"name": "X-Api-Key", "value": "sk_live_secret"}],
                         "postData": {"text": "{\"verification_code\": \"482913\"}"}},
             "response": {"status": 200, "content": {"text": "{\"id\": \"b1\", \"status\": \"confirmed\"}"}}},
            {"request": {"method": "GET", "url": "https://x.example/other"}, "response": {"status": 200}},
        ]}});
        let recorded = of_har(&har).unwrap();
        let lines: Vec<_> = recorded
            .findings
            .iter()
            .map(|it| (it.key.as_str(), it.value.as_str()))
            .collect();
        assert_eq!(
            lines,
            [
                ("dialect.auth_header", "X-Api-Key"),
                ("dialect.auth_scheme", ""),
                ("dialect.otp_field", "verification_code"),
            ]
        );
        assert_eq!(recorded.documents.len(), 1);
        let said = format!("{:?}", recorded.findings);
        assert!(
            !said.contains("482913") && !said.contains("secret"),
            "{said}"
        );
        assert!(of_har(&json!({})).is_none());
    }
}
