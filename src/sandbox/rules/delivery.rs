//! Webhook deliveries: whether an attempt succeeded, and when to try again ("Events", 6).

use jiff::{SignedDuration, Timestamp};
use ring::hmac::{Context, HMAC_SHA256, Key};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeliveryState {
    Pending,
    Delivered,
    Abandoned,
}

impl DeliveryState {
    /// The word in `GET /sandbox/deliveries`.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Abandoned => "abandoned",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeliveryAttempt {
    /// The HTTP status, or why there was no response.
    pub(crate) outcome: Result<u16, String>,
    pub(crate) latency_ms: u64,
    pub(crate) request: Option<Content>,
    pub(crate) response: Option<Content>,
}

/// The headers and the body of what was sent or answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Content {
    pub(crate) headers: Map<String, Value>,
    pub(crate) body: String,
    /// Whether more of the body came than is kept.
    pub(crate) truncated: bool,
}

impl DeliveryAttempt {
    /// One that sent nothing.
    pub(crate) fn failed(why: &str) -> Self {
        Self {
            outcome: Err(why.to_owned()),
            latency_ms: 0,
            request: None,
            response: None,
        }
    }

    /// Whether the consumer responded with a 2xx status.
    pub(crate) fn is_delivered(&self) -> bool {
        matches!(self.outcome, Ok(200..=299))
    }
}

/// The state of a delivery after an attempt, and when it is tried again. `failures` counts the failed
/// attempts of this schedule, including this one.
pub(crate) fn after(
    attempt: &DeliveryAttempt,
    failures: u32,
    now: Timestamp,
) -> (DeliveryState, Option<Timestamp>) {
    if attempt.is_delivered() {
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
        let failed = DeliveryAttempt {
            outcome: Ok(302),
            latency_ms: 1,
            request: None,
            response: None,
        };
        for (failures, seconds) in [(1, 30), (2, 120), (3, 600)] {
            let next = Some(now + SignedDuration::from_secs(seconds));
            assert_eq!(
                after(&failed, failures, now),
                (DeliveryState::Pending, next)
            );
        }
        assert_eq!(after(&failed, 4, now), (DeliveryState::Abandoned, None));
    }

    #[test]
    fn any_2xx_is_delivered() {
        for (status, delivered) in [
            (199, false),
            (200, true),
            (204, true),
            (299, true),
            (300, false),
        ] {
            let attempt = DeliveryAttempt {
                outcome: Ok(status),
                latency_ms: 1,
                request: None,
                response: None,
            };
            assert_eq!(attempt.is_delivered(), delivered, "{status}");
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
