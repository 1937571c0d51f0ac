//! Webhook deliveries: whether an attempt succeeded, and when to try again ("Events", 6).

use jiff::{SignedDuration, Timestamp};
use ring::hmac::{Context, HMAC_SHA256, Key};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fault::FaultKind;

pub(crate) const ABANDONED: &str = "abandoned";
pub(crate) const PENDING: &str = "pending";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeliveryAttempt {
    pub(crate) status: Option<u16>,
    pub(crate) error: Option<String>,
    pub(crate) latency_ms: u64,
    pub(crate) fault: Option<FaultKind>,
    pub(crate) request: Option<Content>,
    pub(crate) response: Option<Content>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Content {
    pub(crate) headers: Map<String, Value>,
    pub(crate) body: String,
    pub(crate) truncated: bool,
}

impl DeliveryAttempt {
    pub(crate) fn failed(why: &str) -> Self {
        Self { error: Some(why.to_owned()), ..Self::default() }
    }
}

/// The state of a delivery after an attempt, and its next time. `failures` counts the failed
/// attempts of this schedule, including this one: 0 if a resend has begun another one.
pub(crate) fn after(
    attempt: &DeliveryAttempt,
    failures: u32,
    now: Timestamp,
) -> (&'static str, Option<Timestamp>) {
    if failures == 0 {
        return (PENDING, Some(now));
    }
    if matches!(attempt.status, Some(200..=299)) {
        return ("delivered", None);
    }
    let pause = match failures {
        1 => SignedDuration::from_secs(30),
        2 => SignedDuration::from_mins(2),
        3 => SignedDuration::from_mins(10),
        _ => return (ABANDONED, None),
    };
    (PENDING, Some(now + pause))
}

/// The signature header of an attempt: `t=<unix_seconds>,v1=<hex>` over `<t>.<body>`.
pub(crate) fn sign(secret: &str, at: Timestamp, body: &[u8]) -> String {
    let at = at.as_second();
    let mut mac = Context::with_key(&Key::new(HMAC_SHA256, secret.as_bytes()));
    mac.update(at.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    format!("t={at},v1={}", hex::encode(mac.sign().as_ref()))
}
