//! The signature of a delivery: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<raw body>">`.

use std::fmt;
use std::time::Duration;

use ring::hmac::{Context, HMAC_SHA256, Key, Tag};
use serde_json::Value;
use subtle::ConstantTimeEq;

use crate::json::{body_text, escape, gunzipped};
use crate::platform::crypto::Digest;
use crate::secrets::Secret;

/// How far a signature's time may be from now, in either direction.
pub(crate) const DEFAULT_TOLERANCE: Duration = Duration::from_secs(300);

/// The header's value for a body signed at `t`, in seconds since 1970.
pub(crate) fn sign(secret: &Secret, t: i64, body: &[u8]) -> String {
    let t = t.to_string();
    let tag = mac(secret.expose().as_bytes(), &[t.as_bytes(), b".", body]);
    format!("t={t},v1={}", hex::encode(tag.as_ref()))
}

fn mac(key: &[u8], pieces: &[&[u8]]) -> Tag {
    let mut mac = Context::with_key(&Key::new(HMAC_SHA256, key));
    for piece in pieces {
        mac.update(piece);
    }
    mac.sign()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The digits as received.
    t: String,
    v1: Vec<Digest>,
}

impl Header {
    /// Parses the header's value: parts separated by commas and optional blanks, with exactly one
    /// `t` of ASCII digits and at least one `v1` of 64 hex digits. Unknown parts are ignored.
    pub(crate) fn parse(value: &[u8]) -> Result<Self, &'static str> {
        let mut times = Vec::new();
        let mut v1 = Vec::new();
        for part in value.split(|byte| *byte == b',') {
            let part = trim_blanks(part);
            if let Some(digits) = part.strip_prefix(b"t=") {
                times.push(digits);
            } else if let Some(digits) = part.strip_prefix(b"v1=") {
                let mut digest = [0; 32];
                hex::decode_to_slice(digits, &mut digest)
                    .map_err(|_| "a v1= is not 64 hex digits")?;
                v1.push(digest);
            }
        }
        let t = match times[..] {
            [] if v1.is_empty() => return Err("it has neither t= nor v1="),
            [] => return Err("t= is missing"),
            [t] => t,
            _ => return Err("there is more than one t="),
        };
        if t.is_empty() || !t.iter().all(u8::is_ascii_digit) {
            return Err("t= is not a number of seconds in digits");
        }
        if v1.is_empty() {
            return Err("v1= is missing");
        }
        Ok(Header { t: String::from_utf8_lossy(t).into_owned(), v1 })
    }

    /// The signature's time, in seconds since 1970; `i64::MAX` for a larger number.
    pub(crate) fn time(&self) -> i64 {
        self.t.parse().unwrap_or(i64::MAX)
    }

    /// Whether one of the `v1` is the digest of this body under this key.
    fn is_signed_with(&self, key: &[u8], body: &[u8]) -> bool {
        // The literal `t`, with leading zeros: that text was signed.
        self.has(&mac(key, &[self.t.as_bytes(), b".", body]))
    }

    /// Whether one of the `v1` is this digest. Compares all of them in constant time.
    fn has(&self, tag: &Tag) -> bool {
        self.v1
            .iter()
            .fold(false, |matched, digest| matched | bool::from(digest.ct_eq(tag.as_ref())))
    }
}

fn trim_blanks(mut part: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = part {
        part = rest;
    }
    part
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verified {
    /// When it was signed, in seconds since 1970.
    pub(crate) time: i64,
    pub(crate) secret: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unverified {
    Malformed(&'static str),
    /// No `v1` matches the body under any of the secrets.
    Mismatch,
    /// It was signed this many seconds ago, more than the tolerance.
    Stale(u64),
    /// It was signed this many seconds in the future, more than the tolerance.
    Future(u64),
}

impl fmt::Display for Unverified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unverified::Malformed(why) => write!(f, "the signature header is malformed: {why}"),
            Unverified::Mismatch => f.write_str(
                "the signature does not match: it was made with another secret, or the body was changed",
            ),
            Unverified::Stale(age) => {
                write!(f, "the signature is too old: it was made {age} s ago")
            }
            Unverified::Future(ahead) => {
                write!(f, "the signature's time is {ahead} s in the future")
            }
        }
    }
}

