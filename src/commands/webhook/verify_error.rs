//! The error for a delivery that does not verify.

use crate::outcome::{Code, Error};
use crate::secrets::Secret;
use crate::webhook::{
    Diagnosis, Header, Malformed, Unverified, diagnose, not_json, owner_of_header, owner_of_value,
};

pub(super) enum VerifyFailure {
    /// The request has no header of this name.
    Missing(String),
    Unverified(Unverified),
}

/// The delivery that did not verify.
pub(super) struct Evidence {
    pub(super) signature: Option<Vec<u8>>,
    /// `None` without `--explain`, or if it is too large.
    pub(super) body: Option<Vec<u8>>,
    /// The body's length in bytes.
    pub(super) length: u64,
    /// The names of the request's headers.
    pub(super) headers: Vec<String>,
    /// How many bytes of the request's `Content-Length` the file lacks.
    pub(super) missing: u64,
}

const RAW_BYTES: &str =
    "verify the raw bytes of the request, before anything parses, decodes or prints them";

/// The error (19), with its cause as a word for scripts. With `explain` the usual changes are tried on a mismatch.
pub(super) fn error_for(
    failure: VerifyFailure,
    evidence: &Evidence,
    secrets: &[Secret],
    explain: bool,
) -> Error {
    match failure {
        VerifyFailure::Missing(name) => missing(&name, evidence),
        VerifyFailure::Unverified(Unverified::Malformed(why)) => malformed(why, evidence),
        VerifyFailure::Unverified(Unverified::Stale(age)) => error(
            "stale",
            format!("the signature is too old: it was made {age} s ago"),
        )
        .hint(
            "the delivery was delayed or replayed, because each attempt has a new signature; \
                       compare the clocks, or pass --tolerance 0 to check an old delivery",
        ),
        VerifyFailure::Unverified(Unverified::Future(ahead)) => future(ahead, evidence),
        VerifyFailure::Unverified(Unverified::Mismatch) if evidence.missing > 0 => error(
            "changed_body",
            format!(
                "the body is incomplete: {} bytes of its Content-Length are missing",
                evidence.missing
            ),
        )
        .hint(RAW_BYTES),
        VerifyFailure::Unverified(Unverified::Mismatch) if explain => diagnosed(evidence, secrets),
        VerifyFailure::Unverified(Unverified::Mismatch) => error("mismatch", mismatch(secrets))
            .hint("run the command with --explain to find out which"),
    }
}

fn error(cause: &'static str, message: String) -> Error {
    let mut error = Error::new(Code::Signature, message);
    error.cause = Some(cause);
    error
}

fn mismatch(secrets: &[Secret]) -> String {
    let secret = match secrets.len() {
        1 => "the secret".to_owned(),
        count => format!("any of the {count} secrets"),
    };
    format!(
        "the signature does not match {secret}: it was made with another secret, or the body was changed"
    )
}

fn missing(name: &str, evidence: &Evidence) -> Error {
    let other = evidence
        .headers
        .iter()
        .find_map(|header| Some((header, owner_of_header(header)?)));
    match other {
        Some((header, owner)) => error(
            "other_scheme",
            format!("the request has no {name} header, but has {header}, which {owner} uses"),
        )
        .hint("verify it with the tools of that service, or set service_name in the profile's dialect"),
        None => error("missing", format!("the request has no {name} header")).hint(
            "a proxy may have removed it; if the service uses another name, set service_name in the \
             profile's dialect",
        ),
    }
}

fn malformed(why: Malformed, evidence: &Evidence) -> Error {
    let value = evidence.signature.as_deref().unwrap_or_default();
    let value = String::from_utf8_lossy(value);
    // The user may have passed the whole header line.
    let (name, bare) = value.split_once(':').unwrap_or(("", &value));
    let owner = owner_of_header(name.trim()).or_else(|| owner_of_value(bare));
    match owner {
        Some(owner) => error(
            "other_scheme",
            format!("this looks like a signature of another service: {owner}"),
        )
        .hint("expected a signature such as t=1795262400,v1=<64 hex digits>"),
        None => error(
            "malformed",
            format!("the signature header is malformed: {}", why.as_str()),
        )
        .hint("expected one line such as t=1795262400,v1=<64 hex digits>"),
    }
}

fn future(ahead: u64, evidence: &Evidence) -> Error {
    let time = evidence
        .signature
        .as_deref()
        .and_then(|it| Header::parse(it).ok());
    let time = time.map_or(0, |header| header.time());
    // In seconds these times are after the year 5000; in the smaller units they start in 1973.
    let unit = match time {
        100_000_000_000..100_000_000_000_000 => Some("milliseconds"),
        100_000_000_000_000..100_000_000_000_000_000 => Some("microseconds"),
        100_000_000_000_000_000..9_000_000_000_000_000_000 => Some("nanoseconds"),
        _ => None,
    };
    match unit {
        Some(unit) => error(
            "wrong_unit",
            format!("the signature's time is in {unit}: t= counts seconds"),
        )
        .hint("the sender must sign with seconds since 1970"),
        None => error(
            "future",
            format!("the signature's time is {ahead} s in the future"),
        )
        .hint("compare the clocks of the sender and the receiver"),
    }
}

fn diagnosed(evidence: &Evidence, secrets: &[Secret]) -> Error {
    let header = evidence
        .signature
        .as_deref()
        .and_then(|it| Header::parse(it).ok());
    let (Some(header), Some(body)) = (header, &evidence.body) else {
        return error("mismatch", mismatch(secrets)).detail("the body is too large for --explain");
    };
    match diagnose(secrets, &header, body) {
        Some(Diagnosis::Secret(what)) => {
            error("wrong_secret", format!("the secret differs: {what}"))
                .hint("store exactly the same secret on both sides, with nothing around it")
        }
        Some(Diagnosis::Body(what)) => {
            error("changed_body", format!("the body was changed: {what}")).hint(RAW_BYTES)
        }
        Some(Diagnosis::Scheme(what)) => error(
            "other_scheme",
            format!("the signature was made in another way: {what}"),
        )
        .hint("sign the text of t, a dot, and the raw body"),
        None => nothing_found(evidence, secrets),
    }
}

fn nothing_found(evidence: &Evidence, secrets: &[Secret]) -> Error {
    let body = evidence.body.as_deref().unwrap_or_default();
    if evidence.length == 0 {
        return error(
            "changed_body",
            "the body is empty, but a body was signed".to_owned(),
        )
        .detail("a request's body can be read only once; other code may have read it before")
        .hint(RAW_BYTES);
    }
    let error = error("mismatch", mismatch(secrets))
        .detail("tried: line ends, byte order marks, encodings, base64, reformatted or doubly encoded JSON, spaces and quotes \
                 around the secret");
    let error = match std::str::from_utf8(body) {
        Ok(text) if text.contains('\u{fffd}') => error.detail(
            "the body contains U+FFFD: something may have replaced bytes that are not UTF-8",
        ),
        _ => error,
    };
    const SECRET: &str =
        "compare your secret with the dashboard's, and pass both while you replace one";
    error.hint(match not_json(body) {
        Some(how) => {
            format!("the body {how}: compare it with what was sent, byte by byte; then {SECRET}")
        }
        None => format!("most likely the secret is different: {SECRET}"),
    })
}
