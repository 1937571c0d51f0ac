//! The signature of a delivery: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<raw body>">` ("Events", 5).
//!
//! Nothing here reads a clock, and no body need be in memory: it is taken in pieces.

use std::time::Duration;

use hmac::digest::CtOutput;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::secrets::Secret;

/// How far a signature's time may be from now, either way.
pub(crate) const DEFAULT_TOLERANCE: Duration = Duration::from_secs(300);

/// A digest in bytes.
type Digest = [u8; 32];

/// The header's value for a body that was signed at `t`, in seconds since 1970.
pub(crate) fn sign(secret: &Secret, t: i64, body: &[u8]) -> String {
    let mut signer = Signer::new(secret, t);
    signer.update(body);
    signer.finish()
}

/// Signs a body that comes in pieces.
pub(crate) struct Signer {
    t: i64,
    mac: BodyMac,
}

impl Signer {
    pub(crate) fn new(secret: &Secret, t: i64) -> Self {
        Signer {
            t,
            mac: BodyMac::new(secret.expose().as_bytes(), &t.to_string()),
        }
    }

    pub(crate) fn update(&mut self, piece: &[u8]) {
        self.mac.update(piece);
    }

    /// `t=<t>,v1=<hex>`.
    pub(crate) fn finish(self) -> String {
        format!("t={},v1={}", self.t, self.mac.hex())
    }
}

/// The MAC of `<t>.<body>`, as far as the body has come.
#[derive(Clone)]
pub(super) struct BodyMac(Option<Hmac<Sha256>>);

impl BodyMac {
    /// `t` is the literal text of the header: what was signed are its digits, leading zeros included.
    pub(super) fn new(key: &[u8], t: &str) -> Self {
        // HMAC takes a key of any length, so there always is one.
        let mut mac = BodyMac(Hmac::new_from_slice(key).ok());
        mac.update(t.as_bytes());
        mac.update(b".");
        mac
    }

    pub(super) fn update(&mut self, piece: &[u8]) {
        if let Some(mac) = &mut self.0 {
            mac.update(piece);
        }
    }

    fn hex(self) -> String {
        let digest = self.0.map(|mac| mac.finalize().into_bytes());
        let bytes = digest.into_iter().flatten();
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether any of these is the digest. Each is looked at whole, in the same time whatever it holds.
    pub(super) fn matches_any(self, claimed: &[Digest]) -> bool {
        let Some(own) = self.0.map(Mac::finalize) else {
            return false;
        };
        claimed.iter().fold(false, |matched, digest| {
            matched | (CtOutput::new((*digest).into()) == own)
        })
    }
}

/// A well-formed signature header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The digits as they came.
    t: String,
    v1: Vec<Digest>,
}

impl Header {
    /// Reads the header's value.
    ///
    /// Parts are separated by commas, blanks around them ignored; exactly one `t` of ASCII digits, one or more `v1`
    /// of 64 hex digits; unknown parts are ignored, and everything else is malformed.
    pub(crate) fn parse(value: &[u8]) -> Result<Self, Malformed> {
        let mut times = Vec::new();
        let mut v1 = Vec::new();
        for part in value.split(|byte| *byte == b',') {
            let part = trim_blanks(part);
            if let Some(digits) = part.strip_prefix(b"t=") {
                times.push(digits);
            } else if let Some(hex) = part.strip_prefix(b"v1=") {
                v1.push(digest(hex).ok_or(Malformed::BadV1)?);
            }
        }
        let t = match times[..] {
            [] if v1.is_empty() => return Err(Malformed::NoParts),
            [] => return Err(Malformed::NoT),
            [t] => t,
            _ => return Err(Malformed::SeveralT),
        };
        if t.is_empty() || !t.iter().all(u8::is_ascii_digit) {
            return Err(Malformed::BadT);
        }
        if v1.is_empty() {
            return Err(Malformed::NoV1);
        }
        Ok(Header {
            t: String::from_utf8_lossy(t).into_owned(),
            v1,
        })
    }

    /// The signature's time, in seconds since 1970; digits beyond every clock are the last second there is.
    pub(crate) fn time(&self) -> i64 {
        self.t.parse().unwrap_or(i64::MAX)
    }