/// Verifies a body with any of the secrets, of which a rotation has two. `now` is in seconds since
/// 1970; without a tolerance any time is accepted. The time is checked last: a wrong signature is
/// reported as such, whatever its age.
pub(crate) fn verify(
    secrets: &[Secret],
    header: &[u8],
    body: &[u8],
    now: i64,
    tolerance: Option<Duration>,
) -> Result<Verified, Unverified> {
    let header = Header::parse(header).map_err(Unverified::Malformed)?;
    let signs = |secret: &Secret| header.is_signed_with(secret.expose().as_bytes(), body);
    // Collected so that every secret is tried, whichever matches.
    let matched: Vec<bool> = secrets.iter().map(signs).collect();
    let secret = matched.iter().position(|it| *it).ok_or(Unverified::Mismatch)?;
    let time = header.time();
    let apart = now.abs_diff(time);
    match tolerance {
        Some(tolerance) if apart > tolerance.as_secs() => {
            Err(if time < now { Unverified::Stale(apart) } else { Unverified::Future(apart) })
        }
        _ => Ok(Verified { time, secret }),
    }
}

const WITHOUT_SPACES: &str =
    "the JSON was parsed and serialized again; the signed body is the same JSON without spaces";

fn as_it_may_have_been(body: &[u8]) -> Vec<(Vec<u8>, &'static str)> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    let text = String::from_utf8_lossy(body);
    let mut bodies = vec![
        ([body, b"\n"].concat(), "the line end after it is missing"),
        ([body, b"\r\n"].concat(), "the line end after it is missing"),
        ([MARK, body].concat(), "the byte order mark before it is missing"),
    ];
    if let Some(line) = body.strip_suffix(b"\n") {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        bodies.push((line.to_vec(), "a line end was added"));
    }
    if let Some(unmarked) = body.strip_prefix(MARK) {
        bodies.push((unmarked.to_vec(), "a byte order mark was put before it"));
    }
    if let Some(unpacked) = gunzipped(body) {
        bodies.push((unpacked, "it was compressed with gzip after it was signed"));
    }
    if body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff") {
        let decoded = body_text(body, |_| None).into_bytes();
        bodies.push((decoded, "it was written as UTF-16 after it was signed"));
    }
    bodies.push(if text.contains("\r\n") {
        (text.replace("\r\n", "\n").into_bytes(), "its line ends were LF and are CRLF")
    } else {
        (text.replace('\n', "\r\n").into_bytes(), "its line ends were CRLF and are LF")
    });
    if let Ok(document) = serde_json::from_slice::<Value>(body) {
        const ESCAPES: &str = "the JSON was parsed and serialized again, with other escapes";
        let compact = document.to_string();
        let is_spaced = compact.len() < body.len() && !text.contains("\\u");
        let what = if is_spaced { WITHOUT_SPACES } else { ESCAPES };
        bodies.push((compact.clone().into_bytes(), what));
        bodies.push((escaped(&compact).into_bytes(), ESCAPES));
        bodies.push((compact.replace('/', "\\/").into_bytes(), ESCAPES));
        let pretty = serde_json::to_string_pretty(&document).unwrap_or_default();
        bodies.push((
            pretty.into_bytes(),
            "the JSON was parsed and serialized again; the signed body is the same JSON, indented",
        ));
    }
    bodies
}

fn escaped(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        ' '..='~' | '\n' => c.to_string(),
        _ => escape(c),
    });
    escaped.collect()
}

/// Undoes the likely mistakes with secrets and bodies until a `v1` matches. Returns a word for
/// scripts, and a sentence.
pub(crate) fn diagnose(
    secrets: &[Secret],
    header: &Header,
    body: &[u8],
) -> Option<(&'static str, String)> {
    if body.is_empty() {
        return Some(("changed_body", "the body is empty, but a body was signed".to_owned()));
    }
    let bodies = as_it_may_have_been(body);
    for secret in secrets {
        let secret = secret.expose();
        for (original, what) in &bodies {
            if header.is_signed_with(secret.as_bytes(), original) {
                return Some(("changed_body", format!("the body was changed: {what}")));
            }
        }
        let bare = secret.split_once('_').map_or(secret, |(_, rest)| rest);
        for (key, what) in [
            (format!("{secret}\n"), "with a line end after it"),
            (format!("\"{secret}\""), "in quotes"),
            (bare.to_owned(), "without its prefix"),
        ] {
            if header.is_signed_with(key.as_bytes(), body) {
                let message = format!("the secret differs: the sender signed with it {what}");
                return Some(("wrong_secret", message));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
