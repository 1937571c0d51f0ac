//! Why a delivery does not verify, as a person and a script are told.

use super::verify::Evidence;
use crate::outcome::{Code, Error};
use crate::secrets::Secret;
use crate::webhook::{
    Header, Malformed, Suspicion, Unverified, owner_of_header, owner_of_value, suspect, torn,
};

/// Why it does not verify.
pub(super) enum Doubt {
    /// The request has no header of this name.
    Missing(String),
    Unverified(Unverified),
}

const RAW_BYTES: &str =
    "verify the raw bytes of the request, before anything parses, decodes or prints them";

/// The error (19). The cause is a word; what only trying tells is tried where that was asked for.
pub(super) fn explained(
    doubt: Doubt,
    evidence: &Evidence,
    secrets: &[Secret],
    tries: bool,
) -> Error {
    match doubt {
        Doubt::Missing(name) => missing(&name, evidence),
        Doubt::Unverified(Unverified::Malformed(why)) => malformed(why, evidence),
        Doubt::Unverified(Unverified::Stale(age)) => {
            error("stale", format!("the signature is {age} s old: too old to be believed"))
                .hint("a delivery is signed afresh at each attempt, so this one was held back or is a replay; \
                       compare the clocks, or look at an old one with --tolerance 0")
        }
        Doubt::Unverified(Unverified::Future(ahead)) => from_the_future(ahead, evidence),
        Doubt::Unverified(Unverified::Mismatch) if evidence.missing > 0 => error(
            "changed_body",
            format!(
                "the body is cut short: {} bytes are missing of what its Content-Length says",
                evidence.missing
            ),
        )
        .hint(RAW_BYTES),
        Doubt::Unverified(Unverified::Mismatch) if tries => tried(evidence, secrets),
        Doubt::Unverified(Unverified::Mismatch) => {
            error("mismatch", no_fit(secrets)).hint("find out which with --explain")
        }
    }
}

fn error(cause: &'static str, message: String) -> Error {
    let mut error = Error::new(Code::Signature, message);
    error.cause = Some(cause);
    error
}

fn no_fit(secrets: &[Secret]) -> String {
    let under = match secrets.len() {
        1 => "the secret".to_owned(),
        count => format!("any of the {count} secrets"),
    };
    format!("the signature does not fit the body under {under}: another secret, or a changed body")
}

fn missing(name: &str, evidence: &Evidence) -> Error {
    let other = evidence
        .headers
        .iter()
        .find_map(|header| Some((header, owner_of_header(header)?)));
    match other {
        Some((header, owner)) => error(
            "other_scheme",
            format!("the request has no {name}, but {header}: that is {owner}'s"),
        )
        .hint("verify it with that service's own tools, or set service_name in the profile's dialect"),
        None => error("missing", format!("the request has no {name} header")).hint(
            "a proxy may have dropped it; where the service calls it otherwise, set service_name in the \
             profile's dialect",
        ),
    }
}

fn malformed(why: Malformed, evidence: &Evidence) -> Error {
    let value = evidence.signature.as_deref().unwrap_or_default();
    let value = String::from_utf8_lossy(value);
    // The whole line may have been given.
    let (name, bare) = value.split_once(':').unwrap_or(("", &value));
    let owner = owner_of_header(name.trim()).or_else(|| owner_of_value(bare));
    match owner {
        Some(owner) => error(
            "other_scheme",
            format!("the signature is of another service's form: {owner}'s"),
        )
        .hint("a signature here looks like t=1795262400,v1=<64 hex digits>"),
        None => error(
            "malformed",
            format!("the signature header is malformed: {}", why.as_str()),
        )
        .hint("it looks like t=1795262400,v1=<64 hex digits>, on one line and complete"),
    }
}

fn from_the_future(ahead: u64, evidence: &Evidence) -> Error {
    let time = evidence
        .signature
        .as_deref()
        .and_then(|it| Header::parse(it).ok());
    let time = time.map_or(0, |header| header.time());
    // As seconds these are beyond the year 5000, as what they are they begin in 1973: nothing else is meant.
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
        .hint("the sender has to sign with whole seconds since 1970"),
        None => error(
            "future",
            format!("the signature's time is {ahead} s from now: too far ahead to be believed"),
        )
        .hint("compare the clocks of sender and receiver"),
    }
}

/// A mismatch, after everything usual was tried.
fn tried(evidence: &Evidence, secrets: &[Secret]) -> Error {
    let header = evidence
        .signature
        .as_deref()
        .and_then(|it| Header::parse(it).ok());
    let (Some(header), Some(body)) = (header, &evidence.body) else {
        return error("mismatch", no_fit(secrets))
            .detail("the body is too large to try the usual changes on it");
    };
    match suspect(secrets, &header, body) {
        Some(Suspicion::Secret(what)) => {
            error("wrong_secret", format!("the secret differs: {what}"))
                .hint("store the secret without what is around it, on both sides")
        }
        Some(Suspicion::Body(what)) => {
            error("changed_body", format!("the body was changed: {what}")).hint(RAW_BYTES)
        }
        Some(Suspicion::Scheme(what)) => {
            error("other_scheme", format!("the scheme differs: {what}"))
                .hint("what is signed is the text of t, a dot, and the raw body")
        }
        None => nothing_found(evidence, secrets),
    }
}

fn nothing_found(evidence: &Evidence, secrets: &[Secret]) -> Error {
    let body = evidence.body.as_deref().unwrap_or_default();
    if evidence.length == 0 {
        return error(
            "changed_body",
            "the body is empty, and nothing empty was signed".to_owned(),
        )
        .detail("a request's body can be read once: something may have read it before")
        .hint(RAW_BYTES);
    }
    let error = error("mismatch", no_fit(secrets))
        .detail("tried: line ends, byte order marks, encodings, base64, JSON written again or encoded twice, blanks and quotes \
                 around the secret");
    let error = match std::str::from_utf8(body) {
        Ok(text) if text.contains('\u{fffd}') => error.detail(
            "the body holds U+FFFD: bytes that were no UTF-8 may have been replaced on the way",
        ),
        _ => error,
    };
    const SECRET: &str = "the secret is another one: compare it with the dashboard's, and give both during a rotation";
    error.hint(match torn(body) {
        Some(how) => {
            format!("the body {how}: compare it with what was sent, byte by byte; or {SECRET}")
        }
        None => format!("most likely {SECRET}"),
    })
}
