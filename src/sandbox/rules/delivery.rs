//! Webhook deliveries: when to try again, and how an attempt is signed ("Events", 5 and 6).

use hmac::{Hmac, KeyInit, Mac};
use jiff::{SignedDuration, Timestamp};
use sha2::Sha256;

use crate::platform::hex;

/// The state of a delivery.
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

/// The result of an attempt to deliver an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeliveryAttempt {
    /// The HTTP status, or why there was no response.
    pub(crate) outcome: Result<u16, String>,
    pub(crate) latency_ms: u64,
}

impl DeliveryAttempt {
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
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        // HMAC takes a key of any length.
        return String::new();
    };
    mac.update(at.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    let digest = mac.finalize().into_bytes();
    format!("t={at},v1={}", hex::encode(&digest))
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