    /// Whether one of the `v1` is the digest of this body under this key.
    pub(super) fn is_signed_with(&self, key: &[u8], body: &[u8]) -> bool {
        let mut mac = BodyMac::new(key, &self.t);
        mac.update(body);
        mac.matches_any(&self.v1)
    }

    /// Whether one of the `v1` is the digest of the body alone, as other services sign.
    pub(super) fn is_signed_without_time(&self, key: &[u8], body: &[u8]) -> bool {
        let mut mac = BodyMac(Hmac::new_from_slice(key).ok());
        mac.update(body);
        mac.matches_any(&self.v1)
    }
}

/// Blanks are the space and the tab.
fn trim_blanks(mut part: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = part {
        part = rest;
    }
    part
}

fn digest(hex: &[u8]) -> Option<Digest> {
    let mut digest = Digest::default();
    if hex.len() != 2 * digest.len() {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(hex.chunks_exact(2)) {
        let nibble = |place: usize| char::from(pair[place]).to_digit(16);
        *byte = u8::try_from(nibble(0)? * 16 + nibble(1)?).ok()?;
    }
    Some(digest)
}

/// Why a header is no signature header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// It has neither `t` nor `v1`.
    NoParts,
    NoT,
    SeveralT,
    /// `t` is something else than ASCII digits.
    BadT,
    NoV1,
    /// A `v1` is something else than 64 hex digits.
    BadV1,
}

impl Malformed {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Malformed::NoParts => "it has neither t= nor v1=",
            Malformed::NoT => "t= is missing",
            Malformed::SeveralT => "there is more than one t=",
            Malformed::BadT => "t= is not a number of seconds in digits",
            Malformed::NoV1 => "v1= is missing",
            Malformed::BadV1 => "a v1= is not 64 hex digits",
        }
    }
}

/// What did verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verified {
    /// When it was signed, in seconds since 1970.
    pub(crate) time: i64,
    /// Which of the secrets it was, counted from 0.
    pub(crate) secret: usize,
}

/// Why a delivery is not to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unverified {
    Malformed(Malformed),
    /// No `v1` is the body's under any of the secrets.
    Mismatch,
    /// It was signed this many seconds ago, and that is too long.
    Stale(u64),
    /// It was signed this many seconds from now, and that is too far ahead.
    Future(u64),
}

/// Verifies a body that comes in pieces.
pub(crate) struct Verifier {
    header: Header,
    macs: Vec<BodyMac>,
}

impl Verifier {
    /// Several secrets are what a rotation needs: any of them will do.
    pub(crate) fn new(secrets: &[Secret], header: Header) -> Self {
        let macs = secrets
            .iter()
            .map(|secret| BodyMac::new(secret.expose().as_bytes(), &header.t))
            .collect();
        Verifier { header, macs }
    }

    pub(crate) fn update(&mut self, piece: &[u8]) {
        for mac in &mut self.macs {
            mac.update(piece);
        }
    }

    /// The verdict. `now` is in seconds since 1970; without a tolerance any time will do.
    ///
    /// What is signed with another secret is no delivery of any age, so the time is looked at last.
    pub(crate) fn finish(
        self,
        now: i64,
        tolerance: Option<Duration>,
    ) -> Result<Verified, Unverified> {
        let time = self.header.time();
        let matched = self
            .macs
            .into_iter()
            .map(|mac| mac.matches_any(&self.header.v1));
        // Every secret is tried, whichever it was.
        let matched: Vec<bool> = matched.collect();
        let secret = matched
            .iter()
            .position(|it| *it)
            .ok_or(Unverified::Mismatch)?;
        let apart = now.abs_diff(time);
        match tolerance {
            Some(tolerance) if apart > tolerance.as_secs() => Err(if time < now {
                Unverified::Stale(apart)
            } else {
                Unverified::Future(apart)
            }),
            _ => Ok(Verified { time, secret }),
        }
    }
}

/// Verifies a body that is in memory.
pub(crate) fn verify(
    secrets: &[Secret],
    header: &[u8],
    body: &[u8],
    now: i64,
    tolerance: Option<Duration>,
) -> Result<Verified, Unverified> {
    let header = Header::parse(header).map_err(Unverified::Malformed)?;
    let mut verifier = Verifier::new(secrets, header);
    verifier.update(body);
    verifier.finish(now, tolerance)
}

#[cfg(test)]
mod tests;
