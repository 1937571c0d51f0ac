//! Webhook deliveries: whether an attempt succeeded, and when to try again ("Events", 6).

use jiff::{SignedDuration, Timestamp};
use ring::hmac::{Context, HMAC_SHA256, Key};
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeliveryState {
    Pending,
    Delivered,
    Abandoned,
}

impl DeliveryState {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Abandoned => "abandoned",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct DeliveryAttempt {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// Why there was no response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    pub(crate) latency_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response: Option<Content>,
}

/// The headers and the body of what was sent or answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Content {
    pub(crate) headers: Map<String, Value>,
    pub(crate) body: String,
    /// Whether more of the body came than is kept.
    pub(crate) truncated: bool,
}

impl DeliveryAttempt {
    pub(crate) fn failed(why: &str) -> Self {
        Self {
            error: Some(why.to_owned()),
            ..Self::default()
        }
    }
}

/// The state of a delivery after an attempt, and when it is tried again. `failures` counts the failed
/// attempts of this schedule, including this one.
pub(crate) fn after(
    attempt: &DeliveryAttempt,
    failures: u32,
    now: Timestamp,
) -> (DeliveryState, Option<Timestamp>) {
    if matches!(attempt.status, Some(200..=299)) {
        return (DeliveryState::Delivered, None);
    }
    let pause = match failures {
        0 | 1 => SignedDuration::from_secs(30),
        2 => SignedDuration::from_mins(2),
        3 => SignedDuration::from_mins(10),
        _ => return (DeliveryState::Abandoned, None),
    };
    (DeliveryState::Pending, Some(now + pause))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_delivery_is_retried_after_30_s_2_min_and_10_min_and_then_abandoned() {
        let now: Timestamp = "2026-11-21T12:00:00Z".parse().unwrap();
        let answered = |status| DeliveryAttempt {
            status: Some(status),
            ..DeliveryAttempt::default()
        };
        for (failures, seconds) in [(1, 30), (2, 120), (3, 600)] {
            let next = Some(now + SignedDuration::from_secs(seconds));
            let expected = (DeliveryState::Pending, next);
            assert_eq!(after(&answered(302), failures, now), expected);
        }
        let abandoned = (DeliveryState::Abandoned, None);
        assert_eq!(after(&answered(302), 4, now), abandoned);
        for (status, is_delivered) in [(199, false), (200, true), (299, true), (300, false)] {
            let (state, _) = after(&answered(status), 1, now);
            assert_eq!(state == DeliveryState::Delivered, is_delivered, "{status}");
        }
    }

    // printf '1795262400.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_sandbox
    #[test]
    fn the_signature_is_the_one_that_openssl_makes() {
        let at = Timestamp::from_second(1_795_262_400).unwrap();
        assert_eq!(
            sign("whsec_sandbox", at, br#"{"id":"evt_1"}"#),
            "t=1795262400,v1=f9f4161f28f04c681f4d05a30c98d0b2369011702b14be98e486f76bbbdcb269"
        );
    }
}
