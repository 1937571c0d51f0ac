//! The error for a delivery that does not verify.

use crate::outcome::{Code, Error};
use crate::secrets::Secret;
use crate::webhook::{Diagnosis, Header, Unverified, diagnose};

pub(super) enum VerifyFailure {
    /// The request has no header of this name.
    Missing(String),
    Unverified(Unverified),
}

/// The delivery that did not verify.
pub(super) struct Evidence {
    /// The signature header, if it is well-formed.
    pub(super) header: Option<Header>,
    pub(super) body: Vec<u8>,
    /// How many bytes of the request's `Content-Length` the file lacks.
    pub(super) missing: usize,
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
        VerifyFailure::Missing(name) => error(
            "missing",
            format!("the request has no {name} header"),
        )
        .hint(
            "a proxy may have removed it; if the service uses another name, set service_name in the \
             profile's dialect",
        ),
        VerifyFailure::Unverified(Unverified::Malformed(why)) => error(
            "malformed",
            format!("the signature header is malformed: {}", why.as_str()),
        )
        .hint("expected one line such as t=1795262400,v1=<64 hex digits>"),
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

fn future(ahead: u64, evidence: &Evidence) -> Error {
    // In seconds such a time is after the year 5000; in milliseconds it is after 1973.
    let header = evidence.header.as_ref();
    if header.is_some_and(|header| header.time() >= 100_000_000_000) {
        return error(
            "wrong_unit",
            "the signature's time is not in seconds".to_owned(),
        )
        .hint("the sender must sign with seconds since 1970");
    }
    error(
        "future",
        format!("the signature's time is {ahead} s in the future"),
    )
    .hint("compare the clocks of the sender and the receiver")
}

fn diagnosed(evidence: &Evidence, secrets: &[Secret]) -> Error {
    if evidence.body.is_empty() {
        return error(
            "changed_body",
            "the body is empty, but a body was signed".to_owned(),
        )
        .detail("a request's body can be read only once; other code may have read it before")
        .hint(RAW_BYTES);
    }
    let header = evidence.header.as_ref();
    match header.and_then(|header| diagnose(secrets, header, &evidence.body)) {
        Some(Diagnosis::Secret(what)) => {
            error("wrong_secret", format!("the secret differs: {what}"))
                .hint("store exactly the same secret on both sides, with nothing around it")
        }
        Some(Diagnosis::Body(what)) => {
            error("changed_body", format!("the body was changed: {what}")).hint(RAW_BYTES)
        }
        None => error("mismatch", mismatch(secrets))
            .detail("tried: line ends, JSON that was serialized again, and the secret with a line end, a space, quotes or \
                     without its prefix")
            .hint(
                "most likely the secret is different: compare your secret with the dashboard's, and pass both while you \
                 replace one",
            ),
    }
}
